"""Check one document by its schema, through the parsers and validators of an audit, and tell what is wrong."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from calaudit.cli._schema_names import schema_of
from calaudit.cli._wrapping import hanging
from calaudit.contract import Contract, Schema
from calaudit.errors import Malformed, UsageError
from calaudit.evidence.documents import conclude, examine, too_large
from calaudit.evidence.faults import INVALID, Fault, malformed
from calaudit.evidence.jsonl import RecordSchema, check_lines
from calaudit.evidence.lines import Lines
from calaudit.evidence.nouns import Block
from calaudit.evidence.places import lines_of, nearest
from calaudit.evidence.strict_json import parse_json
from calaudit.evidence.strict_yaml import parse_yaml
from calaudit.facts.placeholders import left_in
from calaudit.model import PORT, ArtifactSpec, Format, Json
from calaudit.report._escape import visible

_SUFFIXES = {
    ".json": Format.JSON,
    ".yaml": Format.YAML,
    ".yml": Format.YAML,
    ".jsonl": Format.JSONL,
    ".ndjson": Format.JSONL,
}
_BLOCK = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What a check found: the faults by line, how many records there are, and what most likely explains the rest.

    ``schema`` is None for what is not even JSON or YAML. ``unfilled`` are the faults of values that nobody has decided
    yet, such as ``REQUIRED``.
    """

    path: Path
    schema: Schema | None
    faults: Sequence[Fault]
    records: int | None = None
    cause: Fault | None = None
    unfilled: Sequence[Fault] = ()

    @property
    def good(self) -> bool:
        """Whether the document follows its schema; a file without records does not show anything."""
        return not self.faults and not self.unfilled and self.records != 0


class _NoPlaceholders:
    """A document on its own has nobody else who would report a placeholder."""

    def is_placeholder(self, value: object) -> bool:
        """Never."""
        del value
        return False


def check_file(path: Path, name: str | None, contract: Contract) -> Checked:
    """Check one file.

    Raises:
        UsageError: the file cannot be read, or nothing tells its format or its schema.
    """
    kind = _SUFFIXES.get(path.suffix.lower())
    if kind is None and not path.exists():
        raise UsageError(f"{path} cannot be read: there is no such file.")
    if kind is None:
        raise UsageError(f"{path}: the name must end in one of {', '.join(_SUFFIXES)}, so that its format is known.")
    try:
        with path.open("rb") as file:
            if kind is Format.JSONL:
                return _check_records(path, file, schema_of(path, None, name, contract))
            return _check_document(path, file.read(), kind, name, contract)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error


def documents_in(folder: Path, contract: Contract) -> list[Path]:
    """The documents below a port's directory that have a schema, by their place in it.

    Raises:
        UsageError: there is none.
    """
    specs = [spec for spec in contract.gates.artifacts() if spec.schema is not None]
    found = {path for spec in specs for path in folder.glob(spec.pattern) if path.suffix.lower() in _SUFFIXES}
    if not found:
        raise UsageError(f"{folder} holds no document that has a schema; name a file, or the directory of a port.")
    return sorted(path for path in found if path.is_file())


def told(checked: Checked, width: int) -> str:
    """The outcome as text of at most so many columns."""
    return "".join(f"{part}\n" for line in _lines(checked) for part in hanging(line, width))


def _lines(checked: Checked) -> Iterator[str]:
    file, schema = visible(str(checked.path)), checked.schema.name if checked.schema else "a strict format"
    if checked.good:
        count = "" if checked.records is None else f": {checked.records} record{'' if checked.records == 1 else 's'}"
        yield f"{file} follows {schema}{count}."
        return
    if checked.records == 0:
        yield f"{file} holds no record, so nothing was checked by {schema}."
        return
    faults = list(checked.faults)
    begin = "" if checked.cause is None or len(faults) < 2 else " Most likely the first fault is the cause:"
    yield f"{file} does not follow {schema}{f'.{begin}' if begin else ':'}"
    if begin:
        faults.sort(key=lambda f: f is not checked.cause)
    for fault in faults:
        yield f"  {_place(fault.line, fault.pointer)}{visible(fault.message)}"
    if checked.unfilled:
        places = dict.fromkeys(f"{visible(f.pointer or '')} (line {f.line})" for f in checked.unfilled)
        yield f"  still to be filled in, {len(places)} places: {', '.join(places)}"


def _check_document(path: Path, data: bytes, kind: Format, name: str | None, contract: Contract) -> Checked:
    try:
        value: Json = parse_yaml(data) if kind is Format.YAML else parse_json(data)
    except Malformed as error:
        return Checked(path=path, schema=None, faults=[malformed(error)])
    schema = schema_of(path, value, name, contract)
    spec = ArtifactSpec(
        name="document",
        gate=PORT,
        pattern=path.name,
        format=kind,
        schema=schema.name,
        tag=None if schema.tag is None else True,
    )
    parsed = too_large(spec, len(data)) or examine(data, spec, contract.schemas, _NoPlaceholders())
    lines = lines_of(data, kind) if parsed.faults else {}
    found = [_with_line(fault, lines) for fault in parsed.faults]
    asked = {pointer for pointer, _ in left_in(value, contract.gates.placeholders, spec)} if found else set()
    faults = [fault for fault in found if fault.pointer not in asked]
    unfilled = [fault for fault in found if fault.pointer in asked]
    cause = None if unfilled else _cause(schema, value, faults)
    return Checked(path=path, schema=schema, faults=faults, cause=cause, unfilled=unfilled)


def _cause(schema: Schema, value: Json, faults: Sequence[Fault]) -> Fault | None:
    """The fault that most likely explains the others: a misspelt member, else what the reference validator picks."""
    misspelt = next((f for f in faults if f.message.startswith("Unknown member") and f.message.endswith("near.")), None)
    if misspelt is not None or not any(fault.rule == INVALID for fault in faults):
        return misspelt
    from calaudit.contract.reference import main_fault

    main = main_fault(schema, value)
    if main is None:
        return None
    inside = (f for f in faults if f.message.startswith("Unknown member") and (f.pointer or "").startswith(main[0]))
    return next((f for f in faults if f.pointer == main[0]), None) or next(inside, None)


def _check_records(path: Path, file: BinaryIO, schema: Schema) -> Checked:
    rules = RecordSchema(schema.is_valid, schema.errors)
    faults: list[Fault] = []
    count = more = 0
    for block in _blocks(file):
        found = check_lines(block.data, rules, block.line)
        count, more = count + found.count, more + found.more
        faults += found.faults
    return Checked(path=path, schema=schema, faults=conclude(faults, more=more).faults, records=count)


def _blocks(file: BinaryIO) -> Iterator[Block]:
    lines = Lines()
    while data := file.read(_BLOCK):
        if block := lines.feed(data):
            yield block
    if block := lines.finish():
        yield block


def _with_line(fault: Fault, lines: dict[str, int]) -> Fault:
    if fault.line is not None or fault.pointer is None:
        return fault
    return Fault(fault.rule, fault.message, nearest(lines, fault.pointer), fault.pointer, fault.expected, fault.actual)


def _place(line: int | None, pointer: str | None) -> str:
    where = " ".join(part for part in (f"line {line}" if line else "", visible(pointer or "")) if part)
    return f"{where}: " if where else ""

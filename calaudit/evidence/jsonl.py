"""JSON Lines: one strict JSON object a line, checked line by line.

Lines end with LF; white space around a record (so also CR) is JSON's and ignored. The last line may lack its LF. Blank
lines are refused: a writer that died leaves one. An empty file has no records, which is for the rules to judge.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

import orjson

from calaudit.errors import Malformed
from calaudit.evidence.faults import FAULTS_LIMIT, MALFORMED, Fault, malformed, schema_faults
from calaudit.evidence.lines import LINE_LIMIT
from calaudit.evidence.nouns import Record, SchemaFault
from calaudit.evidence.strict_json import all_sound, parse_json
from calaudit.model import Json

_BATCH = 1 << 17


@dataclass(frozen=True, slots=True)
class RecordSchema:
    """What every record must follow."""

    is_valid: Callable[[Json], bool]
    errors: Callable[[Json], Iterable[SchemaFault]]


@dataclass(slots=True)
class Checked:
    """What a check of lines found: how many there are, the first faults, and how many faulty lines are not listed.

    ``records`` are those of lines without any fault, where they were to be kept; None otherwise.
    """

    count: int = 0
    faults: list[Fault] = field(default_factory=list)
    more: int = 0
    records: tuple[Record, ...] | None = None


def check_lines(data: bytes, schema: RecordSchema | None, first_line: int = 1, *, keep: bool = False) -> Checked:
    """Check whole lines; ``first_line`` is the number of the first. With ``keep``, good lines give their records."""
    found = Checked()
    kept: list[dict[str, Json]] | None = [] if keep else None
    start = 0
    while start < len(data):
        # Many small batches: what was read of one is still in the processor's cache when it is judged.
        end = data.find(b"\n", start + _BATCH) + 1 or len(data)
        batch = data[start:end]
        lines = _split(batch)
        values = _all_good(batch, lines, schema)
        if values is None:
            kept = None  # what is faulty is read again, line by line, by whoever asks for it
            for number, line in enumerate(lines, first_line + found.count):
                _check(line, number, schema, found)
        elif kept is not None:
            kept += values
        found.count += len(lines)
        start = end
    if kept is not None:
        found.records = tuple(map(Record, range(first_line, first_line + len(kept)), kept))
    return found


def _all_good(data: bytes, lines: list[bytes], schema: RecordSchema | None) -> list[dict[str, Json]] | None:
    """The values of these lines, which together are ``data``, if surely nothing is wrong with any of them."""
    if len(data) >= LINE_LIMIT:
        return None
    try:
        values = list(map(orjson.loads, lines))
    except orjson.JSONDecodeError:
        return None
    if set(map(type, values)) != {dict} or not all_sound(data, values):
        return None
    return values if schema is None or all(map(schema.is_valid, values)) else None


def _check(line: bytes, number: int, schema: RecordSchema | None, found: Checked) -> None:
    if len(found.faults) < FAULTS_LIMIT:
        found.faults += _faults(line, number, schema)
    elif next(_faults(line, number, schema), None) is not None:
        found.more += 1


def shifted(fault: Fault, lines: int) -> Fault:
    """A fault whose line was counted from a later place in the file."""
    return fault if fault.line is None else replace(fault, line=fault.line + lines)


def read_lines(data: bytes, first_line: int = 1) -> Iterator[Record]:
    """The records of whole lines that were checked before."""
    loads = orjson.loads
    for number, line in enumerate(_split(data), first_line):
        yield Record(number, loads(line))


def read_good_lines(data: bytes, first_line: int = 1) -> Iterator[Record]:
    """The records among lines of which some are faulty, whether or not they follow a schema."""
    for number, line in enumerate(_split(data), first_line):
        try:
            value = parse_json(line)
        except Malformed:
            continue  # reported when the line was checked
        if isinstance(value, dict):
            yield Record(number, value)


def _split(data: bytes) -> list[bytes]:
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _faults(line: bytes, number: int, schema: RecordSchema | None) -> Iterator[Fault]:
    if len(line) >= LINE_LIMIT:
        yield Fault(MALFORMED, f"The line is longer than {LINE_LIMIT >> 20} MiB; write shorter records.", line=number)
        return
    if not line.strip():
        yield Fault(MALFORMED, "The line is blank; remove it.", line=number)
        return
    try:
        value = parse_json(line)
    except Malformed as error:
        yield malformed(error, line=number)
        return
    if not isinstance(value, dict):
        yield Fault(MALFORMED, "The line is not a JSON object; write one record a line.", line=number)
        return
    if schema is not None and not schema.is_valid(value):
        for fault in schema_faults(schema.errors(value)):
            yield replace(fault, line=number)

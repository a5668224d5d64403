"""Turn the bytes of one file into what its artifact says it is, and say what is wrong with it.

A document that is not well formed, carries the wrong tag or does not follow its schema gives no value: a fact may index
freely into what evidence hands out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from calaudit.errors import Malformed
from calaudit.evidence.checksums import parse_checksums
from calaudit.evidence.faults import FAULTS_KEPT, MALFORMED, UNKNOWN, Fault, limited, malformed, schema_faults
from calaudit.evidence.jsonl import RecordSchema, check_lines
from calaudit.evidence.nouns import Block, Checksum, PlaceholderWords, Record, SchemaBook
from calaudit.evidence.numbers import shorten
from calaudit.evidence.strict_csv import parse_csv
from calaudit.evidence.strict_json import parse_json
from calaudit.evidence.strict_yaml import parse_yaml
from calaudit.evidence.text import check_text, find_controls
from calaudit.model import ArtifactSpec, Format, Json
from calaudit.pointers import fits, resolve

PARSED = frozenset({Format.JSON, Format.JSONL, Format.YAML, Format.CSV, Format.CHECKSUMS, Format.TEXT})
"""Formats whose bytes this station parses; the others are only hashed."""

LIMITS = {Format.JSON: 64 << 20, Format.YAML: 16 << 20, Format.CSV: 16 << 20, Format.CHECKSUMS: 16 << 20}
"""Bytes that a document may have: what its parser reads within seconds and a bounded memory."""

RECORDS_KEPT = 4 << 20
"""Bytes of a JSONL file whose parsed records stay in memory."""

NO_VALUE: Any = object()


@dataclass(slots=True)
class Parsed:
    """What came out of one file.

    ``reason`` says why it is unusable; None: use it. ``value`` is what a well-formed document says, usable or not.
    """

    faults: Sequence[Fault] = ()
    reason: str | None = None
    value: Any = NO_VALUE
    well_formed: bool = False
    count: int = 0


def schema_of(spec: ArtifactSpec, schemas: SchemaBook) -> RecordSchema | None:
    """What every record of an artifact must follow; None where it has no schema."""
    name = spec.schema
    if name is None:
        return None
    return RecordSchema(lambda value: schemas.is_valid(name, value), lambda value: schemas.errors(name, value))


def manner(spec: ArtifactSpec) -> tuple[object, ...]:
    """All that :func:`examine` looks at in a spec: equal bytes that are read in one manner give one outcome."""
    return (spec.format, spec.schema, spec.tag, spec.foreign, spec.free_text)


def examine(data: bytes, spec: ArtifactSpec, schemas: SchemaBook, words: PlaceholderWords) -> Parsed:
    """Parse the bytes of an artifact whose format is one of :data:`PARSED`."""
    match spec.format:
        case Format.JSON | Format.YAML:
            return _document(data, spec, schemas, words)
        case Format.JSONL:
            lines = check_lines(data, schema_of(spec, schemas), keep=len(data) <= RECORDS_KEPT)
            value = NO_VALUE if lines.records is None else lines.records
            return conclude(lines.faults, value=value, count=lines.count, more=lines.more)
        case Format.CSV:
            rows, faults = parse_csv(data)
            faults += _row_faults(rows, schema_of(spec, schemas))
            return conclude(faults + _controls(data, faults), value=rows, count=len(rows))
        case Format.CHECKSUMS:
            sums, faults = parse_checksums(data)
            return conclude(faults + _controls(data, faults), value=sums, count=len(sums))
        case _:
            return conclude(check_text(data))


def parse_again(data: bytes, spec: ArtifactSpec) -> "Json | tuple[Record, ...] | tuple[Checksum, ...]":
    """The value of bytes that were examined before and found good."""
    match spec.format:
        case Format.JSON:
            return parse_json(data, foreign=spec.foreign)
        case Format.YAML:
            return parse_yaml(data)
        case Format.CSV:
            return parse_csv(data)[0]
        case _:
            return parse_checksums(data)[0]


def too_large(spec: ArtifactSpec, size: int) -> Parsed | None:
    """The refusal of a document that is larger than its parser reads."""
    limit = LIMITS.get(spec.format)
    if limit is None or size <= limit:
        return None
    text = f"The document has {size} bytes; a {spec.format.upper()} document may have {limit >> 20} MiB. Split it."
    return conclude([Fault(MALFORMED, text)])


def conclude(faults: Sequence[Fault], *, value: Any = NO_VALUE, count: int = 0, more: int = 0) -> Parsed:
    """What came out, given everything that is wrong."""
    decisive = next((f for f in faults if not f.harmless), None)
    listed = list(limited(faults, more))
    reason = None if decisive is None else f"{decisive.rule}: {decisive.message}"
    return Parsed(faults=listed, reason=reason, value=value, well_formed=value is not NO_VALUE, count=count)


def _document(data: bytes, spec: ArtifactSpec, schemas: SchemaBook, words: PlaceholderWords) -> Parsed:
    is_yaml = spec.format is Format.YAML
    try:
        value = parse_yaml(data) if is_yaml else parse_json(data, foreign=spec.foreign)
    except Malformed as error:
        return conclude([malformed(error)])
    controls = list(find_controls(Block(1, data))) if is_yaml else []
    tag_fault = _tag_fault(value, spec, schemas)
    if tag_fault is not None:
        return conclude([*controls, tag_fault], value=value)
    if spec.schema is None or schemas.is_valid(spec.schema, value):
        return conclude(controls, value=value)
    faults = list(schema_faults(schemas.errors(spec.schema, value)))
    shown = [f for f in faults if not _is_placeholder(value, f, spec, words)]
    done = conclude([*controls, *shown], value=value)
    # A placeholder is reported once, by `placeholder-left`; the document is unusable all the same.
    done.reason = done.reason or "placeholder-left: values are not filled in yet."
    return done


def _tag_fault(value: Json, spec: ArtifactSpec, schemas: SchemaBook) -> Fault | None:
    if spec.schema is None or spec.tag is None:
        return None
    expected = schemas.tag(spec.schema)
    actual = value.get("schema") if isinstance(value, dict) else None
    if actual == expected or (actual is None and not spec.tag and isinstance(value, dict) and "schema" not in value):
        return None
    if not isinstance(value, dict) or "schema" not in value:
        text, pointer, found = "The document carries no schema tag", "", "none"
    else:
        text, pointer, found = "The document carries another schema tag", "/schema", shorten(str(actual), 80)
    return Fault(UNKNOWN, f"{text}; write schema: {expected}.", pointer=pointer, expected=expected, actual=found)


def _is_placeholder(value: Json, fault: Fault, spec: ArtifactSpec, words: PlaceholderWords) -> bool:
    """Whether a fault is only a placeholder, at a place where ``placeholder-left`` looks."""
    pointer = fault.pointer
    if not pointer or fits(pointer, spec.free_text) or fault.message.startswith("Unknown member"):
        return False
    try:
        found = resolve(value, pointer)
    except KeyError:
        return False
    return isinstance(found, str) and words.is_placeholder(found)


def _row_faults(rows: Sequence[Record], schema: RecordSchema | None) -> list[Fault]:
    faults: list[Fault] = []
    for row in rows if schema else ():
        assert schema is not None  # noqa: S101 - the loop is empty without
        if len(faults) >= FAULTS_KEPT:
            break
        if not schema.is_valid(row.value):
            faults += (Fault(f.rule, f.message, row.line, f.pointer) for f in schema_faults(schema.errors(row.value)))
    return faults


def _controls(data: bytes, faults: Sequence[Fault]) -> list[Fault]:
    """Control characters in text that is UTF-8 as far as its parser said nothing else."""
    return [] if faults else list(find_controls(Block(1, data)))

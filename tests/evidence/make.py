"""A small contract and ports made of bytes, for the tests of the evidence station."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from calaudit.contract.globs import Glob
from calaudit.contract.placeholders import Placeholders
from calaudit.contract.schemas import Schema
from calaudit.evidence import Evidence, gather
from calaudit.evidence.nouns import Specs
from calaudit.evidence.walk import Walk, walk
from calaudit.model import PORT, ArtifactSpec, Format, Problem

RECORD = Schema(
    "rec/v1",
    {
        "type": "object",
        "required": ["id"],
        "properties": {"id": {"type": "string"}, "n": {"type": "integer", "minimum": 0}, "text": {"type": "string"}},
        "additionalProperties": False,
    },
)
DOCUMENT = Schema(
    "doc/v1",
    {
        "type": "object",
        "required": ["schema", "id"],
        "properties": {
            "schema": {"const": "calaudit-doc/v1"},
            "id": {"type": "string", "pattern": "^[a-z]+$"},
            "n": {"type": "integer"},
            "free": {"type": "string", "pattern": "^[a-z]+$"},
            "list": {"type": "array", "items": {"type": "integer"}},
        },
        "additionalProperties": False,
    },
)
UNTAGGED = Schema("untagged/v1", {**DOCUMENT.document, "required": ["id"]})
ROW = Schema("row/v1", {"type": "object", "properties": {"n": {"pattern": "^[0-9]+$"}}})

SPECS = (
    ArtifactSpec(
        name="doc",
        gate="G1",
        pattern="*.doc.json",
        format=Format.JSON,
        schema="doc/v1",
        tag=True,
        free_text=frozenset({"/free"}),
    ),
    ArtifactSpec(name="loose", gate="G1", pattern="*.loose.json", format=Format.JSON, schema="untagged/v1", tag=False),
    ArtifactSpec(name="json", gate="G1", pattern="**/*.json", format=Format.JSON),
    ArtifactSpec(name="ydoc", gate="G1", pattern="*.doc.yaml", format=Format.YAML, schema="doc/v1", tag=True),
    ArtifactSpec(name="yaml", gate="G1", pattern="*.yaml", format=Format.YAML),
    ArtifactSpec(name="records", gate="G1", pattern="*.jsonl", format=Format.JSONL, schema="rec/v1"),
    ArtifactSpec(name="rows", gate="G1", pattern="*.rows.csv", format=Format.CSV, schema="row/v1"),
    ArtifactSpec(name="csv", gate="G1", pattern="*.csv", format=Format.CSV),
    ArtifactSpec(name="sums", gate="G2", pattern="*.sha256", format=Format.CHECKSUMS),
    ArtifactSpec(name="text", gate="G2", pattern="**/*.txt", format=Format.TEXT),
    ArtifactSpec(name="tensor", gate="G2", pattern="*.npy", format=Format.NPY),
    ArtifactSpec(name="blob", gate="G3", pattern="**/*.bin", format=Format.OPAQUE),
)


WORDS = Placeholders(words=frozenset({"TBD", "REQUIRED"}), zero=frozenset())


@dataclass(frozen=True)
class SmallSpecs:
    """The first pattern of :data:`SPECS` that fits."""

    placeholders: Placeholders = WORDS
    globs: Mapping[str, Glob] = field(default_factory=lambda: {s.pattern: Glob(s.pattern) for s in SPECS})

    def match(self, path: str) -> ArtifactSpec | None:
        return next((s for s in SPECS if self.globs[s.pattern].matches(path)), None)

    def gate_of(self, path: str) -> str:
        spec = self.match(path)
        return spec.gate if spec else PORT

    def glob(self, pattern: str) -> Glob:
        return Glob(pattern)


class SmallSchemas:
    """The schemas of this module."""

    def __init__(self) -> None:
        self.known = {s.name: s for s in (RECORD, DOCUMENT, UNTAGGED, ROW)}

    def is_valid(self, name, value):
        return self.known[name].is_valid(value)

    def errors(self, name, value):
        return self.known[name].errors(value)

    def tag(self, name):
        return self.known[name].tag


def write(root: Path, files: Mapping[str, bytes | str]) -> Path:
    """Write files below a folder."""
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
    return root


def collect(root: Path, files: Mapping[str, bytes | str] | None = None, jobs: int = 2) -> Evidence:
    """Write files and gather them."""
    specs: Specs = SmallSpecs()
    return gather(write(root, files or {}), specs=specs, schemas=SmallSchemas(), jobs=jobs)


def walked(root: Path) -> Walk:
    """Walk a folder."""
    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        return walk(fd)
    finally:
        os.close(fd)


def brief(problems: tuple[Problem, ...] | list[Problem]) -> list[tuple[str, str]]:
    """Rule and path of each problem."""
    return sorted((p.rule, p.location.path) for p in problems)

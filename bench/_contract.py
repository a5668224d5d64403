"""The smallest contract that the evidence station can gather by: one artifact and its schema, or neither."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from calaudit.evidence.nouns import Matcher
from calaudit.model import PORT, ArtifactSpec, Json


class _Words:
    def is_placeholder(self, value: object) -> bool:
        return value == "TBD"


@dataclass(frozen=True)
class OneArtifact:
    """Every file whose name is the pattern is the artifact; None: the contract knows no file."""

    spec: ArtifactSpec | None = None
    placeholders: _Words = field(default_factory=_Words)

    def match(self, path: str) -> ArtifactSpec | None:
        """The artifact, where the path is its pattern."""
        return self.spec if self.spec is not None and path == self.spec.pattern else None

    def gate_of(self, path: str) -> str:
        """The artifact's gate, or the port."""
        return PORT if self.match(path) is None else "G4"

    def glob(self, pattern: str) -> Matcher:
        """Not needed here."""
        raise NotImplementedError(pattern)


@dataclass(frozen=True)
class _Fault:
    pointer: str
    message: str


class OneSchema:
    """One schema under every name."""

    def __init__(self, document: Mapping[str, Any] | None = None) -> None:
        self._document = document or {}

    @cached_property
    def _validator(self) -> Any:
        import jsonschema_rs

        return jsonschema_rs.validator_for(dict(self._document))

    def is_valid(self, _: str, value: Json) -> bool:
        """Whether a value follows the schema."""
        return bool(self._validator.is_valid(value))

    def errors(self, _: str, value: Json) -> Iterator[_Fault]:
        """Where it does not."""
        for error in self._validator.iter_errors(value):
            yield _Fault("/".join(["", *map(str, error.instance_path)]), error.message)

    def tag(self, _: str) -> str | None:
        """No tag."""
        return None

"""The JSON Schemas (2020-12): one document kind and version a file, ``schemas/<name>/v<major>.json``.

A schema is named ``<name>/v<major>`` in gates.yaml. A document says which one it follows by its tag, the constant of
the schema's ``schema`` member (``calculet-model-source/v1``). Our schemas are closed: an unknown member is an error.

Patterns run in a regex engine whose time is linear in the text. Where a document (not a record) holds ``4.0`` for an
integer, that is an error too, though JSON Schema allows it: rules count and index with what they read.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import jsonschema_rs
import orjson

from calaudit.contract.schema_walk import inexact_integers
from calaudit.contract.wording import explain, relevant, unknown_members
from calaudit.errors import ContractError
from calaudit.model import Json
from calaudit.pointers import escape

_MAJOR = re.compile(r"v[1-9][0-9]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaError:
    """One place where a document departs from its schema."""

    pointer: str
    message: str


@dataclass(frozen=True, eq=False)
class Schema:
    """One schema and its compiled validator; equal to nothing but itself."""

    name: str
    document: Mapping[str, Any]

    @cached_property
    def tag(self) -> str | None:
        """The value of ``schema`` that documents of this kind carry; None where they carry none."""
        const = self.document.get("properties", {}).get("schema", {}).get("const")
        return const if isinstance(const, str) else None

    @property
    def is_for_records(self) -> bool:
        """Whether the schema is for records (JSONL): they carry no tag, and there are many of them."""
        return self.tag is None

    @cached_property
    def validator(self) -> jsonschema_rs.Draft202012Validator:
        """The validator, compiled at first use: compiling all of them costs more than a small audit.

        Raises:
            ContractError: the document is not a JSON Schema.
        """
        try:
            return jsonschema_rs.Draft202012Validator(
                dict(self.document),
                validate_formats=True,
                ignore_unknown_formats=False,
                offline=True,
                pattern_options=jsonschema_rs.RegexOptions(),
            )
        except (ValueError, jsonschema_rs.ValidationError) as error:
            raise ContractError(f"schemas/{self.name}.json is not a valid JSON Schema: {error}") from error

    @cached_property
    def is_valid(self) -> Callable[[Json], bool]:
        """Whether a value follows the schema; for records the compiled function itself, without a call in between."""
        compiled: Callable[[Json], bool] = self.validator.is_valid
        if self.is_for_records:
            return compiled
        return lambda value: compiled(value) and next(inexact_integers(self.document, value), None) is None

    def errors(self, value: Json) -> Iterator[SchemaError]:
        """Every place where a value departs from the schema."""
        for outer in self.validator.iter_errors(value):
            for error in relevant(outer):
                pointer = "".join(f"/{escape(str(part))}" for part in error.instance_path)
                members = list(unknown_members(error, self.document))
                for name, message in members:
                    yield SchemaError(pointer=f"{pointer}/{escape(name)}", message=message)
                if not members:
                    yield SchemaError(pointer=pointer, message=explain(error, self.document))
        if not self.is_for_records:
            for pointer, number in inexact_integers(self.document, value):
                yield SchemaError(pointer=pointer, message=f"Found {number}, expected an integer; write {number:.0f}.")


class Schemas(Mapping[str, Schema]):
    """All schemas by name, read at construction, compiled at first use."""

    def __init__(self, root: Path) -> None:
        """Read every ``<name>/v<major>.json`` below ``root``.

        Raises:
            ContractError: a file is not a JSON object, its ``$id`` does not say its name, or two have one tag.
        """
        self._schemas: dict[str, Schema] = {}
        self._tags: dict[str, str] = {}
        for path in sorted(root.glob("*/v*.json")):
            name = f"{path.parent.name}/{path.stem}"
            if _MAJOR.fullmatch(path.stem) is None:
                raise ContractError(f"schemas/{name}.json: a schema file is called v<major>.json.")
            try:
                document = orjson.loads(path.read_bytes())
            except ValueError as error:
                raise ContractError(f"schemas/{name}.json is not JSON: {error}") from error
            expected = f"urn:calaudit:schema:{path.parent.name}:{path.stem}"
            found = document.get("$id") if isinstance(document, dict) else None
            if found != expected:
                raise ContractError(f"schemas/{name}.json: $id is {found!r}, expected {expected!r}.")
            schema = Schema(name, document)
            if schema.tag is not None and (other := self._tags.setdefault(schema.tag, name)) != name:
                raise ContractError(f"schemas/{name}.json and schemas/{other}.json have the same tag, {schema.tag}.")
            self._schemas[name] = schema

    def __getitem__(self, name: str) -> Schema:
        return self._schemas[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._schemas)

    def __len__(self) -> int:
        return len(self._schemas)

    def by_tag(self, tag: str) -> Schema | None:
        """The schema whose documents carry this tag."""
        name = self._tags.get(tag)
        return None if name is None else self._schemas[name]

    def is_valid(self, name: str, value: Json) -> bool:
        """Whether a value follows the named schema."""
        return self[name].is_valid(value)

    def errors(self, name: str, value: Json) -> Iterator[SchemaError]:
        """Every place where a value departs from the named schema."""
        return self[name].errors(value)

    def tag(self, name: str) -> str | None:
        """The tag that documents of the named schema carry."""
        return self[name].tag

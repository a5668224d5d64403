"""Which schema is meant: by its name, by that of an artifact, or by what a document says and is called."""

import difflib
from pathlib import Path

from calaudit.contract import Contract, Schema
from calaudit.errors import UsageError
from calaudit.model import Json

__all__ = ["named", "schema_of"]


def named(contract: Contract, name: str) -> Schema:
    """The schema called ``name``, without a major version its newest one; or the one of the artifact of that name.

    Raises:
        UsageError: there is none.
    """
    schemas = contract.schemas
    if name in schemas:
        return schemas[name]
    majors = [other for other in schemas if other.partition("/")[0] == name]
    if majors:
        return schemas[max(majors, key=lambda other: int(other.rpartition("/v")[2]))]
    artifacts = {spec.name: spec.schema for spec in contract.gates.artifacts()}
    paths = {spec.pattern: spec.schema for spec in contract.gates.artifacts()}
    if name in artifacts or name in paths:
        found = artifacts.get(name) or paths.get(name)
        if found is None:
            raise UsageError(f"The artifact {name} has no schema: it is not a document of ours.")
        return schemas[found]
    near = difflib.get_close_matches(name, [n for other in schemas for n in (other, other.partition("/")[0])], n=1)
    raise UsageError(f"There is no schema {name}. {f'Did you mean {near[0]}?' if near else 'See `schema list`.'}")


def schema_of(path: Path, value: Json, name: str | None, contract: Contract) -> Schema:
    """The schema of a document: the one called ``name`` if that is given, else by its tag, else by its file's name.

    Raises:
        UsageError: nothing tells it.
    """
    if name is not None:
        return named(contract, name)
    tag = value.get("schema") if isinstance(value, dict) else None
    if isinstance(tag, str) and (tagged := contract.schemas.by_tag(tag)):
        return tagged
    known = {
        spec.schema
        for spec in contract.gates.artifacts()
        if spec.schema is not None and spec.pattern.rpartition("/")[2] == path.name
    }
    if len(known) == 1:
        return contract.schemas[known.pop()]
    raise UsageError(f"{path}: neither its tag nor its name tells a schema; give one with --schema (`schema list`).")

"""What gates.yaml and the schemas must agree on.

A pointer that leads nowhere, a list that can cover nothing or a digest bound to a file that no gate has would make a
rule pass in silence. So each is an error of the contract.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from calaudit.contract.gates import Gates
from calaudit.contract.globs import Glob
from calaudit.contract.schema_walk import ANY, SchemaNode, at_pointer, below
from calaudit.contract.schemas import Schemas
from calaudit.errors import ContractError
from calaudit.model import PORT, ArtifactSpec, Format, HashList

_TAGGED = frozenset({Format.JSON, Format.YAML})
_WITH_SCHEMA = _TAGGED | {Format.JSONL, Format.CSV}
_DIGEST = "^[0-9a-f]{64}$"


def check_artifacts(gates: Gates, schemas: Schemas) -> None:
    """Check every artifact against its schema and the other artifacts.

    Raises:
        ContractError: with the artifact's name, what contradicts what, and what to change.
    """
    for spec in gates.artifacts():
        document = _schema_of(spec, schemas)
        for hashes in spec.hashes:
            _check_hashes(spec, hashes, document, gates)
        for pointer, path in spec.binds.items():
            _check_bind(spec, pointer, path, document, gates)
        for pointer in spec.free_text:
            if document is not None and not _may_be(at_pointer(document, pointer), "string"):
                raise _fault(
                    spec, f"free_text {pointer} is no text in schemas/{spec.schema}.json; correct the pointer."
                )


def _schema_of(spec: ArtifactSpec, schemas: Schemas) -> SchemaNode | None:
    if spec.schema is None:
        if spec.tag is not None or spec.binds or spec.free_text:
            raise _fault(spec, "tag, binds and free_text speak of a schema's members; name the schema.")
        return None
    if spec.schema not in schemas:
        raise _fault(spec, f"schemas/{spec.schema}.json does not exist; add it or correct the name.")
    if spec.format not in _WITH_SCHEMA:
        raise _fault(spec, f"files read as {spec.format} follow no schema; drop `schema` or change the format.")
    schema = schemas[spec.schema]
    if (spec.tag is not None) != (schema.tag is not None):
        state = "has no tag" if schema.tag is None else f"has the tag {schema.tag}"
        raise _fault(spec, f"schemas/{spec.schema}.json {state}; {'drop' if schema.tag is None else 'declare'} `tag`.")
    if spec.tag is not None and spec.format not in _TAGGED:
        raise _fault(spec, f"files read as {spec.format} hold records, and records carry no tag; drop `tag`.")
    return schema.document


def _check_hashes(spec: ArtifactSpec, hashes: HashList, document: SchemaNode | None, gates: Gates) -> None:
    for cover in hashes.covers:
        if not cover.startswith(hashes.base):
            raise _fault(spec, f"covers {cover}, which is not below its base {hashes.base}; no entry could name it.")
        _check_known(spec, "covers", cover, gates)
    if spec.format is Format.CHECKSUMS:
        return
    if document is None:
        raise _fault(spec, "a list of digests needs a schema that describes its entries; name it.")
    items = tuple(below(document, at_pointer(document, hashes.entries), ANY))
    for member in (hashes.path, hashes.sha256, hashes.bytes, hashes.uri):
        if member is not None and not tuple(below(document, items, member)):
            raise _fault(spec, f"entries of {hashes.entries} have no member {member} in schemas/{spec.schema}.json.")


def _check_bind(spec: ArtifactSpec, pointer: str, path: str, document: SchemaNode | None, gates: Gates) -> None:
    target = gates.match(path)
    if target is None or target.pattern != path:
        raise _fault(spec, f"{pointer} is bound to {path}, which is the path of no artifact.")
    if target.gate not in {spec.gate, PORT, *_upstream(gates, spec.gate)}:
        raise _fault(spec, f"{pointer} is bound to {path} of {target.gate}, which {spec.gate} does not depend on.")
    if document is not None and not _is_digest(at_pointer(document, pointer)):
        raise _fault(spec, f"{pointer} is bound to a file but holds no SHA-256 in schemas/{spec.schema}.json.")


def _check_known(spec: ArtifactSpec, what: str, pattern: str, gates: Gates) -> None:
    if not any(Glob(pattern).overlaps(Glob(other.pattern)) for other in gates.artifacts()):
        raise _fault(spec, f"{what} {pattern}, which no artifact matches.")


def _upstream(gates: Gates, gate: str) -> frozenset[str]:
    if gate not in gates.gates:
        return frozenset()
    direct = gates.gates[gate].depends
    return frozenset(direct).union(*(_upstream(gates, other) for other in direct))


def _may_be(schemas: Iterable[SchemaNode], kind: str) -> bool:
    return any(kind in _types(schema) for schema in schemas)


def _is_digest(schemas: Iterable[Mapping[str, Any]]) -> bool:
    return any(schema.get("pattern") == _DIGEST for schema in schemas)


def _types(schema: SchemaNode) -> tuple[str, ...]:
    declared = schema.get("type", ())
    return (declared,) if isinstance(declared, str) else tuple(declared)


def _fault(spec: ArtifactSpec, message: str) -> ContractError:
    return ContractError(f"policies/gates.yaml: {spec.name}: {message}")

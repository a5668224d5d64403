"""The contract: schemas, gates, params, profiles and policies, compiled into one immutable object with a digest.

The digest covers the parsers and the globs too: one that accepts more or matches less changes verdicts as surely as a
check does.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from calaudit.contract.digest import contract_digest
from calaudit.contract.gates import Gates, parse_gates
from calaudit.contract.lint import check_artifacts
from calaudit.contract.params import Param, Profile, Value, parse_params, parse_profile
from calaudit.contract.policies import PolicyRule, parse_policy
from calaudit.contract.resources import data_root
from calaudit.contract.schemas import Schema, SchemaError, Schemas
from calaudit.errors import ContractError, Malformed
from calaudit.evidence.strict_yaml import parse_yaml
from calaudit.version import VERSION

__all__ = [
    "Contract",
    "Gates",
    "Param",
    "PolicyRule",
    "Profile",
    "Schema",
    "SchemaError",
    "Schemas",
    "Value",
    "load_contract",
]


@dataclass(frozen=True, kw_only=True)
class Contract:
    """Everything a port is judged by."""

    version: str
    digest: str
    gates: Gates
    schemas: Schemas
    params: Mapping[str, Param]
    profiles: Mapping[str, Profile]
    policies: tuple[PolicyRule, ...]


def load_contract(root: Path | None = None) -> Contract:
    """Load the contract that calaudit ships, or another one with the same layout (tests).

    Raises:
        ContractError: any part of it is malformed, does not follow its schema, or contradicts another part.
    """
    root = root or data_root()
    schemas = Schemas(root / "schemas")
    gates = _document(root, "policies/gates.yaml", schemas, "gates/v1")
    params = _document(root, "policies/params.yaml", schemas, "params/v1")
    profiles = {
        path.stem: _document(root, f"policies/profiles/{path.name}", schemas, "profile/v1")
        for path in sorted((root / "policies" / "profiles").glob("*.yaml"))
    }
    policies = {
        path.name: _document(root, f"policies/{path.name}", schemas, "policy/v1")
        for path in sorted((root / "policies").glob("g[0-9][0-9]-*.yaml"))
        if not path.name.endswith(".test.yaml")
    }
    parsed = parse_gates(gates)
    declared = parse_params(params)
    check_artifacts(parsed, schemas)
    documents = {
        **{f"schemas/{name}": schema.document for name, schema in schemas.items()},
        "gates": gates,
        "params": params,
        **{f"profiles/{name}": document for name, document in profiles.items()},
        **{f"policies/{name}": document for name, document in policies.items()},
    }
    return Contract(
        version=VERSION,
        digest=contract_digest(documents, VERSION),
        gates=parsed,
        schemas=schemas,
        params=declared,
        profiles=MappingProxyType(
            {
                name: parse_profile(document, declared, f"policies/profiles/{name}.yaml")
                for name, document in profiles.items()
            }
        ),
        policies=tuple(
            rule
            for name, document in policies.items()
            for rule in parse_policy(document, where=f"policies/{name}", params=declared, path=root / "policies" / name)
        ),
    )


def _document(root: Path, name: str, schemas: Schemas, schema: str) -> dict[str, Any]:
    try:
        value = parse_yaml((root / name).read_bytes())
    except OSError as error:
        raise ContractError(f"{name} cannot be read: {error.strerror}.") from error
    except Malformed as error:
        raise ContractError(f"{name}:{error.line}: {error.message}") from error
    for problem in schemas.errors(schema, value):
        raise ContractError(f"{name}#{problem.pointer}: {problem.message} (schemas/{schema}.json)")
    assert isinstance(value, dict)  # noqa: S101 - the schema says so
    return value

"""The contract: schemas, gates, params, profiles and policies, compiled into one immutable object with a digest.

The digest covers the parsers and the globs too: one that accepts more or matches less changes verdicts as surely as a
check does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from calaudit.contract.digest import contract_digest
from calaudit.contract.documents import parse_document
from calaudit.contract.gates import Gates, parse_gates
from calaudit.contract.lint import check_artifacts
from calaudit.contract.overlays import CuePolicy, Overlay, load_overlays
from calaudit.contract.params import Param, Profile, Value, parse_params, parse_profile
from calaudit.contract.policies import PolicyRule, parse_policy
from calaudit.contract.resources import data_root
from calaudit.contract.schemas import Schema, SchemaError, Schemas
from calaudit.contract.tightening import Tightening, tighten
from calaudit.errors import ContractError, UsageError
from calaudit.version import VERSION

__all__ = [
    "Contract",
    "CuePolicy",
    "Gates",
    "Overlay",
    "Param",
    "PolicyRule",
    "Profile",
    "Schema",
    "SchemaError",
    "Schemas",
    "Tightening",
    "Value",
    "load_contract",
]


@dataclass(frozen=True, kw_only=True)
class Contract:
    """Everything a port is judged by: what is shipped, tightened and extended by overlays.

    ``params`` and ``profiles`` hold the tightened values. ``as_of`` is the day for which dated tightenings were read;
    None where none is dated.
    """

    version: str
    digest: str
    gates: Gates
    schemas: Schemas
    params: Mapping[str, Param]
    profiles: Mapping[str, Profile]
    policies: tuple[PolicyRule, ...]
    overlays: tuple[Overlay, ...] = ()
    as_of: date | None = None

    @property
    def cue(self) -> tuple[CuePolicy, ...]:
        """The policies in CUE of all overlays."""
        return tuple(policy for overlay in self.overlays for policy in overlay.cue)

    @property
    def tightenings(self) -> tuple[Tightening, ...]:
        """The tightenings of all overlays, in force or not."""
        return tuple(tightening for overlay in self.overlays for tightening in overlay.tightenings)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a report says of the overlays."""
        return tuple(note for overlay in self.overlays for note in overlay.notes(self.as_of))

    def refuse_inside(self, port: Path) -> None:
        """Refuse policies that stand inside what they judge: a port must not bring its own judge.

        Raises:
            UsageError: an overlay is the port's directory or below it.
        """
        for overlay in self.overlays:
            here = overlay.path.resolve()
            if port.is_dir() and any(place.samefile(port) for place in (here, *here.parents)):
                raise UsageError(
                    f"The policy directory {overlay.path} stands inside the port that it would judge; move it out."
                )


def load_contract(root: Path | None = None, overlays: Sequence[Path] = (), *, today: date | None = None) -> Contract:
    """Load the contract that calaudit ships, or another one with the same layout (tests).

    ``overlays`` are the policy directories of organisations; their order does not matter. ``today`` is the day for
    which dated documents in them are read: today (UTC) if None.

    Raises:
        ContractError: any part of it is malformed, does not follow its schema, or contradicts another part.
    """
    root = root or data_root()
    today = today or datetime.now(UTC).date()
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
    shipped = {
        name: parse_profile(document, declared, f"policies/profiles/{name}.yaml") for name, document in profiles.items()
    }
    rules = [
        rule
        for name, document in policies.items()
        for rule in parse_policy(document, where=f"policies/{name}", params=declared, path=root / "policies" / name)
    ]
    added = load_overlays(overlays, schemas, declared, shipped)
    tightenings = tuple(tightening for overlay in added for tightening in overlay.tightenings)
    tight = tighten(declared, shipped, (t for t in tightenings if t.counts(today)))
    documents = {
        **{f"schemas/{name}": schema.document for name, schema in schemas.items()},
        "gates": gates,
        "params": params,
        **{f"profiles/{name}": document for name, document in profiles.items()},
        **{f"policies/{name}": document for name, document in policies.items()},
        **{
            f"overlays/{number}/{name}": document
            for number, overlay in enumerate(added)
            for name, document in overlay.digested(today).items()
        },
    }
    return Contract(
        version=VERSION,
        digest=contract_digest(documents, VERSION),
        gates=parsed,
        schemas=schemas,
        params=tight[0],
        profiles=tight[1],
        policies=(*rules, *(rule for overlay in added for rule in overlay.policies)),
        overlays=added,
        as_of=today if any(t.effective_on is not None for t in tightenings) else None,
    )


def _document(root: Path, name: str, schemas: Schemas, schema: str) -> dict[str, Any]:
    try:
        data = (root / name).read_bytes()
    except OSError as error:
        raise ContractError(f"{name} cannot be read: {error.strerror}.") from error
    return parse_document(data, name, schemas, schema)

"""Whether a step has to run: what its last attested run read and wrote, held against what is there now.

Nothing is believed that a functionary did not sign: without a registry that says whose key is whose, a step is unknown,
and runs again. No record of calaudit's own is kept outside the port.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from calaudit.contract import Schemas
from calaudit.errors import Malformed
from calaudit.evidence.strict_json import parse_json
from calaudit.execute.nouns import Step, Toolchain
from calaudit.execute.record import Tree
from calaudit.trust import Refused
from calaudit.trust.envelope import SIZE_MAX, Envelope, parse_envelope, parse_statement
from calaudit.trust.provenance import verify_provenance
from calaudit.trust.registry import Registry

__all__ = ["ATTESTATIONS", "Plight", "Standing", "attested", "number_for", "outdated", "standing"]

ATTESTATIONS = "attestations"
_SCHEMA = "provenance/v1"


class Plight(StrEnum):
    """Where a step stands."""

    CURRENT = "up to date"
    STALE = "stale"
    NEVER = "never run"
    UNKNOWN = "unknown"
    WAITING = "waits"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where one step stands, and why in a sentence."""

    plight: Plight
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attested:
    """One provenance statement of a step; ``fault`` says why it proves nothing, if it does not."""

    path: str
    statement: Mapping[str, Any]
    finished: datetime | None
    fault: str | None


def standing(  # noqa: PLR0913 - everything that a step's last run is compared with
    port: Path,
    step: Step,
    *,
    name: str,
    kind: str,
    toolchain: Toolchain | None,
    tree: Tree,
    registry: Registry | None,
    schemas: Schemas,
    now: datetime,
) -> Standing:
    """Where a step stands; ``name`` is the port's id, ``kind`` the executor that would run it."""
    files = tree.digests((*step.inputs, *step.products))
    found = attested(port, step, name=name, files=files, registry=registry, schemas=schemas, now=now)
    if not found:
        return Standing(plight=Plight.NEVER, why="Nobody attests a run of it.")
    if registry is None:
        return Standing(plight=Plight.UNKNOWN, why="No trust root says whose key signed its last run.")
    good = [one for one in found if one.fault is None]
    if not good:
        return Standing(plight=Plight.STALE, why=found[-1].fault or "")
    last = max(good, key=lambda one: (one.finished is not None, one.finished, one.path))
    why = _difference(last.statement, step, kind, toolchain, files, tree)
    return Standing(plight=Plight.CURRENT) if why is None else Standing(plight=Plight.STALE, why=why)


def attested(  # noqa: PLR0913 - as above
    port: Path,
    step: Step,
    *,
    name: str,
    files: Mapping[str, str],
    registry: Registry | None,
    schemas: Schemas,
    now: datetime,
) -> list[Attested]:
    """Every provenance statement of a step, verified where there is a registry."""
    found = []
    for path in _files(port, step.name, ".dsse.json"):
        try:
            envelope = _envelope(port, path)
            statement = parse_statement(envelope, _SCHEMA, schemas)
        except (Malformed, OSError) as error:
            found.append(Attested(path=path, statement={}, finished=None, fault=f"{path} cannot be read: {error}"))
            continue
        fault: str | None = "nothing vouches for its signature"
        finished = None
        if registry is not None:
            try:
                proved = verify_provenance(
                    envelope, port=name, files=files, registry=registry, schemas=schemas, now=now
                )
                wrong = proved.role != step.role
                fault, finished = (f"{path} is signed for {proved.role}" if wrong else None), proved.finished
            except Refused as refused:
                fault = refused.fault.message
        found.append(Attested(path=path, statement=statement, finished=finished, fault=fault))
    return found


def outdated(port: Path, step: Step, *, materials: Mapping[str, str], products: Mapping[str, str]) -> list[str]:
    """The step's attestations that a run with these materials and products makes false, and its links.

    Statements of runs that read and wrote the same stay: they are the other builds of a rebuild.
    """
    gone = _files(port, step.name, ".link")
    for path in _files(port, step.name, ".dsse.json"):
        try:
            statement = _plain(_envelope(port, path))
            same = _named(statement["subject"]) == products
            same = same and _named(statement["predicate"]["buildDefinition"]["resolvedDependencies"]) == materials
        except (Malformed, OSError, KeyError, TypeError):
            same = False
        if not same:
            gone.append(path)
    return gone


def number_for(port: Path, step: Step, keyid: str, *, without: Sequence[str]) -> int:
    """The number of the next statement by a key, when those in ``without`` are taken away."""
    taken = [path.split(".") for path in _files(port, step.name, ".dsse.json") if path not in without]
    return max((int(p[2]) for p in taken if p[1] == keyid[:8] and p[2].isdecimal()), default=0) + 1


def _difference(  # noqa: PLR0913, PLR0917 - everything that may differ
    statement: Mapping[str, Any],
    step: Step,
    kind: str,
    toolchain: Toolchain | None,
    files: Mapping[str, str],
    tree: Tree,
) -> str | None:
    """What is not as it was in the last run, as a sentence."""
    definition = statement["predicate"]["buildDefinition"]
    external, internal = definition["externalParameters"], definition.get("internalParameters", {})
    if external["gate"] != step.gate or external["command"] != list(step.run):
        return "Its command or gate changed."
    materials = tree.digests(step.inputs)
    before = _named(definition["resolvedDependencies"])
    changed = sorted({path for path, _ in set(materials.items()) ^ set(before.items())})
    if changed:
        return f"{changed[0]}{f' and {len(changed) - 1} more' if changed[1:] else ''} changed since it was read."
    products = _named(statement["subject"])
    stray = sorted({path for path in files if path not in materials} ^ set(products))
    if stray:
        return f"{stray[0]} is not what the run wrote."
    executor = internal.get("executor") or {}
    if executor.get("kind") != kind or executor.get("network") != step.network:
        return f"It ran with the executor {executor.get('kind')}, and would run with {kind}."
    if executor.get("image") != (step.image if kind == "oci" else None):
        return "The container image changed."
    if internal.get("environment") != dict(step.env) or internal.get("secrets") != list(step.secrets):
        return "The environment in port.yaml changed."
    was = ((internal.get("toolchain") or {}).get("digest") or {}).get("sha256")
    if was != (None if toolchain is None else toolchain.digest):
        return "The toolchain changed."
    return None


def _files(port: Path, step: str, ending: str) -> list[str]:
    folder = port / ATTESTATIONS
    if not folder.is_dir() or folder.is_symlink():
        return []
    # A step's name holds no dot, so `reference.` is not the beginning of another step's.
    return sorted(
        f"{ATTESTATIONS}/{path.name}"
        for path in folder.iterdir()
        if path.name.startswith(f"{step}.") and path.name.endswith(ending)
    )


def _envelope(port: Path, path: str) -> Envelope:
    with (port / path).open("rb") as file:
        return parse_envelope(path, file.read(SIZE_MAX + 1))


def _plain(envelope: Envelope) -> Any:
    return parse_json(envelope.payload)


def _named(items: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    return {item["name"]: item["digest"]["sha256"] for item in items}

"""Whether a step has to run: what its last attested run read and wrote, held against what is there now.

Nothing is believed that a functionary did not sign: without a registry that says whose key is whose, a step is unknown,
and runs again. No record of calaudit's own is kept outside the port.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from calaudit.contract import Schemas
from calaudit.errors import Malformed
from calaudit.execute.attested import attestation_files, attested, digests_named, read_envelope
from calaudit.execute.nouns import Step, Toolchain
from calaudit.execute.record import Tree, kept_elsewhere
from calaudit.trust import Refused
from calaudit.trust.isolation import ELSEWHERE
from calaudit.trust.link import verify_link
from calaudit.trust.registry import Registry
from calaudit.trust.steps import ChainStep

__all__ = ["Plight", "Standing", "standing"]


class Plight(StrEnum):
    """Where a step stands."""

    CURRENT = "up to date"
    STALE = "stale"
    NEVER = "never run"
    UNKNOWN = "unknown"
    WAITING = "waits"
    AWAITED = "awaited"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where one step stands, and why in a sentence."""

    plight: Plight
    why: str = ""


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
    chain: Mapping[str, ChainStep],
) -> Standing:
    """Where a step stands; ``name`` is the port's id, ``kind`` the executor that would run it.

    A step that is built elsewhere is held to its files and command only, and a link alone attests it: the tools of
    whoever builds it may write no more.
    """
    files = tree.digests((*step.inputs, *step.products))
    found = attested(port, step, name=name, files=files, registry=registry, schemas=schemas, now=now)
    if not found and kind == ELSEWHERE:
        return _linked(port, step, tree=tree, chain=chain, registry=registry, schemas=schemas)
    if not found:
        return Standing(plight=Plight.NEVER, why="Nobody attests a run of it.")
    if registry is None:
        return Standing(plight=Plight.UNKNOWN, why="No trust root says whose key signed its last run.")
    good = [one for one in found if one.fault is None]
    if not good:
        return Standing(plight=Plight.STALE, why=found[-1].fault or "")
    last = max(good, key=lambda one: (one.finished is not None, one.finished, one.path))
    why = _of_files(last.statement, step, files, tree)
    if why is None and kind != ELSEWHERE:
        why = _of_executor(last.statement, step, kind, toolchain)
        if why is None:
            linked = _linked(port, step, tree=tree, chain=chain, registry=registry, schemas=schemas)
            why = "Its link is missing." if linked.plight is Plight.AWAITED else linked.why or None
    return Standing(plight=Plight.CURRENT) if why is None else Standing(plight=Plight.STALE, why=why)


def _linked(  # noqa: PLR0913 - everything that a link is held against
    port: Path,
    step: Step,
    *,
    tree: Tree,
    chain: Mapping[str, ChainStep],
    registry: Registry | None,
    schemas: Schemas,
) -> Standing:
    """Where a step stands by its links alone, as if it were built elsewhere."""
    links = attestation_files(port, step.name, ".link")
    if not links:
        return Standing(plight=Plight.AWAITED, why="It is built elsewhere, and nobody attests it yet.")
    if registry is None:
        return Standing(plight=Plight.UNKNOWN, why="No trust root says whose key signed its link.")
    files, elsewhere = tree.digests(), kept_elsewhere(port, schemas)
    for path in links:
        try:
            envelope = read_envelope(port, path)
            verify_link(envelope, chain=chain, files=files, elsewhere=elsewhere, registry=registry, schemas=schemas)
        except (Refused, Malformed, OSError) as error:
            why = error.fault.message if isinstance(error, Refused) else str(error)
            return Standing(plight=Plight.STALE, why=f"{path}: {why}")
    return Standing(plight=Plight.CURRENT)


def _of_files(statement: Mapping[str, Any], step: Step, files: Mapping[str, str], tree: Tree) -> str | None:
    """What of the step's files or command is not as it was in the last run, as a sentence."""
    definition = statement["predicate"]["buildDefinition"]
    external = definition["externalParameters"]
    if external["gate"] != step.gate or external["command"] != list(step.run):
        return "Its command or gate changed."
    materials = tree.digests(step.inputs)
    before = digests_named(definition["resolvedDependencies"])
    changed = sorted({path for path, _ in set(materials.items()) ^ set(before.items())})
    if changed:
        return f"{changed[0]}{f' and {len(changed) - 1} more' if changed[1:] else ''} changed since it was read."
    products = digests_named(statement["subject"])
    stray = sorted({path for path in files if path not in materials} ^ set(products))
    if stray:
        return f"{stray[0]} is not what the run wrote."
    return None


def _of_executor(statement: Mapping[str, Any], step: Step, kind: str, toolchain: Toolchain | None) -> str | None:
    """What of the way in which it ran is another now, as a sentence."""
    internal = statement["predicate"]["buildDefinition"].get("internalParameters", {})
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

"""Attesting a build that was done elsewhere: a link and provenance of what lies there now.

Digests are taken here. That the command ran, how it ended and when, is what whoever signs says: the provenance tells
the two apart, and promises nothing of an executor.
"""

import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from securesystemslib.signer import Signer

from calaudit.contract import Schemas
from calaudit.errors import Malformed, UsageError
from calaudit.evidence.strict_json import parse_json
from calaudit.execute.attested import number_for, outdated
from calaudit.execute.links import link_document, provenance_document, sign_pair
from calaudit.execute.nouns import Guarantees, Step
from calaudit.execute.record import Tree
from calaudit.execute.steps import read_steps
from calaudit.trust.isolation import BUILDER, ELSEWHERE, ISOLATION, Isolation, builder_id
from calaudit.trust.steps import SIGNED, ChainStep
from calaudit.version import VERSION

__all__ = ["BUILT_ELSEWHERE", "Attestation", "Claim", "prepare_attestation"]

BUILT_ELSEWHERE = builder_id(ELSEWHERE)
"""The builder of whom nothing is known."""

KIT_MANIFEST = "manifest.json"
"""Where a vendor kit says what is in it."""

_CLAIMED = ("command", "exitCode", "startedOn", "finishedOn", "invocationId", "builder")
_OBSERVED = ("materials", "products")
_REPORT_MAX = 1 << 20
"""Bytes of a report that may name its invocation."""

_URI = re.compile(r"[a-z][a-z0-9+.-]{1,30}:[\x21-\x7e]{1,900}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What whoever signs says of the build, and nobody here saw.

    ``invocation`` None is the one that a report among the products names, or else a new UUID.
    """

    step: str
    command: tuple[str, ...]
    invocation: str | None
    started: datetime
    finished: datetime
    builder: str = BUILT_ELSEWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Attestation:
    """What is about to be signed.

    ``undeclared`` are files that lie beside the materials, where these have a folder of their own, and that the step
    does not declare.
    """

    port: Path
    step: Step
    claim: Claim
    link: Mapping[str, Any]
    provenance: Mapping[str, Any]
    materials: Mapping[str, str]
    products: Mapping[str, str]
    undeclared: tuple[str, ...]

    def gone(self) -> list[str]:
        """The step's attestations in the port that this one makes false."""
        return outdated(self.port, self.step, materials=self.materials, products=self.products)

    def sign(self, signer: Signer) -> dict[str, bytes]:
        """The signed files by their paths in the port.

        Raises:
            UsageError: the key cannot sign links, or does not answer.
        """
        number = number_for(self.port, self.step, signer.public_key.keyid, without=self.gone())
        return sign_pair(self.step.name, self.link, self.provenance, signer, number)


def prepare_attestation(  # noqa: PLR0913 - the claim, and what it is held against
    port: Path, claim: Claim, schemas: Schemas, *, materials: Path | None, products: Path | None, now: datetime
) -> Attestation:
    """Hold a claim, and what lies in the two folders (the port's own if None), against the step in ``port.yaml``.

    Raises:
        UsageError: verification would refuse it.
    """
    plan = read_steps(port, schemas)
    step = next((step for step in plan.steps if step.name == claim.step), None)
    if step is None:
        raise UsageError(f"The port has no step {claim.step!r}; it has {', '.join(s.name for s in plan.steps)}.")
    chain = plan.chain[step.name]
    if ISOLATION.get(step.kind, Isolation.NONE) > Isolation.NONE:
        raise UsageError(
            f"port.yaml says that {step.name} runs with {step.kind}, so that a build elsewhere would be refused "
            "(isolation-too-weak). If it is built elsewhere, say so there: executor: {kind: elsewhere, network: none}."
        )
    _check(claim, chain, now)
    read, undeclared = _read(materials or port, chain)
    _demand_the_kit_s(port, step.name, read, schemas)
    wrote = _wrote(products or port, chain, alone=products is not None and products != materials)
    unmet = chain.unmet(read, wrote)
    if unmet is not None:
        raise UsageError(
            f"Nothing fits {unmet}, which {step.name} reads or writes. Say where it is: --materials, --products."
        )
    claim = replace(claim, invocation=_invocation(claim.invocation, products or port, wrote))
    internal = {
        "calaudit": VERSION,
        "executor": {
            "kind": ELSEWHERE,
            "image": None,
            "network": step.network,
            "guarantees": Guarantees(isolation=Isolation.NONE, network=False, inputs=False).to_json(),
        },
        "toolchain": None,
        "environment": dict(step.env),
        "secrets": list(step.secrets),
        "claimed": list(_CLAIMED),
        "observed": list(_OBSERVED),
    }
    return Attestation(
        port=port,
        step=step,
        claim=claim,
        link=link_document(
            step=step.name,
            command=claim.command,
            materials=read,
            products=wrote,
            byproducts={"return-value": 0},
            environment=step.env,
        ),
        provenance=provenance_document(
            port=plan.port,
            step=step.name,
            gate=step.gate,
            command=claim.command,
            materials=read,
            products=wrote,
            internal=internal,
            builder=claim.builder,
            invocation=str(claim.invocation),
            started=claim.started,
            finished=claim.finished,
        ),
        materials=read,
        products=wrote,
        undeclared=() if materials is None else undeclared,
    )


def _demand_the_kit_s(port: Path, step: str, read: Mapping[str, str], schemas: Schemas) -> None:
    """Where this is an unpacked vendor kit: what was read is what the port has.

    Raises:
        UsageError: it is something else, so that the port would refuse the attestation.
    """
    try:
        kit: Any = parse_json((port / KIT_MANIFEST).read_bytes())
    except (OSError, Malformed):
        return  # it is a port, or a folder of the vendor's own
    if not schemas.is_valid("vendor-kit/v1", kit):
        return
    for item in (item for found in kit["steps"] if found["name"] == step for item in found["materials"]):
        path, digest = item["path"], item["sha256"]
        if path in read and read[path] != digest:
            raise UsageError(
                f"{path} is not what the port had when it made this kit, so it would refuse the attestation. Get the "
                f"file from the port's owners. Expected: {digest}. Found: {read[path]}."
            )


def _check(claim: Claim, step: ChainStep, now: datetime) -> None:
    if claim.command != step.command:
        raise UsageError(
            f"port.yaml says that {step.name} runs another command, so that this would be refused (link-command-"
            f"mismatch). Expected: {_told(step.command)}. Found: {_told(claim.command)}."
        )
    if not claim.started <= claim.finished:
        raise UsageError("--finished is before --started.")
    if claim.finished > now:
        raise UsageError("--finished is in the future; what is attested is over.")
    if not _URI.fullmatch(claim.builder):
        raise UsageError(f"--builder {claim.builder}: expected a URI, such as urn:example:build-farm:v1.")
    if claim.builder.startswith(BUILDER) and claim.builder != BUILT_ELSEWHERE:
        raise UsageError(f"--builder {claim.builder} is an executor of calaudit's own, which did not run this.")
    given = claim.invocation
    if given is not None and not (1 <= len(given) <= 256 and given.isprintable()):
        raise UsageError("--invocation is 1 to 256 printable characters, the same for no other run.")


def _invocation(given: str | None, folder: Path, products: Mapping[str, str]) -> str:
    """What the run is called: as its reports call it, since verification holds the two against each other."""
    named = {path: name for path in products if (name := _named_in(folder / path)) is not None}
    other = next((path for path, name in named.items() if name != (given or next(iter(named.values())))), None)
    if other is not None:
        raise UsageError(
            f"{other} is of the invocation {named[other]}, not {given or next(iter(named.values()))}; the products are "
            "of several runs, or --invocation is of another one."
        )
    return given or next(iter(named.values()), None) or str(uuid.uuid4())


def _named_in(path: Path) -> str | None:
    """The invocation that a report names (``/invocation/id``); None in any other file."""
    if path.suffix != ".json" or path.stat().st_size > _REPORT_MAX:
        return None
    try:
        document = parse_json(path.read_bytes())
    except Malformed:
        return None  # an audit reports it
    invocation = document.get("invocation") if isinstance(document, dict) else None
    name = invocation.get("id") if isinstance(invocation, dict) else None
    return name if isinstance(name, str) and name else None


def _read(folder: Path, step: ChainStep) -> tuple[dict[str, str], tuple[str, ...]]:
    """The materials, and what else lies there."""
    found = {path: digest for path, digest in Tree(folder).digests().items() if not path.startswith(SIGNED)}
    read = step.consumed(found)
    other = tuple(path for path in found if path not in read and not step.writes(path) and path != "port.yaml")
    return read, other


def _wrote(folder: Path, step: ChainStep, *, alone: bool) -> dict[str, str]:
    """The products; in a folder of their own there is nothing else."""
    found = Tree(folder).digests()
    wrote = step.made(found)
    stray = sorted(found.keys() - wrote.keys())
    if alone and stray:
        more = f" and {len(stray) - 1} more" if stray[1:] else ""
        raise UsageError(
            f"{folder} holds {stray[0]}{more}, which port.yaml does not name among the products of {step.name}. If the "
            "step writes it, port.yaml has to say so; if not, take it out."
        )
    return wrote


def _told(command: Sequence[str]) -> str:
    import shlex  # noqa: PLC0415 - to say what is wrong only

    text = shlex.join(command)
    return text if len(text) <= 500 else f"{text[:500]}…"

"""Attesting a build that was done elsewhere: a link and provenance of what lies there now.

Digests are taken here. That the command ran, how it ended and when, is what whoever signs says: the provenance tells
the two apart, and promises nothing of an executor.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from securesystemslib.signer import Signer

from calaudit.contract import Schemas
from calaudit.errors import UsageError
from calaudit.execute.attested import number_for, outdated
from calaudit.execute.links import link_document, provenance_document, sign_pair
from calaudit.execute.nouns import Step
from calaudit.execute.parameters import parameters_of_claim
from calaudit.execute.record import Tree
from calaudit.execute.steps import read_steps
from calaudit.execute.vendor.claim import Claim, check_claim, invocation_of
from calaudit.execute.vendor.unpacked import demand_as_packed
from calaudit.trust.isolation import ISOLATION, Isolation
from calaudit.trust.steps import SIGNED, ChainStep

__all__ = ["Attestation", "prepare_attestation"]


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
    check_claim(claim, chain, now)
    read, undeclared = _read(materials or port, chain)
    demand_as_packed(port, step.name, read, schemas)
    wrote = _wrote(products or port, chain, alone=products is not None and products != materials)
    unmet = chain.unmet(read, wrote)
    if unmet is not None:
        raise UsageError(
            f"Nothing fits {unmet}, which {step.name} reads or writes. Say where it is: --materials, --products."
        )
    claim = replace(claim, invocation=invocation_of(claim.invocation, products or port, wrote))
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
            internal=parameters_of_claim(step),
            builder=claim.builder,
            invocation=str(claim.invocation),
            started=claim.started,
            finished=claim.finished,
        ),
        materials=read,
        products=wrote,
        undeclared=() if materials is None else undeclared,
    )


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

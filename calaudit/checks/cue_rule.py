"""Policies in CUE as checks: the port's facts document must unify with the policy.

CUE itself is a command. The auditor starts none: whoever calls it brings a :class:`Vetter`. Where a ``.cue`` policy has
nobody to vet it nothing is audited, and a policy that is content with an empty document says nothing, so it is refused.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Protocol

from calaudit.checks import Check, View
from calaudit.contract import CuePolicy
from calaudit.contract.policy_folder import CUE
from calaudit.errors import ContractError, MissingFact
from calaudit.facts.document import facts_document, written
from calaudit.model import PORT, Kind, Level, Result, Rule

__all__ = ["Fault", "Vetter", "cue_check", "engaged"]


class Fault(Protocol):
    """One thing that CUE holds against a document; a fact that is missing is one too."""

    @property
    def message(self) -> str:
        """What is wrong, with its place in the facts and in the policy."""
        ...

    @property
    def pointer(self) -> str | None:
        """The JSON pointer of the place in the document; None where unknown."""
        ...

    @property
    def line(self) -> int | None:
        """The line of the document, from 1; None where unknown."""
        ...


class Vetter(Protocol):
    """A CUE engine: its version, and the SHA-256 of its program."""

    @property
    def version(self) -> str:
        """The version that it says it has."""
        ...

    @property
    def sha256(self) -> str:
        """The SHA-256 of the program's file, lower-case hexadecimal."""
        ...

    def vet(self, name: str, policy: bytes, document: bytes) -> Sequence[Fault]:
        """What is wrong with a JSON document by a policy; nothing if it unifies, is concrete, and nothing is added.

        A field that the policy has and the document lacks is a fault, even where the policy gives its value: CUE would
        fill it in, and a fact that nobody knows would pass. ``name`` is the name of the policy's file.
        """
        ...


def engaged(policies: Sequence[CuePolicy], vetter: Vetter | None) -> tuple[str, ...]:
    """Make sure that policies in CUE can be judged; returns what a report has to say of the engine.

    Raises:
        ContractError: there is no engine, or a policy is content with a document that holds nothing.
    """
    if not policies:
        return ()
    if vetter is None:
        names = ", ".join(policy.where for policy in policies)
        raise ContractError(
            f"{names}: policies in CUE need the cue command, and there is none. Install it (https://cuelang.org) and "
            "put it on PATH, or name it with --cue PATH (audit(vetter=…) in Python)."
        )
    for policy in policies:
        if not vetter.vet(policy.name, policy.source, b"{}"):
            raise ContractError(
                f"{policy.where}: it is content with a document without any fact, so it would pass where nothing is "
                "known. Demand a fact: write its field without a question mark."
            )
    return (f"CUE policies were vetted by cue {vetter.version} (sha256 {vetter.sha256}).",)


def cue_check(policy: CuePolicy, vetter: Vetter | None) -> Check:
    """The policy as a rule of the port, ``port.<stem>``; without a vetter it stays open."""
    stem = policy.name.removesuffix(CUE)
    rule = Rule(
        id=stem,
        gate=PORT,
        level=Level.ERROR,
        title=f"The facts of the port unify with {policy.name}",
        why="The organisation demands it of every port, in a policy of its own.",
        fix=f"Compare what `calaudit facts` prints with {policy.name}, and mend the port where they differ.",
        kinds=frozenset({Kind.PASS, Kind.FAIL, Kind.OPEN}),
        tier="cue",
    )
    return Check(rule, partial(_run, policy, vetter))


def _run(policy: CuePolicy, vetter: Vetter | None, view: View) -> Iterator[Result]:
    if vetter is None:
        raise MissingFact(f"No CUE engine vetted {policy.name}.")
    document, _ = facts_document(view.facts)
    view.saw(len(document))
    for fault in vetter.vet(policy.name, policy.source, written(document).encode()):
        yield view.fail(fault.message)

"""How rules see the steps of a gate and the attested runs of each; a run that tells but a part of itself is none."""

from typing import TYPE_CHECKING

from calaudit.checks import View
from calaudit.trust.steps import ChainStep, read_chain

if TYPE_CHECKING:  # it imports python-tuf, which an audit without a root does not need
    from calaudit.trust.provenance import Provenance


def steps_of(view: View) -> list[ChainStep]:
    """The steps that ``port.yaml`` declares for the gate, and those that write files of it, whatever they declare.

    Raises:
        Malformed: the steps contradict each other.
        MissingFact: ``port.yaml`` cannot be read.
    """
    entries = view.evidence.entries
    return [
        step
        for step in read_chain(view.evidence.document("port.yaml"))
        if step.gate == view.gate or any(step.writes(path) for path, e in entries.items() if e.gate == view.gate)
    ]


def runs_of(view: View, step: ChainStep) -> "list[Provenance]":
    """The attested runs of a step, by its own functionaries, that name all that it reads and writes."""
    return [run for run in view.signed.attestations if run.step == step.name and lacking(view, step, run) is None]


def lacking(view: View, step: ChainStep, run: "Provenance") -> str | None:
    """What provenance of the step lacks to tell of a whole run of it, as the end of a sentence; None if nothing."""
    if run.role != step.role or run.gate != step.gate:
        return f"is signed for {run.role} and {run.gate}"
    if run.command != step.command:
        return "is of another command"
    files = {path: entry.sha256 for path, entry in view.evidence.entries.items()}
    unwritten = min(step.made(files).keys() - run.products.keys(), default=None)
    if unwritten is not None:
        return f"does not say that {unwritten} was written"
    unread = min(step.consumed(files).keys() - run.materials.keys(), default=None)
    return None if unread is None else f"does not say that {unread} was read"

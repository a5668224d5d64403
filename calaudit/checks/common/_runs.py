"""How rules see the steps of a gate and the attested runs of each; a run that tells but a part of itself is none."""

from typing import TYPE_CHECKING

from calaudit.checks import View
from calaudit.errors import Malformed, MissingFact
from calaudit.model import Location
from calaudit.trust.isolation import ISOLATION, Isolation
from calaudit.trust.roles import FUNCTIONARY
from calaudit.trust.steps import ChainStep, read_chain

DEMANDS = {Isolation.SANDBOX: "sandbox_gates", Isolation.CONTAINER: "container_gates"}
"""Which param names the gates that demand a level."""

if TYPE_CHECKING:  # it imports python-tuf, which an audit without a root does not need
    from calaudit.trust.provenance import Provenance


def declared_steps(view: View) -> tuple[ChainStep, ...]:
    """The steps of ``port.yaml``; where it cannot be read, or they contradict each other, the rule stays open.

    Raises:
        MissingFact: that is so.
    """
    try:
        return read_chain(view.evidence.document("port.yaml"))
    except Malformed as error:
        raise MissingFact(error.message, at=Location(path="port.yaml", pointer=error.pointer)) from error


def steps_of(view: View) -> list[ChainStep]:
    """The steps that ``port.yaml`` declares for the gate, and those that write files of it, whatever they declare.

    Raises:
        MissingFact: ``port.yaml`` cannot be read, or its steps contradict each other.
    """
    entries = view.evidence.entries
    return [
        step
        for step in declared_steps(view)
        if step.gate == view.gate or any(step.writes(path) for path, e in entries.items() if e.gate == view.gate)
    ]


def declared_runs(view: View, role: str, path: str) -> "list[Provenance]":
    """The runs of steps that ``port.yaml`` declares which wrote a file, by enough functionaries of a role; or none.

    Raises:
        MissingFact: as :func:`steps_of`.
    """
    registry = view.signed.trust.registry
    functionaries = None if registry is None else registry.role(role + FUNCTIONARY)
    steps = {step.name: step for step in declared_steps(view)}
    runs = [
        run
        for run in view.signed.attestations
        if (run.role, run.gate) == (role, view.gate)
        and path in run.products
        and run.step in steps
        and (steps[run.step].role, steps[run.step].gate, steps[run.step].command) == (role, view.gate, run.command)
    ]
    enough = functionaries is not None and len({run.owner for run in runs}) >= functionaries.threshold
    return runs if enough else []


def wanted_isolation(view: View, step: ChainStep) -> Isolation:
    """How much a step has to be shut in: as policy demands of the gate, and as ``port.yaml`` says."""
    demanded = [level for level, param in DEMANDS.items() if view.gate in view.words(param)]
    return max([*demanded, ISOLATION.get(step.executor, Isolation.NONE)])


def runs_of(view: View, step: ChainStep) -> "list[Provenance]":
    """The attested runs of a step, by its own functionaries, that name all that it reads and writes."""
    return [run for run in view.signed.attestations if run.step == step.name and lacking(view, step, run) is None]


def lacking(view: View, step: ChainStep, run: "Provenance") -> str | None:
    """What provenance of the step lacks to tell of a whole run of it, as the end of a sentence; None if nothing."""
    if run.role != step.role or run.gate != step.gate:
        return f"is signed for {run.role} and {run.gate}"
    if run.command != step.command:
        return "is of another command"
    other = next((path for path in sorted(run.products) if not step.writes(path)), None)
    if other is not None:
        return f"says that {other} was written, which is no product of the step"
    other = next((path for path in sorted(run.materials) if not step.reads(path)), None)
    if other is not None:
        return f"says that {other} was read, which the step does not declare"
    unmet = step.unmet(run.materials, run.products)
    if unmet is not None:
        return f"names no file that fits {unmet}"
    if (told := told_otherwise(step, run)) is not None:
        return f"says that it ran with another {told}"
    files = {path: entry.sha256 for path, entry in view.evidence.entries.items()}
    unwritten = min(step.made(files).keys() - run.products.keys(), default=None)
    if unwritten is not None:
        return f"does not say that {unwritten} was written"
    unread = min(step.consumed(files).keys() - run.materials.keys(), default=None)
    return None if unread is None else f"does not say that {unread} was read"


def told_otherwise(step: ChainStep, run: "Provenance") -> str | None:
    """In what a run by an executor of calaudit's own was not as ``port.yaml`` says; None for any other."""
    if run.isolation is None:
        return None
    executor, toolchain = run.internal.get("executor"), run.internal.get("toolchain")
    told = {
        "network": executor.get("network") if isinstance(executor, dict) else None,
        "environment": run.internal.get("environment"),
        "list of secrets": run.internal.get("secrets"),
        "toolchain": toolchain.get("name") if isinstance(toolchain, dict) else None,
    }
    wanted = (step.network, dict(step.env), list(step.secrets), step.toolchain)
    return next((name for (name, value), want in zip(told.items(), wanted, strict=True) if value != want), None)

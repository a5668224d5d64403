"""Each step was run as much shut in as policy demands of its gate, and as port.yaml says.

Why: A run that could reach the network or the whole machine may have used what nobody declared, and what it attests of
its inputs proves nothing.
Fix: Run the step with the executor that port.yaml names (`calaudit run`). What is built elsewhere counts once a
functionary has built the same bytes here (`calaudit run STEP --executor bwrap`, with the toolchain that it needs).
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from calaudit.checks import View, check
from calaudit.checks.common._runs import DEMANDS, lacking, runs_of, steps_of, wanted_isolation
from calaudit.checks.common._signed import NOBODY
from calaudit.model import Location, Result
from calaudit.trust.isolation import ISOLATION, Isolation, builder_id
from calaudit.trust.steps import ChainStep

if TYPE_CHECKING:  # it imports python-tuf, which an audit without a root does not need
    from calaudit.trust.provenance import Provenance

_KINDS = {Isolation.SANDBOX: "bwrap or oci", Isolation.CONTAINER: "oci"}


@check(
    "isolation-too-weak",
    gate="*",
    kinds=("pass", "fail", "open", "notApplicable"),
    trust=True,
    unwaivable=True,
)
def isolation_too_weak(view: View) -> Iterator[Result]:
    """Fail for a step whose runs were shut in less; open where too few attest one, or nobody knows how it was."""
    steps = steps_of(view)
    demanding = [level for level, param in DEMANDS.items() if view.gate in view.words(param)]
    if not steps and demanding:
        word = max(demanding).word
        message = f"Policy demands that the steps of {view.gate} run in a {word}, and port.yaml declares none."
        yield view.open(message, at="port.yaml")
        return
    wanted = {step: wanted_isolation(view, step) for step in steps}
    bound = [step for step in steps if wanted[step] > Isolation.NONE]
    if not bound:
        yield view.not_applicable("Neither policy nor port.yaml demands that a step of this gate is shut in.")
        return
    for step in view.each(bound):
        yield from _of_step(view, step, wanted[step])


def _of_step(view: View, step: ChainStep, wanted: Isolation) -> Iterator[Result]:
    at = Location(path="port.yaml", pointer=f"/steps/{step.name}/executor")
    registry = view.signed.trust.registry
    role = None if registry is None else registry.role(step.functionary)
    if role is None:
        yield view.open(f"{NOBODY}, so no run of {step.name} is attested.", at=at)
        return
    declared = ISOLATION.get(step.executor)
    if declared is not None and declared < wanted:
        message = (
            f"Policy demands a {wanted.word} for the steps of {view.gate}, and port.yaml has {step.name} run in less."
        )
        yield view.fail(message, at=at, expected=_KINDS[wanted], actual=step.executor)
        return
    if step.network != "none" or (step.executor == "oci" and step.image is None):
        lack = "no image by digest" if step.network == "none" else f"the network endpoint {step.network}"
        message = f"{step.name} runs with {step.executor} and {lack}; then nothing is shut in that can be named."
        yield view.fail(message, at=at)
        return
    runs = runs_of(view, step)
    good = [run for run in runs if (run.isolation or Isolation.NONE) >= wanted and _same_image(run, step)]
    if len({run.owner for run in good}) < role.threshold:
        yield _why(view, step, wanted, [run for run in runs if run not in good])


def _why(view: View, step: ChainStep, wanted: Isolation, others: "list[Provenance]") -> Result:
    """What is wrong with the other runs, or that there are none."""
    weak = next((run for run in others if run.isolation is not None), None)
    if weak is not None and weak.isolation is not None and weak.isolation >= wanted:
        message = f"{step.name} was run in a container of another image than port.yaml names."
        return view.fail(message, at=weak.path, expected=step.image, actual=weak.image)
    if weak is not None:
        contradicts = weak.isolation is Isolation.NONE and weak.builder != builder_id("local")
        less = f"{step.name} was run in less than a {wanted.word}."
        message = f"Provenance of {step.name} contradicts its builder, which shuts in more." if contradicts else less
        return view.fail(message, at=weak.path, expected=_KINDS[wanted], actual=weak.builder)
    if others:
        message = f"{step.name} was built elsewhere, and nobody knows how shut in; a {wanted.word} is needed."
        return view.open(message, at=others[0].path)
    parts = [(run.path, lacking(view, step, run)) for run in view.signed.attestations if run.step == step.name]
    told = next((f" {path} {part}." for path, part in parts if part is not None), "")
    at = Location(path="port.yaml", pointer=f"/steps/{step.name}/executor")
    return view.open(f"Too few functionaries of {step.role}, or none, attest a run of {step.name}.{told}", at=at)


def _same_image(run: "Provenance", step: ChainStep) -> bool:
    """Whether a container's image is the one that port.yaml names, where it names one."""
    return step.image is None or run.isolation is not Isolation.CONTAINER or run.image == step.image

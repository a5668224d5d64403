"""No step reads what a later gate makes.

Why: Gates are in an order so that each judges by what was settled before it. A reference that was made from the ONNX
model, or any file from what shall be held against it, agrees with it whatever it holds.
Fix: Let the step read files of its own gate, of the gates before it and of the port as a whole (configs/, tools/,
vendor/); narrow globs of materials and tools that fit more. Then run it again.
"""

from collections import deque
from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._runs import declared_steps, steps_of
from calaudit.model import PORT, Location, Result
from calaudit.trust.steps import ChainStep


@check(
    "material-out-of-order",
    gate="*",
    kinds=("pass", "fail", "open", "notApplicable"),
    trust=True,
    unwaivable=True,
)
def material_out_of_order(view: View) -> Iterator[Result]:
    """Fail for each step of the gate, or that writes files of it, which reads files of a gate that is not before it.

    It counts with the signatures, since those chain the steps; what a command reads apart from what its step declares
    is the sandbox's to prevent, and isolation-too-weak's to see.
    """
    if view.spec is None:
        yield view.not_applicable("Files of the port as a whole come before no gate.")
        return
    own = steps_of(view)
    steps = declared_steps(view)
    if not steps:
        yield view.not_applicable("port.yaml declares no steps.")
    before = _before(view)
    for step in view.each(steps):  # one that makes nothing of the gate is seen, and in order
        if step in own:
            yield from _late(view, step, before)


def _late(view: View, step: ChainStep, before: set[str]) -> Iterator[Result]:
    gate_of = view.facts.contract.gates.gate_of
    for reader, read in _read(view, step):
        late = sorted(path for path in read if gate_of(path) not in before)
        if not late:
            continue
        path = late[0]
        through = "" if reader == step.name else f" through {reader}"
        more = f" and {len(late) - 1} more" if len(late) > 1 else ""
        yield view.fail(
            f"{step.name} makes files of {view.gate} and reads {path}{more}{through}, of {gate_of(path)}, which is not "
            "before it.",
            at=Location(path="port.yaml", pointer=f"/steps/{reader}/materials"),
            expected=f"files of {', '.join(sorted(before - {PORT}, key=_number))} and of the port as a whole",
            actual=path,
        )
        return


def _read(view: View, step: ChainStep) -> Iterator[tuple[str, set[str]]]:
    """What a step reads, then what the steps read that made it, and so on, each with the step's name.

    Else a file of the port as a whole could hand on what a later gate made.
    """
    files = {path: entry.sha256 for path, entry in view.evidence.entries.items()}
    steps = [other for other in declared_steps(view) if other.name != step.name]
    waiting = deque([step])
    while waiting:
        reader = waiting.popleft()
        read = {*reader.consumed(files)}
        read |= {path for run in view.signed.attestations if run.step == reader.name for path in run.materials}
        yield reader.name, read
        makers = [other for other in steps if any(other.writes(path) for path in read)]
        waiting += makers
        steps = [other for other in steps if other not in makers]


def _before(view: View) -> set[str]:
    """The gate, all that it depends on, straight or through others, and the port as a whole."""
    gates = view.facts.contract.gates.gates
    found, waiting = {PORT, view.gate}, [view.gate]
    while waiting:
        new = set(gates[waiting.pop()].depends) - found
        found |= new
        waiting += new
    return found


def _number(gate: str) -> tuple[int, str]:
    """G10 comes after G9."""
    return (len(gate), gate)

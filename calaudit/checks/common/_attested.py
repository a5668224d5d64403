"""What rules ask of an attested run beyond its provenance: a tool that ran, what it may not have read, and when.

Provenance says what was read. A reference that was copied, or made from what it shall judge, is only seen by what must
be absent from it: in the run's own materials, and in the steps that made them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from calaudit.checks import View
from calaudit.checks.common._runs import declared_runs, told_otherwise
from calaudit.model import Location, Result
from calaudit.trust.steps import ChainStep

if TYPE_CHECKING:  # it imports python-tuf, which an audit without a root does not need
    from calaudit.trust.provenance import Provenance

TOOLS = "tools/"
"""Where the port keeps its own tools."""

WEIGHTS = "00-source/weights/"

EPOCH = "SOURCE_DATE_EPOCH"
"""Where a step says which moment its files shall show instead of the clock's, so that they are the same every time."""

_SECOND = timedelta(seconds=1)
"""Statements have whole seconds, reports may have parts of one."""


def run_of_report(view: View, role: str, path: str, report: str, invocation: str) -> "Provenance | Result":
    """The attested run that wrote a file and that a report names; else what is wrong with those that wrote it.

    Raises:
        MissingFact: ``port.yaml`` cannot be read, or its steps contradict each other.
    """
    found = declared_runs(view, role, path)
    if not found:
        return view.open(f"Too few functionaries of {role}, or none, attest the run that wrote it.", at=path)
    run = next((run for run in found if run.invocation == invocation), None)
    if run is not None:
        return run
    return view.fail(
        f"It attests another run than the one that {report} names (/invocation/id).",
        at=found[0].path,
        expected=invocation,
        actual=found[0].invocation,
    )


def unsound(view: View, step: ChainStep, run: "Provenance") -> Iterator[Result]:
    """A run that read what no such run may read, or that began before what it read was there."""
    undeclared = next((path for path in sorted(run.materials) if not step.reads(path)), None)
    if undeclared is not None:
        yield view.fail(
            f"The run read {undeclared}, which is neither a material nor a tool of {step.name}.", at=run.path
        )
    if (other := told_otherwise(step, run)) is not None:
        yield view.fail(
            f"The run says that it ran with another {other} than port.yaml has for {step.name}.", at=run.path
        )
    both = min(run.materials.keys() & run.products.keys(), default=None)
    if both is not None:
        yield view.fail(f"The run read {both}, which it was to write itself.", at=run.path)
    for path in sorted(run.materials):
        ends = [other.finished for other in view.signed.attestations if other is not run and path in other.products]
        if ends and min(ends) - run.started > _skew(view):
            yield view.fail(
                f"The run began before {path} was made, which it read; run {step.name} again.",
                at=run.path,
                expected=f"a start at or after {_text(min(ends))}",
                actual=_text(run.started),
            )
            return


def no_tool(view: View, step: ChainStep, *, own: Sequence[str] = ()) -> Iterator[Result]:
    """A step whose command runs no tool of the port: copying files, or doing nothing, makes no evidence.

    It is what the step says of itself; whether the tool did its work is what the rules about its products see.
    ``own`` is how a command of calaudit's that does the work begins; it needs no tool of the port.
    """
    words = _words(step.command)
    if own and words[: len(own)] == list(own):
        return
    tools = {path for path in view.evidence.entries if path.startswith(TOOLS) and step.uses(path)}
    if not tools or not _runs(words, tools, view.words("tool_interpreters")):
        yield view.fail(
            f"{step.name} runs no tool of the port; keep the program in {TOOLS}, list it under tools and let the "
            "command run it.",
            at=Location(path="port.yaml", pointer=f"/steps/{step.name}/run"),
            expected=f"a command that runs {min(tools, default='a file of ' + TOOLS)}",
            actual=" ".join(step.command)[:200],
        )


def misdated(
    view: View, step: ChainStep, run: "Provenance", report: str, invocation: Mapping[str, str]
) -> Iterator[Result]:
    """A report whose times are not those of its attested run.

    They lie between the run's start and end. Where the step sets SOURCE_DATE_EPOCH, so that two builds give the same
    bytes, the report's clock starts there instead, and only the end is the run's.
    """
    allowed = _skew(view) + _SECOND
    epoch = dict(step.env).get(EPOCH)
    earliest = run.started if epoch is None else _moment(epoch)
    moments = {member: datetime.fromisoformat(invocation[member]) for member in ("started", "finished")}
    for member, moment in moments.items():
        early = earliest is not None and earliest - moment > allowed
        if early or moment - run.finished > allowed:
            since = "whenever" if earliest is None else _text(earliest)
            yield view.fail(
                f"The report says that its run {member} when the attested run ({run.path}) was not under way.",
                at=Location(path=report, pointer=f"/invocation/{member}"),
                expected=f"from {since} to {_text(run.finished)}",
                actual=invocation[member],
            )


def above(steps: Mapping[str, ChainStep], name: str) -> set[str]:
    """The names of all steps that make something which the step may read, or which those may read, and so on."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for other in steps[waiting.pop()].upstream:
            if other not in found:
                found.add(other)
                waiting.append(other)
    return found


def origins(view: View, run: "Provenance") -> set[str]:
    """All that a run read, and all that was read by the attested runs that made it, and so on."""
    found = set(run.materials)
    waiting = list(found)
    while waiting:
        path = waiting.pop()
        for other in view.signed.attestations:
            if path in other.products:
                waiting += other.materials.keys() - found
                found |= other.materials.keys()
    return found


def _skew(view: View) -> timedelta:
    return timedelta(seconds=view.number("clock_skew"))


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _moment(epoch: str) -> datetime | None:
    """The moment that SOURCE_DATE_EPOCH is; None where it is none that a clock could show."""
    return datetime.fromtimestamp(int(epoch), UTC) if re.fullmatch(r"[0-9]{1,11}", epoch, re.ASCII) else None


def _words(command: Iterable[str]) -> list[str]:
    """The command's words, the program by its name where it is no file of the port; ``python -m x`` is ``x``."""
    words = [word.removeprefix("./") for word in command]
    if not words[0].startswith(TOOLS):
        words[0] = words[0].rpartition("/")[2]
    return words[2:] if _program(words[0]) == "python" and words[1:3] == ["-m", "calaudit"] else words


def _runs(words: Sequence[str], tools: set[str], interpreters: Iterable[str]) -> bool:
    """Whether a command's program is a tool, or an interpreter that is given one as its first file or module."""
    if words[0] in tools:
        return True
    if _program(words[0]) not in interpreters:
        return False
    for last, word in pairwise(words):
        if last == "-m" and {f"{word.replace('.', '/')}{end}" for end in (".py", "/__main__.py")} & tools:
            return True
        if word in tools:
            return True
        if re.fullmatch(r"-[A-Za-z]*c", word) or not (word.startswith("-") or last.startswith("-")):
            return False  # a program in the command itself, or another file than a tool
    return False


def _program(word: str) -> str:
    """A program's name without its version: ``python3.11`` is ``python``."""
    return word.rstrip("0123456789.")

"""A rebuild as ``rebuild-report/v1``, and as lines for people."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from calaudit.execute.rebuild.nouns import Build, Difference, Rebuild
from calaudit.execute.rebuild.plain import printable
from calaudit.model import Json

__all__ = ["BLOCKED", "lines", "to_json", "where"]

BLOCKED = "BLOCKED_REPRODUCIBILITY"
TAG = "calaudit-rebuild-report/v1"
_SHOWN = 20


def to_json(rebuild: Rebuild) -> dict[str, Json]:
    """The report's document.

    Raises:
        ValueError: there is no build in it.
    """
    record = next((build.record for build in rebuild.builds if build.record is not None), None)
    if record is None:
        raise ValueError("a report needs a build")
    step, toolchain = record.step, record.toolchain
    command: list[Json] = list(record.command)
    return {
        "schema": TAG,
        "port": record.port,
        "step": step.name,
        "gate": step.gate,
        "command": command,
        "executor": {"kind": record.executor, "image": step.image if record.executor == "oci" else None},
        "toolchain": None if toolchain is None else {"name": toolchain.name, "sha256": toolchain.digest},
        "materials": _files(record.materials),
        "verdict": "reproducible" if rebuild.reproducible else "differs",
        "blocked": rebuild.blocked,
        "complete": rebuild.complete,
        "builds": [_build(build) for build in rebuild.builds],
        "fixed": [{"factor": factor.value, "reason": reason} for factor, reason in sorted(rebuild.fixed.items())],
        "differences": [_difference(difference) for difference in rebuild.differences],
    }


def lines(rebuild: Rebuild) -> Iterator[str]:
    """What is told: each difference with what to do, and the verdict last."""
    for difference in rebuild.differences[:_SHOWN]:
        yield f"{where(difference)}  [{difference.finding.label}]"
        yield f"  {difference.finding.explanation}"
        if difference.factors:
            yield f"  It shows when these change: {', '.join(difference.factors)}."
        yield f"  {difference.finding.remedy}"
    left = len(rebuild.differences) - _SHOWN
    if left > 0:
        yield f"{left} more; the report lists them."
    if not rebuild.complete:
        yield "There are more differences than the report can list."
    count = sum(build.record is not None for build in rebuild.builds)
    held = " and what the port holds" if rebuild.builds[0].record is None else ""
    if rebuild.reproducible:
        yield f"Reproducible: {count} builds{held} are the same bytes."
        yield from (f"Not varied: {factor}. {reason}" for factor, reason in sorted(rebuild.fixed.items()))
    elif rebuild.blocked:
        yield f"{BLOCKED}: {count} builds{held} differ in more than bounded times and addresses."
    else:
        yield f"{count} builds{held} differ in bounded times and addresses only."


def where(difference: Difference) -> str:
    """The product, the members inside it, the place and the offset."""
    change = difference.change
    inside = "".join(f" » {member}" for member in change.members)
    place = f" {change.place}" if change.place else ""
    offset = "" if change.offset is None else f" (offset {change.offset})"
    return f"{difference.path}{inside}{place}{offset}"


def _build(build: Build) -> dict[str, Json]:
    varied: list[Json] = [factor.value for factor in build.varied]
    return {
        "number": build.number,
        "part": build.part.value,
        "invocation": None if build.record is None else build.record.invocation,
        "started": _moment(build.started),
        "finished": _moment(build.finished),
        "conditions": {factor.value: value for factor, value in build.conditions.items()},
        "varied": varied,
        "products": _files(build.products),
    }


def _difference(difference: Difference) -> dict[str, Json]:
    change, finding = difference.change, difference.finding
    members: list[Json] = [_short(member) for member in change.members]
    factors: list[Json] = [factor.value for factor in difference.factors]
    return {
        "path": difference.path,
        "members": members,
        "place": _short(change.place),
        "offset": change.offset,
        "class": finding.label.value,
        "bounded": finding.bounded,
        "tolerated": difference.tolerated,
        "cause": difference.cause.value,
        "factors": factors,
        "builds": list(difference.builds),
        "old": None if change.old is None else printable(change.old, change.text),
        "new": None if change.new is None else printable(change.new, change.text),
        "explanation": finding.explanation,
        "remedy": finding.remedy,
    }


def _files(digests: Mapping[str, str]) -> list[Json]:
    return [{"path": path, "sha256": digest} for path, digest in sorted(digests.items())]


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _short(text: str) -> str:
    """A name out of a faulty file, as it can be shown."""
    shown = "".join(c if c.isprintable() else "·" for c in text)
    return shown if len(shown) <= 512 else f"{shown[:511]}…"

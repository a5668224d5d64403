"""The environment of the reference can be built again.

Why: A reference that only its author's machine can reproduce is an anecdote. One loose requirement, and next month's
wheels give other logits.
Fix: Write environment.lock with `pip freeze` in the container that ran the reference, and record in reference-
report.json the versions that were really imported, the whole Python version and the digest of the container image.
"""

from collections.abc import Iterator, Sequence

from calaudit.checks import View, check
from calaudit.checks.g01_reference._parts import in_parts
from calaudit.facts.reference.environment import LOCK, EnvironmentFact, LockLine, Pin
from calaudit.facts.reference.runs import REPORT, ReportFact
from calaudit.model import Location, Result


@check("environment-unpinned", gate="G1")
def environment_unpinned(view: View) -> Iterator[Result]:
    """Every requirement is held by a version or a digest, and the report names the same ones."""
    yield from in_parts(view, _lock, _report, _packages)


def _lock(view: View) -> Iterator[Result]:
    environment = view.fact(EnvironmentFact)
    if not environment.lines:
        yield view.fail("environment.lock names no package at all.", at=LOCK)
    elif not environment.here:
        yield view.fail(
            "Every line of environment.lock is for another environment than the report states: none pins anything.",
            at=environment.lines[0].at,
            expected="requirements whose markers hold where the reference ran",
            actual=environment.lines[0].text,
        )
    for line in view.each(environment.here):
        if line.pin is Pin.NONE:
            yield view.fail(
                f"This line pins nothing: {line.reason}.",
                at=line.at,
                expected="name==version, or a URL with its digest or whole commit",
                actual=line.text,
            )
    for package, lines in environment.by_package.items():
        sure = [line for line in lines if line.pin is not Pin.NONE and line.applies]
        if len({line.version or line.text for line in sure}) > 1:
            others = " and ".join(str(line.at.line) for line in lines)
            yield view.fail(f"{package} is pinned to different versions on lines {others}.", at=lines[-1].at)


def _report(view: View) -> Iterator[Result]:
    environment = view.fact(ReportFact).document["environment"]
    view.saw()
    if len(environment["python"].split(".")) < 3:
        yield view.fail(
            "The Python version is not whole.",
            at=Location(path=REPORT, pointer="/environment/python"),
            expected="major.minor.patch",
            actual=environment["python"],
        )
    container = environment["container"]
    if container is not None and len(set(container.removeprefix("sha256:"))) == 1:
        yield view.fail(
            "The digest of the container is one digit repeated, which is no digest.",
            at=Location(path=REPORT, pointer="/environment/container"),
            expected="sha256:…, as the registry of the image names it",
            actual=container,
        )
    if container is None and view.params["container_required"] is not False:
        yield view.fail(
            "The container that ran the reference is not named by its digest.",
            at=Location(path=REPORT, pointer="/environment/container"),
            expected="sha256:…",
            actual="null",
        )


def _packages(view: View) -> Iterator[Result]:
    from packaging.utils import canonicalize_name  # noqa: PLC0415 - only here

    pinned = view.fact(EnvironmentFact).by_package
    for name, version in view.each(view.fact(ReportFact).document["environment"]["packages"].items()):
        at = Location(path=REPORT, pointer=f"/environment/packages/{name}")
        lines = pinned.get(canonicalize_name(name), [])
        if any(line.pin is Pin.NONE for line in lines):
            continue  # the line itself is a finding
        sure = [line for line in lines if line.applies]
        if not lines:
            yield view.fail(f"{name} was used, but environment.lock does not pin it here.", at=at, actual=version)
        elif not sure and any(line.version is None or _agree([line], version) for line in lines):
            yield view.open(
                f"Whether the line of {name} in environment.lock counts where the reference ran depends on what the "
                "report does not say: drop its marker, or name the machine in /environment/os.",
                at=lines[0].at,
            )
        elif any(line.version is None for line in sure or lines):
            yield view.open(f"{name} is pinned by a URL that does not tell its version {version}.", at=at)
        elif not _agree(sure or lines, version):
            yield view.fail(
                f"{name} is recorded in another version than environment.lock pins.",
                at=at,
                expected=(sure or lines)[0].version,
                actual=version,
            )


def _agree(lines: Sequence[LockLine], version: str) -> bool:
    from packaging.version import InvalidVersion, Version  # noqa: PLC0415 - only here

    try:
        return all(Version(line.version or "") == Version(version) for line in lines)
    except InvalidVersion:
        return all(line.version == version for line in lines)

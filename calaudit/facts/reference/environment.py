"""The environment of the reference: the lines of ``environment.lock``, and how each is pinned."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self
from urllib.parse import SplitResult, urlsplit

from calaudit.errors import MissingFact
from calaudit.facts import Facts, internal
from calaudit.facts.reference.markers import Surroundings
from calaudit.facts.reference.runs import ReportFact
from calaudit.model import Location

if TYPE_CHECKING:
    from packaging.requirements import Requirement

LOCK = "01-reference/environment.lock"
_DIGEST = re.compile(r"(?:^|&)(?:sha256=[0-9a-fA-F]{64}|sha384=[0-9a-fA-F]{96}|sha512=[0-9a-fA-F]{128})(?:&|$)")
_COMMIT = re.compile(r"@(?:[0-9a-f]{40}|[0-9a-f]{64})$")
_HASH = re.compile(r"\s--hash[= ](\S+)")
_HASH_VALUE = re.compile(r"sha256:[0-9a-fA-F]{64}|sha384:[0-9a-fA-F]{96}|sha512:[0-9a-fA-F]{128}")
_EDITABLE = re.compile(r"(?:-e|--editable)[= ]\s*(?P<url>\S+)")


class Pin(StrEnum):
    """How one requirement is held fast."""

    VERSION = "version"
    """``==`` or ``===`` with a whole version."""
    DIGEST = "digest"
    """A URL with a digest, or a commit of a version control system."""
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class LockLine:
    """One requirement. ``package`` is its normalized name, ``version`` None where the line does not say it."""

    at: Location
    text: str
    package: str | None
    version: str | None
    pin: Pin
    reason: str
    """Why it is not pinned; empty where it is."""
    applies: bool | None = True
    """Whether its marker holds where the reference ran; None where that is not known."""


@dataclass(frozen=True, kw_only=True)
class EnvironmentFact:
    """How many requirements of this environment there are, how many of them are pinned, and every line of the lock."""

    name: ClassVar[str] = "environment"

    requirements: int
    pinned: int
    lines: tuple[LockLine, ...] = internal()

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Read the lock; MissingFact where it is absent or no text."""
        lines = tuple(read_lock(facts.evidence.text(LOCK), _surroundings(facts)))
        here = [line for line in lines if line.applies is not False]
        return cls(requirements=len(here), pinned=sum(line.pin is not Pin.NONE for line in here), lines=lines)

    @cached_property
    def here(self) -> tuple[LockLine, ...]:
        """The lines that are not for another environment alone."""
        return tuple(line for line in self.lines if line.applies is not False)

    @cached_property
    def by_package(self) -> dict[str, list[LockLine]]:
        """The lines of every package that are not for another environment alone."""
        found: dict[str, list[LockLine]] = {}
        for line in self.here:
            if line.package is not None:
                found.setdefault(line.package, []).append(line)
        return found


def _surroundings(facts: Facts) -> Surroundings:
    try:
        stated = facts.get(ReportFact).document["environment"]
    except MissingFact:
        return Surroundings.of()
    return Surroundings.of(stated["os"], stated["python"])


def read_lock(text: str, where: Surroundings | None = None) -> Iterator[LockLine]:
    """The requirements of a pip requirements file as they are installed ``where``; comments are left out."""
    for number, line in _logical_lines(text):
        yield _line(line, Location(path=LOCK, line=number), where or Surroundings.of())


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    joined, start = "", 0
    for number, raw in enumerate(text.splitlines(), 1):
        line = re.sub(r"(^|\s)#.*$", "", raw).rstrip()
        start = start or number
        if line.endswith("\\"):
            joined += line[:-1] + " "
            continue
        if (joined + line).strip():
            yield start, (joined + line).strip()
        joined, start = "", 0
    if joined.strip():
        yield start, joined.strip()


def _line(text: str, at: Location, where: Surroundings) -> LockLine:
    from packaging.requirements import InvalidRequirement, Requirement  # noqa: PLC0415 - used by one rule only

    editable = _EDITABLE.fullmatch(text)
    if editable is not None:
        pinned = _is_fixed(editable["url"])
        reason = "" if pinned else "an editable install whose source may change"
        return LockLine(
            at=at, text=text, package=None, version=None, pin=Pin.DIGEST if pinned else Pin.NONE, reason=reason
        )
    if text.startswith("-"):
        return _loose(text, at, "an option of pip, not a requirement: write every package into the lock itself")
    hashes = _HASH.findall(text)
    try:
        requirement = Requirement(_HASH.sub("", text))
    except InvalidRequirement:
        return _loose(text, at, "not a requirement (PEP 508)")
    if not all(_HASH_VALUE.fullmatch(value) for value in hashes):
        return _loose(text, at, "a hash of it is not sha256, sha384 or sha512 in full")
    line = _requirement(requirement, text, at)
    return line if requirement.marker is None else replace(line, applies=where.meet(requirement.marker))


def _loose(text: str, at: Location, reason: str) -> LockLine:
    return LockLine(at=at, text=text, package=None, version=None, pin=Pin.NONE, reason=reason)


def _requirement(requirement: "Requirement", text: str, at: Location) -> LockLine:
    from packaging.utils import canonicalize_name  # noqa: PLC0415 - as above

    package = canonicalize_name(requirement.name)
    version, pin, reason = None, Pin.NONE, ""
    if requirement.url is not None:
        version = _version_of_file(requirement.url)
        if _is_fixed(requirement.url):
            pin = Pin.DIGEST
        else:
            reason = "its URL has neither a digest (#sha256=…) nor a whole commit"
    else:
        specifiers = list(requirement.specifier)
        if len(specifiers) == 1 and specifiers[0].operator in ("==", "===") and "*" not in specifiers[0].version:
            version, pin = specifiers[0].version, Pin.VERSION
        else:
            reason = "it is not pinned by == to one whole version"
    return LockLine(at=at, text=text, package=package, version=version, pin=pin, reason=reason)


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:  # such as half an IPv6 address: no URL, so it holds nothing fast
        return urlsplit("")


def _is_fixed(url: str) -> bool:
    parts = _split(url)
    if parts.scheme in ("", "file"):
        return False  # a path of some machine: whoever replays has something else there
    if _DIGEST.search(parts.fragment):
        return True
    return parts.scheme.startswith(("git+", "hg+")) and _COMMIT.search(parts.path) is not None


def _version_of_file(url: str) -> str | None:
    from packaging.utils import (  # noqa: PLC0415 - as above
        InvalidSdistFilename,
        InvalidWheelFilename,
        parse_sdist_filename,
        parse_wheel_filename,
    )

    name = _split(url).path.rpartition("/")[2].replace("%2B", "+").replace("%2b", "+")
    try:
        if name.endswith(".whl"):
            return str(parse_wheel_filename(name)[1])
        return str(parse_sdist_filename(name)[1])
    except (InvalidWheelFilename, InvalidSdistFilename):
        return None

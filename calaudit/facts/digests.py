"""Every list of digests in the port, as ``policies/gates.yaml`` declares them."""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from calaudit.contract.globs import Glob
from calaudit.errors import MissingFact
from calaudit.facts import Facts, internal
from calaudit.model import ArtifactSpec, Format, HashList, Json, Location
from calaudit.pointers import resolve

_ADDRESSED = re.compile(r"(?:|.+@)sha256:(?P<named>[0-9a-f]{64})|.+#sha256=(?P<url>[0-9a-f]{64})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One line of a list of digests.

    ``path`` is port-relative; None where the listed name leads out of the port. ``kept_at`` is the content-addressed
    URI of a file that is kept elsewhere.
    """

    gate: str
    name: str
    path: str | None
    sha256: str
    size: int | None
    kept_at: str | None
    at: Location


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestList:
    """One list of digests, and the files that it must name."""

    gate: str
    document: str
    covers: tuple[str, ...]
    listed: tuple[Listed, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Digests:
    """All lists that could be read; ``unreadable`` names the documents whose lists could not."""

    name: ClassVar[str] = "digests"

    count: int
    unreadable: tuple[str, ...]
    lists: tuple[DigestList, ...] = internal()

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Read every declared list; a document that is absent or faulty is counted as unreadable, not as empty."""
        lists: list[DigestList] = []
        unreadable: list[str] = []
        for spec in facts.contract.gates.artifacts():
            for declared in spec.hashes:
                if not facts.evidence.matching(spec.pattern):
                    continue  # artifact-missing says so
                try:
                    listed = tuple(_read(facts, spec, declared))
                except MissingFact:
                    unreadable.append(spec.pattern)
                else:
                    lists.append(
                        DigestList(gate=spec.gate, document=spec.pattern, covers=declared.covers, listed=listed)
                    )
        return cls(count=sum(len(item.listed) for item in lists), unreadable=tuple(unreadable), lists=tuple(lists))

    def of_gate(self, gate: str) -> tuple[DigestList, ...]:
        """The lists that stand in a gate's documents."""
        return tuple(item for item in self.lists if item.gate == gate)


def content_address(uri: str) -> str | None:
    """The SHA-256 inside a content-addressed URI (``sha256:…``, ``…@sha256:…``, ``…#sha256=…``), or None."""
    match = _ADDRESSED.fullmatch(uri)
    return (match["named"] or match["url"]) if match else None


def resolve_path(base: str, name: str) -> str | None:
    """A name in a document as a port-relative path; None where it is absolute or leads out of the port."""
    if not name or name.startswith("/") or "\\" in name or "\0" in name:
        return None
    path = posixpath.normpath(posixpath.join(base, name))
    return None if path in (".", "..") or path.startswith("../") else path


def covered(facts: Facts, item: DigestList) -> Iterator[str]:
    """The files of the port that a list must name."""
    globs = [Glob(pattern) for pattern in item.covers]
    for path in facts.evidence.entries:
        if any(glob.matches(path) for glob in globs):
            yield path


def _read(facts: Facts, spec: ArtifactSpec, declared: HashList) -> Iterator[Listed]:
    if spec.format is Format.CHECKSUMS:
        for line in facts.evidence.checksums(spec.pattern):
            at = Location(path=spec.pattern, line=line.line)
            yield _listed(spec, declared, {"path": line.path, "sha256": line.sha256}, at)
        return
    try:
        entries = resolve(facts.evidence.document(spec.pattern), declared.entries)
    except KeyError:
        return
    if isinstance(entries, list):
        for n, entry in enumerate(entries):
            if isinstance(entry, dict):
                yield _listed(spec, declared, entry, Location(path=spec.pattern, pointer=f"{declared.entries}/{n}"))


def _listed(spec: ArtifactSpec, declared: HashList, entry: dict[str, Json], at: Location) -> Listed:
    name = str(entry.get(declared.path, ""))
    size = entry.get(declared.bytes) if declared.bytes else None
    uri = entry.get(declared.uri) if declared.uri else None
    return Listed(
        gate=spec.gate,
        name=name,
        path=resolve_path(declared.base, name),
        sha256=str(entry.get(declared.sha256, "")),
        size=size if isinstance(size, int) and not isinstance(size, bool) else None,
        kept_at=uri if isinstance(uri, str) else None,
        at=at,
    )

"""Code that comes with the source: files that run, references to it, and the audit of it.

Code is every file below ``00-source/`` that Python, a shell or the system would run, by its name or by its first bytes,
and every pickle: loading one runs it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, ClassVar, Self

from calaudit.errors import MissingFact
from calaudit.evidence import Entry, Evidence
from calaudit.facts import Facts, internal
from calaudit.facts.source.manifest import FOLDER, SourceManifest
from calaudit.model import Format, Json, Location
from calaudit.pointers import leaves

HF_CONFIG = "00-source/hf-config/"
AUDIT = "00-source/code-audit.json"
CODE = frozenset({".py", ".pyc", ".pyx", ".pyd", ".so", ".dll", ".dylib", ".sh", ".ipynb"})
PICKLES = frozenset({".bin", ".ckpt", ".joblib", ".pickle", ".pkl", ".pt", ".pth"})
_MAGIC = (b"#!", b"\x7fELF", b"MZ", b"\xca\xfe\xba\xbe", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe")
"""Scripts, and the programs and libraries of Linux, Windows and macOS."""
_TRUST = re.compile(r"""trust_remote_code["']?\s*[=:]\s*(?:True|true|1)\b|--trust[-_]remote[-_]code\b""")


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeReference:
    """One ``auto_map`` entry. ``path`` is the file that it names; None where it names another repository."""

    at: Location
    target: str
    path: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """One entry of the audit."""

    at: Location
    path: str
    sha256: str
    approved: bool
    auditor: str


@dataclass(frozen=True, kw_only=True)
class CustomCodeFact:
    """How much code there is, and who refers to it."""

    name: ClassVar[str] = "custom_code"

    files: tuple[str, ...]
    pickles: tuple[str, ...]
    references: tuple[CodeReference, ...]
    trusts_remote: tuple[Location, ...]
    """Where code from elsewhere is switched on (``trust_remote_code``)."""
    declared: bool | None
    """What the source manifest says (architecture.custom_code)."""
    examined: int
    """Files that were looked at."""
    code: tuple[Entry, ...] = internal()

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Scan the source; MissingFact where a configuration file or a tool cannot be read."""
        evidence = facts.evidence
        source = [e for path, e in evidence.entries.items() if path.startswith(FOLDER)]
        code = tuple(e for e in source if _suffix(e) in PICKLES or _runs(evidence, e))
        documents = [e for e in source if e.path.startswith(HF_CONFIG) and _is_json(e)]
        tools = [e for path, e in evidence.entries.items() if path.startswith(("tools/", "configs/"))]
        references: list[CodeReference] = []
        trusts: list[Location] = []
        for entry in documents:
            found = list(leaves(evidence.document(entry.path)))
            references += _references(entry.path, found)
            trusts += [
                Location(path=entry.path, pointer=pointer)
                for pointer, value in found
                if pointer.rpartition("/")[2] == "trust_remote_code" and value is True
            ]
        for entry in tools:
            trusts += _trusting(evidence, entry)
        return cls(
            files=tuple(e.path for e in code if _suffix(e) not in PICKLES),
            pickles=tuple(e.path for e in code if _suffix(e) in PICKLES),
            references=tuple(references),
            trusts_remote=tuple(trusts),
            declared=_declared(facts),
            examined=len(source) + len(tools),
            code=code,
        )


@dataclass(frozen=True, kw_only=True)
class CodeAuditFact:
    """The audit of the source's code."""

    name: ClassVar[str] = "code_audit"

    approved: int
    rejected: int
    entries: tuple[Audited, ...] = internal()

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Read ``code-audit.json``; MissingFact where it is absent or does not follow its schema."""
        document: Any = facts.evidence.document(AUDIT)
        entries = tuple(
            Audited(
                at=Location(path=AUDIT, pointer=f"/files/{n}"),
                path=FOLDER + raw["path"],
                sha256=raw["sha256"],
                approved=raw["verdict"] == "approved",
                auditor=raw["auditor"],
            )
            for n, raw in enumerate(document["files"])
        )
        approved = sum(e.approved for e in entries)
        return cls(approved=approved, rejected=len(entries) - approved, entries=entries)

    @cached_property
    def by_path(self) -> Mapping[str, tuple[Audited, ...]]:
        """The entries of every file."""
        found: dict[str, list[Audited]] = {}
        for entry in self.entries:
            found.setdefault(entry.path, []).append(entry)
        return {path: tuple(entries) for path, entries in found.items()}


def _suffix(entry: Entry) -> str:
    return PurePosixPath(entry.path).suffix.lower()


def _runs(evidence: Evidence, entry: Entry) -> bool:
    named = {suffix.lower() for suffix in PurePosixPath(entry.path).suffixes}  # libx.so.1 too
    return bool(named & CODE) or evidence.head(entry.path, 4).startswith(_MAGIC)


def _is_json(entry: Entry) -> bool:
    return entry.spec is not None and entry.spec.format is Format.JSON


def _references(path: str, found: Iterable[tuple[str, Json]]) -> Iterator[CodeReference]:
    for pointer, value in found:
        if "/auto_map" in pointer and isinstance(value, str) and "/auto_map/" in f"{pointer}/":
            remote, _, target = value.rpartition("--")
            module = target.rpartition(".")[0] or target
            local = None if remote else f"{HF_CONFIG}{module.replace('.', '/')}.py"
            yield CodeReference(at=Location(path=path, pointer=pointer), target=value, path=local)


def _trusting(evidence: Evidence, entry: Entry) -> Iterator[Location]:
    text = evidence.read(entry.path).decode("utf-8", "replace")
    for match in _TRUST.finditer(text):
        yield Location(path=entry.path, line=text.count("\n", 0, match.start()) + 1)


def _declared(facts: Facts) -> bool | None:
    try:
        declared = facts.get(SourceManifest).architecture.get("custom_code")
    except MissingFact:
        return None  # what a missing manifest means is the matter of G0
    return declared if isinstance(declared, bool) else None

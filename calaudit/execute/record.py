"""What stands in a folder: digests by path, from evidence's own walk, which follows no link and skips nothing.

Names are in-toto's: port-relative POSIX paths.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from calaudit.contract import Schemas
from calaudit.contract.globs import Glob
from calaudit.errors import Malformed, UsageError
from calaudit.evidence.digest import digest_all
from calaudit.evidence.found import Found
from calaudit.evidence.reread import ROOT_FLAGS
from calaudit.evidence.strict_json import parse_json
from calaudit.evidence.walk import walk
from calaudit.model import Problem
from calaudit.trust.envelope import SIZE_MAX

__all__ = ["Tree", "kept_elsewhere", "matching"]

_SOURCE = "00-source/source-manifest.json"

_THREADS = 2


@dataclass(slots=True)
class Tree:
    """A folder that is looked at again and again; a file whose identity is unchanged is not hashed twice."""

    root: Path
    _known: dict[Found, str] = field(default_factory=dict)

    def digests(self, patterns: Iterable[str] = ("**",)) -> dict[str, str]:
        """The SHA-256 of each file that fits a pattern, sorted by path.

        Raises:
            UsageError: the folder, or something that fits, cannot be read, or is no regular file.
        """
        globs = [Glob(pattern) for pattern in patterns]
        descriptor = self._open()
        try:
            seen = walk(descriptor)
            for problem in seen.problems:
                if any(_reaches(glob, problem.location.path) for glob in globs):
                    raise self._fault(problem)
            wanted = [found for found in seen.files if any(glob.matches(found.path) for glob in globs)]
            results = digest_all(descriptor, [f for f in wanted if f not in self._known], threads=_THREADS)
        finally:
            os.close(descriptor)
        for found in wanted:
            if found in self._known:
                continue
            result = results[found.path]
            if isinstance(result, Problem):
                raise self._fault(result)
            self._known[found] = result.sha256
        return {found.path: self._known[found] for found in sorted(wanted)}

    def _open(self) -> int:
        try:
            return os.open(self.root, ROOT_FLAGS)
        except OSError as error:
            raise UsageError(f"{self.root} is not a directory that can be opened ({error.strerror}).") from error

    def _fault(self, problem: Problem) -> UsageError:
        return UsageError(f"{self.root / problem.location.path}: {problem.message} ({problem.rule})")


def matching(patterns: Iterable[str], digests: Mapping[str, str]) -> dict[str, str]:
    """The files among ``digests`` that fit a pattern."""
    globs = [Glob(pattern) for pattern in patterns]
    return {path: digest for path, digest in digests.items() if any(glob.matches(path) for glob in globs)}


def kept_elsewhere(port: Path, schemas: Schemas) -> dict[str, str]:
    """What the source manifest says is kept in another place, by where it would be; nothing where it is faulty."""
    try:
        with (port / _SOURCE).open("rb") as file:
            manifest: Any = parse_json(file.read(SIZE_MAX + 1))
    except (Malformed, OSError):
        return {}
    if not schemas.is_valid("model-source/v1", manifest):
        return {}
    return {f"00-source/{item['path']}": item["sha256"] for item in manifest["files"] if item.get("uri")}


def _reaches(glob: Glob, path: str) -> bool:
    """Whether a faulty name, or anything below it, could fit."""
    return path == "." or glob.matches(path) or glob.overlaps(Glob(_quiet(path) + "/**"))


def _quiet(path: str) -> str:
    # Wildcards in a file's own name would widen the pattern; the schema allows none in patterns but these.
    return path.replace("*", "?")

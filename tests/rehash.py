"""Bring the digests of an edited port up to date, so that only the rule under test has something to say."""

import hashlib
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from calaudit.contract import Contract


def digests(port: Path) -> dict[str, str]:
    """The SHA-256 of every file, by its port-relative path."""
    found = {}
    for folder, _, names in os.walk(port):
        for name in names:
            path = Path(folder, name)
            if path.is_file() and not path.is_symlink():
                found[path.relative_to(port).as_posix()] = _digest(path)
    return found


@cache
def digests_of_a_fresh_copy(port: Path) -> Mapping[str, str]:
    """As :func:`digests`, once a process: of a port that no test edits, and so of every fresh copy of it."""
    return MappingProxyType(digests(port))


def update(port: Path, contract: Contract, before: Mapping[str, str]) -> None:
    """Replace the old digest of every changed file wherever a document names it, until nothing changes any more."""
    documents = {a.pattern for a in contract.gates.artifacts() if a.hashes or a.binds}
    now = digests(port)
    for _ in range(10):
        changed = {before[p]: now[p] for p in before if p in now and before[p] != now[p]}
        sizes = {p: (port / p).stat().st_size for p in now}
        touched = [name for name in sorted(documents & now.keys()) if _rewrite(port / name, changed, sizes, contract)]
        before = now
        if not touched:
            return
        now = now | {name: _digest(port / name) for name in touched}
    raise AssertionError("digests do not settle: documents name each other in a circle")


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _rewrite(path: Path, changed: dict[str, str], sizes: dict[str, int], contract: Contract) -> bool:
    text = path.read_text("utf-8")
    new = text
    for old, fresh in changed.items():
        new = new.replace(old, fresh)
    if new == text:
        return False
    path.write_text(_sizes(new, path, sizes, contract), "utf-8")
    return True


def _sizes(text: str, path: Path, sizes: dict[str, int], contract: Contract) -> str:
    import json

    spec = contract.gates.match("/".join(path.parts[-2:]))
    lists = [h for h in (spec.hashes if spec else ()) if h.bytes]
    if path.suffix != ".json" or not lists:
        return text
    document = json.loads(text)
    for item in lists:
        for entry in document.get(item.entries.strip("/"), []):
            size = sizes.get(item.base + entry[item.path])
            if size is not None:
                entry[item.bytes] = size
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"

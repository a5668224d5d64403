"""Bring the digests of an edited port up to date, so that only the rule under test has something to say."""

import hashlib
from pathlib import Path

from calaudit.contract import Contract


def digests(port: Path) -> dict[str, str]:
    """The SHA-256 of every file, by its port-relative path."""
    return {
        p.relative_to(port).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in port.rglob("*")
        if p.is_file() and not p.is_symlink()
    }


def update(port: Path, contract: Contract, before: dict[str, str]) -> None:
    """Replace the old digest of every changed file wherever a document names it, until nothing changes any more."""
    documents = {a.pattern for a in contract.gates.artifacts() if a.hashes or a.binds}
    for _ in range(10):
        now = digests(port)
        changed = {before[p]: now[p] for p in before if p in now and before[p] != now[p]}
        sizes = {p: (port / p).stat().st_size for p in now}
        touched = False
        for name in sorted(documents & now.keys()):
            touched |= _rewrite(port / name, changed, sizes, contract)
        before = {**now}
        if not touched:
            return
    raise AssertionError("digests do not settle: documents name each other in a circle")


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

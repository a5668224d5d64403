"""Differences that only follow from another one: a product differs, and its digest stands in the next."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from calaudit.execute.rebuild.nouns import Build, Change, Difference, Finding

__all__ = ["follow_digests"]


def follow_digests(differences: Sequence[Difference], builds: Mapping[int, Build]) -> tuple[Difference, ...]:
    """The differences; one that is nothing but the digest of another product gets the class of that one's worst."""
    origins = [_origin(one, builds[one.builds[0]], builds[one.builds[1]]) for one in differences]
    found = list(differences)
    settled = {n for n, origin in enumerate(origins) if origin is None}
    while True:
        ready = [
            n
            for n in range(len(found))
            if n not in settled and all(m in settled for m in range(len(found)) if found[m].path == origins[n])
        ]
        if not ready:
            return tuple(found)  # what is left, if anything, goes round in circles, and stays as it was judged
        for number in ready:
            below = [one.finding for one in found if one.path == origins[number]]
            if below:
                found[number] = replace(found[number], finding=_follow(str(origins[number]), below))
        settled.update(ready)


def _origin(difference: Difference, old: Build, new: Build) -> str | None:
    """The product whose digest is all that differs here."""
    change: Change = difference.change
    if not change.text or not change.whole or change.old is None or change.new is None:
        return None
    a, b = change.old, change.new
    found: str | None = None
    for path, digest in old.products.items():
        other = new.products.get(path)
        if other is None or other == digest or path == difference.path or digest.encode() not in a:
            continue
        a, b = a.replace(digest.encode(), path.encode()), b.replace(other.encode(), path.encode())
        found = found or path
    return found if a == b else None


def _follow(path: str, below: Sequence[Finding]) -> Finding:
    worst = next((finding for finding in below if not finding.tolerated), below[0])
    return Finding(
        label=worst.label,
        bounded=all(finding.bounded for finding in below),
        explanation=f"The SHA-256 of {path} stands here, and {path} differs.",
        remedy=f"Nothing is to be done here; see to {path}.",
    )

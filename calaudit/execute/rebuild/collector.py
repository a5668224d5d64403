"""What a comparison has found so far, and how much it may still unpack."""

from dataclasses import dataclass, field

from calaudit.execute.rebuild.nouns import Change, Kind

__all__ = ["EXCERPT", "Collector", "Limits", "TooMuch", "first_difference", "utf8"]

EXCERPT = 4096
"""Bytes of each side of a change that are kept."""

_CHUNK = 1 << 16


class TooMuch(Exception):
    """What is inside an archive is more than is looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How far a comparison of two files goes.

    Bytes: ``structural`` of each file that are looked into at all, ``unpacked`` of both together. Counts: ``members``
    of one archive, ``changes`` of one file, ``depth`` of archives in archives.
    """

    structural: int = 256 << 20
    unpacked: int = 512 << 20
    members: int = 100_000
    changes: int = 500
    depth: int = 6


@dataclass(slots=True)
class Collector:
    """Changes of one file; ``complete`` is false when there are more than fit."""

    limits: Limits
    changes: list[Change] = field(default_factory=list)
    complete: bool = True
    unpacked: int = 0

    @property
    def full(self) -> bool:
        """Whether looking on is of no use."""
        return len(self.changes) >= self.limits.changes

    def add(  # noqa: PLR0913 - the members of a change
        self,
        members: tuple[str, ...],
        place: str,
        kind: Kind,
        old: bytes | None,
        new: bytes | None,
        *,
        offset: int | None = None,
        whole: bool = True,
        text: bool | None = None,
    ) -> None:
        """Note a change."""
        if self.full:
            self.complete = False
            return
        cut = max(len(old or b""), len(new or b"")) > EXCERPT
        known = (utf8(old) and utf8(new)) if text is None else text
        if cut:  # what differs must be in the excerpt, and some of what stands before it
            start = max(0, first_difference(old or b"", new or b"") - EXCERPT // 2)
            old, new = (None if side is None else side[start : start + EXCERPT] for side in (old, new))
        self.changes.append(
            Change(
                members=members,
                place=place,
                kind=kind,
                old=old,
                new=new,
                offset=offset,
                whole=whole and not cut,
                text=known,
            )
        )

    def left(self) -> int:
        """Bytes that may still be unpacked."""
        return max(0, self.limits.unpacked - self.unpacked)

    def spend(self, size: int) -> None:
        """Count what was unpacked.

        Raises:
            TooMuch: there is more than the limit.
        """
        self.unpacked += size
        if self.unpacked > self.limits.unpacked:
            raise TooMuch


def first_difference(old: bytes, new: bytes) -> int:
    """The first offset at which two texts differ; the length of the shorter one if it begins the other."""
    length = min(len(old), len(new))
    for start in range(0, length, _CHUNK):
        end = min(start + _CHUNK, length)
        if old[start:end] != new[start:end]:
            return next(n for n in range(start, end) if old[n] != new[n])
    return length


def utf8(data: bytes | None) -> bool:
    """Whether some bytes are text."""
    if data is None:
        return True
    if b"\0" in data:
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True

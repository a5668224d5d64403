"""Members of archives and compressed files: what there is to compare of them, and comparing two lists of them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from calaudit.execute.rebuild.collector import Collector
from calaudit.execute.rebuild.nouns import Kind

__all__ = ["Member", "Opened", "compare_members", "virtual"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One member of an archive; ``name`` tells members of one name apart by their number.

    ``fields`` are its metadata by name, with what they mean. Members of one ``quick`` sum have one content, for all
    that is known without reading it; None says nothing. ``read`` gives the content up to so many bytes.
    """

    name: str
    fields: tuple[tuple[str, Kind, bytes], ...]
    quick: object
    read: Callable[[int], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """An archive: its members in order, and what is left of it without times and without some of the members."""

    members: Sequence[Member]
    residue: Callable[[Iterable[str]], bytes]


def virtual(name: str, content: bytes) -> Member:
    """Something in an archive that is no member of it."""
    return Member(name=name, fields=(), quick=None, read=lambda limit: content[:limit])


def compare_members(
    collector: Collector,
    members: tuple[str, ...],
    old: Opened,
    new: Opened,
    contents: Callable[[bytes, bytes, str], None],
) -> None:
    """Compare what two archives hold; ``contents`` is told of members whose bytes differ."""
    before, after = {m.name: m for m in old.members}, {m.name: m for m in new.members}
    start = len(collector.changes)
    kinds: set[Kind] = set()
    differing: list[str] = []
    shared = [name for name in before if name in after]
    for name in dict.fromkeys([*before, *after]):
        if name not in before or name not in after:
            sides = (_shown(name) if name in side else None for side in (before, after))
            collector.add(members, f"member {name}", Kind.PRESENCE, *sides)
    others = [name for name in after if name in before]
    if shared != others:
        first, other = next((a, b) for a, b in zip(shared, others, strict=True) if a != b)
        collector.add(members, "order of members", Kind.ORDER, _shown(first), _shown(other))
    kinds.update(change.kind for change in collector.changes[start:])
    for name in shared:
        start = len(collector.changes)
        _metadata(collector, (*members, name), before[name], after[name])
        kinds.update(change.kind for change in collector.changes[start:])
        if before[name].quick is not None and before[name].quick == after[name].quick:
            continue
        read: list[bytes] = []
        for member in (before[name], after[name]):
            limit = collector.left()
            data = member.read(limit + 1)
            collector.spend(len(data))
            read.append(data)
        if read[0] != read[1]:
            differing.append(name)
            contents(read[0], read[1], name)
    if kinds <= {Kind.TIME} and (kinds or differing) and old.residue(differing) != new.residue(differing):
        collector.add(members, "encoding", Kind.FORM, None, None, whole=False)


def _shown(name: str) -> bytes:
    return name.encode("utf-8", "replace")


def _metadata(collector: Collector, members: tuple[str, ...], old: Member, new: Member) -> None:
    before = {name: (kind, value) for name, kind, value in old.fields}
    after = {name: (kind, value) for name, kind, value in new.fields}
    for name in dict.fromkeys([*before, *after]):
        a, b = before.get(name), after.get(name)
        if a != b:
            kind = (a or b or (Kind.VALUE, b""))[0]
            known = kind if a is not None and b is not None else Kind.PRESENCE
            collector.add(members, name, known, a and a[1], b and b[1])

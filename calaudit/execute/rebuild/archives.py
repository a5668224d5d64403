"""Looking into archives and compressed files: names, order, metadata and contents of their members.

Everything here may come from a faulty compiler, so what the formats' own libraries raise is turned into ``Malformed``,
and no more is unpacked than the collector allows.
"""

import lzma
import struct
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import TypeVar

from calaudit.errors import Malformed
from calaudit.execute.rebuild.collector import Collector
from calaudit.execute.rebuild.nouns import Kind
from calaudit.execute.rebuild.residue import ZIP_TIMES, tar_residue, zip_residue

__all__ = ["FAULTS", "Member", "Opened", "compare_members", "tar_members", "virtual", "zip_members"]

FAULTS = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    ValueError,  # with UnicodeError
    ArithmeticError,
    LookupError,
    NotImplementedError,
    RuntimeError,  # an encrypted member; with RecursionError
    MemoryError,
    AttributeError,  # zipfile and tarfile on what they half understood
    TypeError,
)
"""What the libraries raise on faulty archives."""

_ZIP_OWNERS = (0x7855, 0x7875)
_EXTRA = 4


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


# zip ----------------------------------------------------------------------------------------------------------------


def zip_members(data: bytes, collector: Collector) -> Opened:
    """The members of a zip archive.

    Raises:
        Malformed: it is none, or has too many members.
    """
    archive = zipfile.ZipFile(BytesIO(data))
    _demand_few(len(archive.filelist), collector)
    named = _named([(info.orig_filename, info) for info in archive.infolist()])
    found = [_zip_member(archive, name, info) for name, info in named.items()]
    if archive.comment:
        found.append(virtual("(comment)", archive.comment))
    return Opened(members=found, residue=lambda without: zip_residue(data, archive, named, without))


def _zip_member(archive: zipfile.ZipFile, name: str, info: zipfile.ZipInfo) -> Member:
    fields: list[tuple[str, Kind, bytes]] = [
        ("modification time", Kind.TIME, "{}-{:02}-{:02} {:02}:{:02}:{:02}".format(*info.date_time).encode()),
        ("mode", Kind.OWNER, oct(info.external_attr >> 16).encode()),
        ("attributes", Kind.VALUE, hex(info.external_attr & 0xFFFF).encode()),
        ("system", Kind.OWNER, str(info.create_system).encode()),
        ("compression", Kind.VALUE, str(info.compress_type).encode()),
        ("comment", Kind.VALUE, info.comment),
    ]
    for identifier, value in _extras(info.extra):
        kind = Kind.TIME if identifier in ZIP_TIMES else Kind.OWNER if identifier in _ZIP_OWNERS else Kind.VALUE
        fields.append((f"extra field 0x{identifier:04x}", kind, value.hex().encode()))

    def read(limit: int) -> bytes:
        with archive.open(info) as file:
            return file.read(limit)

    return Member(name=name, fields=tuple(fields), quick=(info.CRC, info.file_size), read=read)


def _extras(data: bytes) -> list[tuple[int, bytes]]:
    found, at = [], 0
    while at + _EXTRA <= len(data):
        identifier, size = struct.unpack_from("<HH", data, at)
        found.append((identifier, data[at + _EXTRA : at + _EXTRA + size]))
        at += _EXTRA + size
    return found


# tar ----------------------------------------------------------------------------------------------------------------


def tar_members(data: bytes, collector: Collector) -> Opened:
    """The members of a tar archive.

    Raises:
        Malformed: it has none, or too many members.
    """
    archive = tarfile.open(fileobj=BytesIO(data), mode="r:")  # noqa: SIM115 - in memory; the members read from it
    infos: list[tuple[str, tarfile.TarInfo]] = []
    for info in archive:
        _demand_few(len(infos), collector)
        infos.append((info.name, info))
    if not infos:
        raise Malformed("The tar archive is empty.")
    named = _named(infos)
    found = [_tar_member(archive, name, info) for name, info in named.items()]
    return Opened(members=found, residue=lambda without: tar_residue(data, named, without))


def _tar_member(archive: tarfile.TarFile, name: str, info: tarfile.TarInfo) -> Member:
    owner = f"{info.uid}:{info.gid} {info.uname}:{info.gname}"
    fields: list[tuple[str, Kind, bytes]] = [
        ("modification time", Kind.TIME, str(info.mtime).encode()),
        ("mode", Kind.OWNER, oct(info.mode).encode()),
        ("owner", Kind.OWNER, owner.encode("utf-8", "replace")),
        ("type", Kind.VALUE, info.type),
        ("link", Kind.VALUE, info.linkname.encode("utf-8", "replace")),
    ]
    for key, value in sorted(info.pax_headers.items()):
        kind = Kind.TIME if key in ("mtime", "atime", "ctime") else Kind.VALUE
        fields.append((f"pax header {key}", kind, value.encode("utf-8", "replace")))

    def read(limit: int) -> bytes:
        file = archive.extractfile(info) if info.isreg() else None
        return b"" if file is None else file.read(limit)

    return Member(name=name, fields=tuple(fields), quick=None if info.isreg() else info.size, read=read)


def virtual(name: str, content: bytes) -> Member:
    """Something in an archive that is no member of it."""
    return Member(name=name, fields=(), quick=None, read=lambda limit: content[:limit])


Info = TypeVar("Info")


def _named(infos: Iterable[tuple[str, Info]]) -> dict[str, Info]:
    """Members by name; the second of one name has its number behind it.

    Raises:
        Malformed: another member is really called that.
    """
    seen: Counter[str] = Counter()
    named: dict[str, Info] = {}
    for name, info in infos:
        seen[name] += 1
        own = name if seen[name] == 1 else f"{name} ({seen[name]})"
        if own in named:
            raise Malformed(f"The archive has several members {own!r}.")
        named[own] = info
    return named


def _demand_few(count: int, collector: Collector) -> None:
    if count > collector.limits.members:
        raise Malformed(f"The archive has more than {collector.limits.members} members.")

"""Looking into archives: names, order, metadata and contents of what zip and tar hold.

Everything here may come from a faulty compiler: ``FAULTS`` are what the formats' own libraries raise then, and no more
is unpacked than the collector allows.
"""

import lzma
import struct
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable
from io import BytesIO
from typing import TypeVar

from calaudit.errors import Malformed
from calaudit.execute.rebuild.collector import Collector
from calaudit.execute.rebuild.members import Member, Opened, virtual
from calaudit.execute.rebuild.nouns import Kind
from calaudit.execute.rebuild.residue import ZIP_TIMES, tar_residue, zip_residue

__all__ = ["FAULTS", "tar_members", "zip_members"]

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

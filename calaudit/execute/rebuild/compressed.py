"""Looking into compressed files: what gzip, bzip2 and xz hold, and what gzip says of it."""

import bz2
import lzma
import struct
import zlib
from collections.abc import Callable
from typing import Any

from calaudit.errors import Malformed
from calaudit.execute.rebuild.collector import Collector, TooMuch
from calaudit.execute.rebuild.members import Member, Opened, virtual
from calaudit.execute.rebuild.nouns import Kind
from calaudit.execute.rebuild.residue import gzip_residue

__all__ = ["INSIDE", "bz2_parts", "gzip_parts", "xz_parts"]

INSIDE = "(uncompressed)"
"""The name of what a compressed file holds."""

_MEMORY = 64 << 20
_GZIP_HEADER = 10


def gzip_parts(data: bytes, collector: Collector) -> Opened:
    """The header of a gzip file, and what it holds.

    Raises:
        Malformed: it is none.
    """
    if len(data) < _GZIP_HEADER or data[:3] != b"\x1f\x8b\x08":
        raise Malformed("Not a gzip file.")
    flags, mtime, _, system = struct.unpack_from("<BIBB", data, 3)
    name, start = b"", _GZIP_HEADER
    if flags & 0x08:
        start = _GZIP_HEADER + (2 + struct.unpack_from("<H", data, _GZIP_HEADER)[0] if flags & 0x04 else 0)
        name = data[start : data.index(b"\0", start)]
    fields = (
        ("modification time", Kind.TIME, str(mtime).encode()),
        ("original name", Kind.VALUE, name),
        ("system", Kind.OWNER, str(system).encode()),
    )
    content = _inflate(data, lambda: zlib.decompressobj(zlib.MAX_WBITS | 16), collector)
    member = Member(name=INSIDE, fields=fields, quick=None, read=lambda limit: content[:limit])
    header = _GZIP_HEADER if not name else start + len(name) + 1
    return Opened(members=[member], residue=lambda without: gzip_residue(data, header, without=bool(list(without))))


def _inflate(data: bytes, make: Callable[[], Any], collector: Collector) -> bytes:
    """What a compressed file holds, all of its streams one after the other.

    Raises:
        TooMuch: it holds more than may be unpacked.
    """
    parts: list[bytes] = []
    size = 0
    while data:
        stream = make()
        part = stream.decompress(data, collector.left() + 1 - size)
        parts.append(part)
        size += len(part)
        if size > collector.left():
            raise TooMuch
        if not stream.eof:
            raise EOFError("the stream does not end")
        data = stream.unused_data
        if data[:1] == b"\0":
            if data.strip(b"\0"):
                raise EOFError("something stands behind the padding")
            break
    return b"".join(parts)


def bz2_parts(data: bytes, collector: Collector) -> Opened:
    """What a bzip2 file holds."""
    return _plain(_inflate(data, bz2.BZ2Decompressor, collector))


def xz_parts(data: bytes, collector: Collector) -> Opened:
    """What an xz file holds."""
    return _plain(_inflate(data, lambda: lzma.LZMADecompressor(memlimit=_MEMORY), collector))


def _plain(content: bytes) -> Opened:
    # There is no metadata, so two of one content differ in how it is compressed: compare_blobs says that.
    return Opened(members=[virtual(INSIDE, content)], residue=lambda _: b"")

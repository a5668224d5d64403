"""What is left of an archive without the times in it and without members that are compared by themselves.

Two archives whose members differ in times only may differ in what no member shows: bytes before, between and behind
them, a second name in a local header, another compression. If the rest of both is equal, they do not.
"""

import struct
import tarfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping

__all__ = ["ZIP_TIMES", "gzip_residue", "tar_residue", "zip_residue"]

ZIP_TIMES = (0x5455, 0x000D, 0x000A)
"""Extra fields of a zip member that hold times."""

Span = tuple[int, int]

_BLOCK = 512
_LOCAL, _CENTRAL, _END = 30, 46, b"PK\5\6"


def zip_residue(
    data: bytes, archive: zipfile.ZipFile, names: Mapping[str, zipfile.ZipInfo], without: Iterable[str]
) -> bytes:
    """The rest of a zip archive; ``names`` are its members in the order of the directory."""
    left = frozenset(without)
    spans: list[Span] = []
    at: int = archive.start_dir
    for name, info in names.items():
        start = info.header_offset
        length, extra = struct.unpack_from("<HH", data, start + 26)
        spans += [(start + 10, start + 14), *_zip_times(data, start + _LOCAL + length, extra)]
        if name in left:
            begin = start + _LOCAL + length + extra
            spans += [(start + 14, start + 26), (begin, begin + info.compress_size)]
        length, extra, comment = struct.unpack_from("<HHH", data, at + 28)
        spans += [(at + 12, at + 16), *_zip_times(data, at + _CENTRAL + length, extra)]
        if name in left:
            spans.append((at + 16, at + 28))
        if left:
            spans.append((at + 42, at + 46))
        at += _CENTRAL + length + extra + comment
    if left and data[at : at + 4] == _END:
        spans.append((at + 12, at + 20))
    return _without(data, spans)


def tar_residue(data: bytes, names: Mapping[str, tarfile.TarInfo], without: Iterable[str]) -> bytes:
    """The rest of a tar archive; extended headers are left out too, since all that is in them is compared."""
    left = frozenset(without)
    spans: list[Span] = []
    for name, info in names.items():
        header = info.offset_data - _BLOCK
        spans += [(info.offset, header), (header + 136, header + 156)]  # the time, and the sum over the header
        if name in left:
            blocks = -(-info.size // _BLOCK)
            spans += [(header + 124, header + 136), (info.offset_data, info.offset_data + blocks * _BLOCK)]
    rest = _without(data, spans)
    return rest.rstrip(b"\0") if left else rest


def gzip_residue(data: bytes, header: int, *, without: bool) -> bytes:
    """The rest of a gzip file whose header has so many bytes."""
    return data[:4] + (data[8:header] if without else data[8:])


def _zip_times(data: bytes, at: int, size: int) -> Iterator[Span]:
    end = at + size
    while at + 4 <= end:
        identifier, length = struct.unpack_from("<HH", data, at)
        if identifier in ZIP_TIMES:
            yield at + 4, at + 4 + length
        at += 4 + length


def _without(data: bytes, spans: Iterable[Span]) -> bytes:
    parts: list[bytes] = []
    at = 0
    for start, end in sorted(spans):
        parts.append(data[at:start])
        at = max(at, end)
    return b"".join([*parts, data[at:]])

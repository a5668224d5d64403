"""Comparing two files: by what is in them where that is known, by their bytes otherwise.

Formats are told by their first bytes, not by their names, except JSON lines and ONNX, which have none. A file that is
faulty, nests too deep or unpacks to too much is compared as bytes. Nothing that differs is ever left out: where the
structure shows no difference, the bytes that differ all the same are named.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from calaudit.errors import Malformed
from calaudit.execute.rebuild import archives, compressed
from calaudit.execute.rebuild.archives import FAULTS
from calaudit.execute.rebuild.arrays import compare_npy, compare_safetensors
from calaudit.execute.rebuild.collector import Collector, Limits, TooMuch, first_difference
from calaudit.execute.rebuild.documents import compare_json, compare_lines
from calaudit.execute.rebuild.members import Opened, compare_members
from calaudit.execute.rebuild.models import compare_onnx
from calaudit.execute.rebuild.nouns import Kind
from calaudit.execute.rebuild.plain import compare_bytes, compare_text

__all__ = ["compare_blobs", "compare_files"]

Opener = Callable[[bytes, Collector], Opened]

_CHUNK = 1 << 20
_TAR = slice(257, 262)


def compare_files(old: Path, new: Path, path: str, limits: Limits | None = None) -> Collector:
    """Where two files differ; ``path`` is the product's name."""
    collector = Collector(limits=limits or Limits())
    sizes = [old.stat().st_size, new.stat().st_size]
    if max(sizes) > collector.limits.structural:
        _compare_long(collector, old, new)
    else:
        compare_blobs(collector, (), old.read_bytes(), new.read_bytes(), path)
    return collector


def compare_blobs(collector: Collector, members: tuple[str, ...], old: bytes, new: bytes, name: str) -> None:
    """Compare the bytes of two files, or of two members of archives."""
    if old == new:
        return
    before, complete = len(collector.changes), collector.complete
    for comparer in _comparers(old, new, name) if len(members) < collector.limits.depth else ():
        try:
            comparer(collector, members, old, new)
        except (Malformed, TooMuch, *FAULTS):
            del collector.changes[before:]
            collector.complete = complete
            continue
        if len(collector.changes) > before or collector.full:
            return
        # The structure is the same: how it is written differs.
        offset = first_difference(old, new)
        excerpts = (side[offset : offset + 64] for side in (old, new))
        collector.add(members, "encoding", Kind.FORM, *excerpts, offset=offset, whole=False)
        return
    if not compare_text(collector, members, old, new):
        compare_bytes(collector, members, old, new)


Comparer = Callable[[Collector, tuple[str, ...], bytes, bytes], None]


def _comparers(old: bytes, new: bytes, name: str) -> Sequence[Comparer]:
    """What both files could be, the likeliest first."""
    opener = _opener(old)
    if opener is not None and opener is _opener(new):
        return (_archive(opener),)
    if old[:6] == new[:6] == b"\x93NUMPY":
        return (compare_npy,)
    if name.endswith(".onnx"):
        return (compare_onnx,)
    if all(side[8:9] == b"{" and side[5:8] == b"\0\0\0" for side in (old, new)):
        return (compare_safetensors,)
    starts = {side[:64].lstrip()[:1] for side in (old, new)}
    if name.endswith((".jsonl", ".ndjson")):
        return (_with_offset(compare_lines),)
    return (_with_offset(compare_json), _with_offset(compare_lines)) if starts <= {b"{", b"["} else ()


def _opener(data: bytes) -> Opener | None:
    if data[:2] == b"PK":
        return archives.zip_members
    if data[:2] == b"\x1f\x8b":
        return compressed.gzip_parts
    if data[:3] == b"BZh":
        return compressed.bz2_parts
    if data[:6] == b"\xfd7zXZ\0":
        return compressed.xz_parts
    return archives.tar_members if data[_TAR] == b"ustar" else None


def _archive(opener: Opener) -> Comparer:
    def compare(collector: Collector, members: tuple[str, ...], old: bytes, new: bytes) -> None:
        def contents(a: bytes, b: bytes, name: str) -> None:
            compare_blobs(collector, (*members, name), a, b, name)

        compare_members(collector, members, opener(old, collector), opener(new, collector), contents)

    return compare


def _with_offset(comparer: Callable[[Collector, tuple[str, ...], bytes, bytes, int], None]) -> Comparer:
    def compare(collector: Collector, members: tuple[str, ...], old: bytes, new: bytes) -> None:
        comparer(collector, members, old, new, first_difference(old, new))

    return compare


def _compare_long(collector: Collector, old: Path, new: Path) -> None:
    """Files that are too long to be held in memory: the first byte that differs."""
    at = 0
    with old.open("rb") as first, new.open("rb") as second:
        while True:
            a, b = first.read(_CHUNK), second.read(_CHUNK)
            if a != b:
                here = first_difference(a, b)
                excerpts = (side[here : here + 64] for side in (a, b))
                collector.add((), "bytes", Kind.VALUE, *excerpts, offset=at + here, whole=False, text=False)
                return
            if not a:
                return
            at += len(a)

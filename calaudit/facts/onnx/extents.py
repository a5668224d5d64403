"""External data of an ONNX model: which bytes of which file each tensor claims, and whether it may.

Pure functions over what the model says and how large the files are; no file is opened. They are stricter than
``onnx.checker`` and ONNX Runtime, which accept extents beyond the file, lengths that do not fit the shape, and
overlaps. Two tensors may share one extent exactly (tied weights: embedding and output head); any other overlap is an
error. ``length`` may be absent, which means "to the end of the file": then the rest must be exactly what the shape
needs.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from calaudit.facts.onnx.extent_nouns import Extent, ExternalData, ExternalTensor, Fault
from calaudit.facts.onnx.types import count_bytes

__all__ = ["Extent", "ExternalData", "ExternalTensor", "Fault", "check_external_data", "gaps"]

KEYS = frozenset({"location", "offset", "length", "checksum", "basepath"})

PADDING_MAX = 1 << 16
"""Bytes between two tensors that count as alignment (ONNX recommends 4096, Windows maps at 65536)."""

_DECIMAL = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII)
_SHA1 = re.compile(r"[0-9a-fA-F]{40}", re.ASCII)
_UNSAFE = re.compile(r"[\x00-\x1f\x7f\\:]")


def check_external_data(tensors: Iterable[ExternalTensor], sizes: Mapping[str, int], folder: str) -> ExternalData:
    """Resolve every external tensor against the files there are.

    Args:
        tensors: the external tensors of a model.
        sizes: the bytes of every regular file that may hold tensor data, by path.
        folder: the folder of the model, in the terms of ``sizes``; locations are relative to it and stay inside.
    """
    extents: list[Extent] = []
    faults: list[Fault] = []
    paths: set[str] = set()
    for tensor in tensors:
        found = _resolve(tensor, sizes, folder)
        if isinstance(found, Extent):
            extents.append(found)
            paths.add(found.path)
        else:
            faults.append(found)
            if found.path is not None:
                paths.add(found.path)
    faults += _overlaps(extents)
    faults += _gaps(extents, sizes)
    return ExternalData(extents=tuple(sorted(extents)), faults=tuple(faults), paths=tuple(sorted(paths)))


def gaps(extents: Iterable[Extent], sizes: Mapping[str, int]) -> Iterator[tuple[str, int, int]]:
    """The bytes of each referenced file that no tensor claims: path, offset, length; in order."""
    ends: dict[str, int] = {}
    for extent in sorted(extents):
        end = ends.setdefault(extent.path, 0)
        if extent.offset > end:
            yield extent.path, end, extent.offset - end
        ends[extent.path] = max(end, extent.end)
    for path, end in ends.items():
        if sizes[path] > end:
            yield path, end, sizes[path] - end


def _resolve(tensor: ExternalTensor, sizes: Mapping[str, int], folder: str) -> Extent | Fault:
    keys = [key for key, _ in tensor.entries]
    for key in keys:
        if key not in KEYS or keys.count(key) > 1:
            why = "stands twice" if key in KEYS else "is unknown"
            return Fault(rule="onnx-invalid", message=f"The external-data key {key!r} of {tensor} {why}.")
    values = dict(tensor.entries)
    location = values.get("location", "")
    path = f"{folder}/{location}" if folder else location
    if not location:
        return Fault(rule="external-data-missing", message=f"The {tensor} names no location.")
    if not _stays_inside(location) or "basepath" in values:
        return Fault(
            rule="external-data-escapes",
            message=f"The location {location!r} of {tensor} leaves the folder of the model.",
            expected="a relative path inside the folder, without basepath",
            actual=location,
        )
    if path not in sizes:
        return Fault(
            rule="external-data-missing",
            message=f"The {tensor} is stored in {path}, which is not a regular data file of the port.",
            expected=f"{path}",
            actual="absent",
        )
    return _extent(tensor, values, path, sizes[path])


def _stays_inside(location: str) -> bool:
    return not _UNSAFE.search(location) and all(part not in ("", ".", "..") for part in location.split("/"))


def _extent(tensor: ExternalTensor, values: Mapping[str, str], path: str, size: int) -> Extent | Fault:
    def wrong(message: str, expected: object, actual: object) -> Fault:
        return Fault(
            rule="external-data-out-of-range",
            message=f"{message} ({tensor}).",
            expected=str(expected),
            actual=str(actual),
            path=path,
        )

    for key in ("offset", "length"):
        if key in values and not _DECIMAL.fullmatch(values[key]):
            return wrong(f"The {key} is not a plain decimal number", "a number of bytes", repr(values[key]))
    need = count_bytes(tensor.dtype, tensor.dims)
    if need is None:
        return wrong("The shape or type describes no amount of bytes", "known type, dims of zero or more", tensor.dims)
    offset = int(values.get("offset", "0"))
    length = int(values["length"]) if "length" in values else max(0, size - offset)
    if offset > size or length > size - offset:
        return wrong(f"The extent ends beyond {path}", f"at most {size} bytes", f"[{offset}, {offset + length})")
    if length != need:
        return wrong("The length does not fit shape and type", f"{need} bytes", f"{length} bytes")
    checksum = values.get("checksum")
    if checksum is not None and not _SHA1.fullmatch(checksum):
        return Fault(
            rule="external-data-checksum",
            message=f"The checksum of {tensor} is not a SHA-1 digest.",
            expected="40 hexadecimal digits",
            actual=repr(checksum),
            path=path,
        )
    return Extent(
        path=path,
        offset=offset,
        length=length,
        tensor=tensor.name,
        dtype=tensor.dtype,
        dims=tensor.dims,
        checksum=checksum.lower() if checksum else None,
    )


def _overlaps(extents: Iterable[Extent]) -> Iterator[Fault]:
    filled = sorted((e for e in extents if e.length), key=lambda e: (e.path, e.offset, -e.length, e.tensor))
    widest: dict[str, Extent] = {}
    for left, right in pairwise(filled):
        if left.path not in widest or widest[left.path].end < left.end:
            widest[left.path] = left
        over = widest[left.path]
        if right.path != over.path or right.offset >= over.end:
            continue
        if (right.offset, right.length, right.dtype) != (over.offset, over.length, over.dtype):
            yield Fault(
                rule="external-data-overlaps",
                message=f"The tensors {over.tensor!r} and {right.tensor!r} share bytes of {right.path}.",
                expected="disjoint extents, or exactly the same one",
                actual=f"[{over.offset}, {over.end}) and [{right.offset}, {right.end})",
                path=right.path,
            )


def _gaps(extents: Iterable[Extent], sizes: Mapping[str, int]) -> Iterator[Fault]:
    for path, offset, length in gaps(extents, sizes):
        if length >= PADDING_MAX:
            yield Fault(
                rule="external-data-unlisted",
                message=f"{length} bytes of {path} at offset {offset} belong to no tensor.",
                expected=f"less than {PADDING_MAX} bytes of padding",
                actual=str(length),
                path=path,
            )

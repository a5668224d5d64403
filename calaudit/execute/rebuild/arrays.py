"""Comparing tensors: the headers of ``.npy`` and safetensors files first, then the values."""

from calaudit.errors import Malformed
from calaudit.execute.rebuild.collector import Collector, first_difference
from calaudit.execute.rebuild.documents import compare_json
from calaudit.execute.rebuild.nouns import Kind
from calaudit.execute.rebuild.plain import compare_bytes
from calaudit.facts.source.safetensors_header import PREFIX, header_size, parse_header
from calaudit.facts.tensors.npy import read_header

__all__ = ["compare_npy", "compare_safetensors"]


def compare_npy(collector: Collector, members: tuple[str, ...], old: bytes, new: bytes) -> None:
    """Compare two arrays: type, shape, then the first value that differs.

    Raises:
        Malformed: one is no strict ``.npy`` file.
    """
    a, b = read_header(old), read_header(new)
    for name, before, after in (("dtype", a.dtype, b.dtype), ("shape", str(a.shape), str(b.shape))):
        if before != after:
            offset = first_difference(old, new)
            collector.add(members, f"header {name}", Kind.VALUE, before.encode(), after.encode(), offset=offset)
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return
    if old[: a.offset] != new[: b.offset]:
        collector.add(members, "header", Kind.FORM, old[: a.offset], new[: b.offset], offset=first_difference(old, new))
    _values(collector, members, "values", old[a.offset :], new[b.offset :], a.offset)


def compare_safetensors(collector: Collector, members: tuple[str, ...], old: bytes, new: bytes) -> None:
    """Compare the header as JSON, then each tensor that both have.

    Raises:
        Malformed: one is no strict safetensors file.
    """
    sizes = [header_size(side[:PREFIX], len(side)) for side in (old, new)]
    tensors = [
        {tensor.name: side[size + tensor.begin : size + tensor.end] for tensor in parse_header(side, len(side))}
        for side, size in zip((old, new), sizes, strict=True)
    ]
    heads = [side[PREFIX:size] for side, size in zip((old, new), sizes, strict=True)]
    if heads[0] != heads[1]:
        at = first_difference(*heads)
        inner = Collector(limits=collector.limits)
        compare_json(inner, members, heads[0], heads[1], at)
        for change in inner.changes:
            place = f"header {change.place}"
            collector.add(members, place, change.kind, change.old, change.new, offset=PREFIX + at, whole=change.whole)
        collector.complete = collector.complete and inner.complete
    for name in tensors[0]:
        a, b = tensors[0][name], tensors[1].get(name)
        if b is not None and a != b:
            _values(collector, members, f"tensor {name}", a, b, None)


def _values(  # noqa: PLR0913, PLR0917 - the two sides and where they are
    collector: Collector, members: tuple[str, ...], place: str, old: bytes, new: bytes, start: int | None
) -> None:
    """Values that differ: one change, since a tensor that differs mostly differs all over."""
    if old == new:
        return
    if len(old) != len(new):
        raise Malformed(f"{place}: {len(old)} and {len(new)} bytes of one type and shape.")
    at = first_difference(old, new)
    same = old[at + 16 :] == new[at + 16 :]
    if same:  # a few bytes only: they may say what they are
        inner = Collector(limits=collector.limits)
        compare_bytes(inner, members, old, new)
        for change in inner.changes:
            offset = None if start is None or change.offset is None else start + change.offset
            where = f"{place} byte {change.offset}"
            collector.add(members, where, Kind.VALUE, change.old, change.new, offset=offset, text=change.text)
        return
    a, b = old[at : at + 16], new[at : at + 16]
    offset = at if start is None else start + at
    collector.add(members, f"{place} byte {at}", Kind.VALUE, a, b, offset=offset, whole=False, text=False)

"""Comparing ONNX models field by field; a place is a path such as ``graph.node[3].doc_string``."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from calaudit.execute.rebuild.collector import Collector, first_difference
from calaudit.execute.rebuild.nouns import Kind
from calaudit.execute.rebuild.plain import compare_bytes
from calaudit.facts.onnx.proto import parse_model

__all__ = ["compare_onnx"]

_SHORT = 256


def compare_onnx(collector: Collector, members: tuple[str, ...], old: bytes, new: bytes) -> None:
    """Compare two models.

    Raises:
        Malformed: one is no ONNX model.
    """
    offset = first_difference(old, new)
    models = [parse_model(side) for side in (old, new)]
    if [model.SerializeToString(deterministic=True) for model in models] != [old, new]:
        # Fields are in an unusual order or written twice, which the fields do not show.
        collector.add(members, "encoding", Kind.FORM, None, None, offset=offset, whole=False)
    stack: list[tuple[str, Any, Any]] = [("", models[0], models[1])]
    while stack and not collector.full:
        path, a, b = stack.pop()
        stack += reversed(list(_fields(collector, members, path, a, b, offset)))
    if stack:
        collector.complete = False


def _fields(  # noqa: PLR0913, PLR0917 - the two sides and where they are
    collector: Collector, members: tuple[str, ...], path: str, old: Any, new: Any, offset: int
) -> Iterable[tuple[str, Any, Any]]:
    """Compare the fields of two messages; the messages inside them that have to be looked at next."""
    from google.protobuf.unknown_fields import UnknownFieldSet  # type: ignore[import-untyped]  # noqa: PLC0415 - heavy

    if any(len(UnknownFieldSet(side)) for side in (old, new)):
        collector.add(members, f"{path} (unknown fields)".lstrip(), Kind.FORM, None, None, offset=offset, whole=False)
    sides = [{field.name: (field, value) for field, value in side.ListFields()} for side in (old, new)]
    for name in dict.fromkeys([*sides[0], *sides[1]]):
        place = f"{path}.{name}" if path else name
        if name not in sides[0] or name not in sides[1]:
            a, b = (_short(*side[name]) if name in side else None for side in sides)
            collector.add(members, place, Kind.PRESENCE, a, b, offset=offset)
            continue
        field, a = sides[0][name]
        b = sides[1][name][1]
        if field.is_repeated:
            yield from _lists(collector, members, place, field, a, b, offset)
        elif field.message_type is not None:
            yield place, a, b
        else:
            _scalar(collector, members, place, a, b, offset)


def _lists(  # noqa: PLR0913, PLR0917 - as above
    collector: Collector, members: tuple[str, ...], place: str, field: Any, old: Any, new: Any, offset: int
) -> Iterable[tuple[str, Any, Any]]:
    is_message = field.message_type is not None
    before, after = ([_bytes(item, is_message=is_message) for item in side] for side in (old, new))
    if before == after:
        return
    first = next((n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), -1)
    if len(before) == len(after) and Counter(before) == Counter(after):
        a, b = _short(field, [old[first]]), _short(field, [new[first]])
        collector.add(members, f"{place}[{first}]", Kind.ORDER, a, b, offset=offset)
        return
    common = min(len(before), len(after))
    if len(before) != len(after):
        sides = (_short(field, [side[common]]) if len(side) > common else None for side in (old, new))
        collector.add(members, f"{place}[{common}]", Kind.PRESENCE, *sides, offset=offset)
    for number in range(common):
        if before[number] == after[number]:
            continue
        if is_message:
            yield f"{place}[{number}]", old[number], new[number]
        else:
            _scalar(collector, members, f"{place}[{number}]", old[number], new[number], offset)
            if collector.full:
                return


def _scalar(  # noqa: PLR0913, PLR0917 - as above
    collector: Collector, members: tuple[str, ...], place: str, old: Any, new: Any, offset: int
) -> None:
    a, b = _bytes(old, is_message=False), _bytes(new, is_message=False)
    if a == b:
        return
    if isinstance(old, bytes) and len(a) == len(b) and len(a) > _SHORT:
        compare_bytes(collector, members, a, b, place)
    else:
        collector.add(members, place, Kind.VALUE, a, b, offset=offset)


def _bytes(value: Any, *, is_message: bool) -> bytes:
    if is_message:
        serialized: bytes = value.SerializeToString(deterministic=True)
        return serialized
    if isinstance(value, bytes):
        return value
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else repr(value).encode()


def _short(field: Any, value: Any) -> bytes:
    """What stands in a field, for people: messages by their names."""
    items: Sequence[Any] = list(value) if field.is_repeated else [value]
    if field.message_type is None:
        return b" ".join(_bytes(item, is_message=False) for item in items[:8])
    names = [str(getattr(item, "name", "") or getattr(item, "key", "")) for item in items[:8]]
    named = ", ".join(name for name in names if name) or f"{len(items)} of {field.message_type.name}"
    return named.encode("utf-8", "replace")

"""Whether a policy checked anything: what it says about documents that are unlike the one it accepted.

A policy with a misspelt field name, with definitions that nothing refers to, or with no content at all accepts every
document. So one that accepts each of these probes as well has checked nothing. To ask only that a member of the whole
document is there (``port: _``) counts as nothing, too.
"""

from collections.abc import Callable, Iterator

from calaudit.model import Json
from calaudit.pointers import escape

_UNLIKE = "calaudit-probe"


def probes(document: dict[str, Json]) -> Iterator[Json]:
    """Documents that differ from ``document`` in every place, each in another way; the most telling first."""
    yield _changed(document, leaf=lambda _: {_UNLIKE: True})
    yield {key: {} if isinstance(value, dict) else value for key, value in document.items()}
    yield _changed(document, leaf=lambda _: None)
    yield _changed(document, leaf=_sibling)
    yield _changed(document, items=lambda _: [])
    yield _changed(document, items=lambda value: [*value, *value, None], members={_UNLIKE: True})
    more: list[Json] = [None] * min(10_000, 200_000 // (_lists(document) or 1))
    yield _changed(document, items=lambda value: [*value, *more])


def supplied(document: Json, unified: Json, pointer: str = "") -> Iterator[str]:
    """Pointers to the members that ``unified`` has and ``document`` has not: the policy brought them itself."""
    if isinstance(unified, dict) and isinstance(document, dict):
        for key, value in unified.items():
            below = f"{pointer}/{escape(key)}"
            if key in document:
                yield from supplied(document[key], value, below)
            else:
                yield below
    elif isinstance(unified, list) and isinstance(document, list):
        for number, (old, new) in enumerate(zip(document, unified, strict=False)):
            yield from supplied(old, new, f"{pointer}/{number}")
        if len(unified) > len(document):
            yield f"{pointer}/{len(document)}"


def _sibling(value: Json) -> Json:
    """Another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return f"{value}\n{_UNLIKE}"
    return -value - 1000003 if isinstance(value, int | float) else value


def _lists(value: Json) -> int:
    """How many lists a value holds."""
    if isinstance(value, dict):
        return sum(map(_lists, value.values()))
    return 1 + sum(map(_lists, value)) if isinstance(value, list) else 0


def _same(value: list[Json]) -> list[Json]:
    return value


def _changed(
    value: Json,
    *,
    leaf: Callable[[Json], Json] = lambda value: value,
    items: Callable[[list[Json]], list[Json]] = _same,
    members: dict[str, Json] | None = None,
) -> Json:
    """A copy with every scalar, every list, or the members of every object changed."""

    def walk(old: Json) -> Json:
        if isinstance(old, dict):
            return {key: walk(child) for key, child in old.items()} | (members or {})
        if isinstance(old, list):
            return items([walk(child) for child in old])
        return leaf(old)

    return walk(value)

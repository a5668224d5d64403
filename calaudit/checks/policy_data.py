"""The data that a policy's expressions are evaluated over, cut to the paths they read, and what is missing from it.

The hole that CEL leaves is closed here: a path that is absent, null, not finite or an empty list is a gap, and a rule
with a gap is open before its expression is evaluated.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from calaudit.contract.cel_paths import EACH, Use

LARGEST = 2**63 - 1
"""CEL's integers have 64 bits."""


def plain_data(value: Any) -> Any:
    """A value as CEL takes it: words, numbers, lists and maps of Python's own types, and nothing else."""
    if isinstance(value, str) and type(value) is not str:
        return str(value)  # an enum
    if isinstance(value, Mapping):
        return {str(name): plain_data(item) for name, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain_data(item) for item in value]
    return value


def select(root: str, uses: Iterable[Use], document: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a root's document that the uses read; an absent member stays absent."""
    out: dict[str, Any] = {}
    for use in uses:
        if use.path[0] != root:
            continue
        segments = use.path[1 : use.path.index(EACH)] if EACH in use.path else use.path[1:]
        _copy(document, segments, out)
    return out


def gaps(use: Use, data: Mapping[str, Any]) -> Iterator[str]:
    """Why a path cannot be judged by, as ends of sentences; nothing if it can."""
    yield from _gaps(data.get(use.path[0]), use.path[1:], use.path[0], ranged=use.ranged)


def _copy(source: Any, segments: Sequence[str], target: dict[str, Any]) -> None:
    for n, segment in enumerate(segments):
        if not isinstance(source, Mapping) or segment not in source:
            return
        source = source[segment]
        if n == len(segments) - 1 or not isinstance(source, Mapping):
            target[segment] = plain_data(source)
            return
        inner = target.setdefault(segment, {})
        if not isinstance(inner, dict):
            return
        target = inner


def _gaps(value: Any, segments: Sequence[str], shown: str, *, ranged: bool) -> Iterator[str]:
    if not segments:
        yield from _shallow(value, shown) if ranged else _deep(value, shown)
    elif segments[0] == EACH:
        if not isinstance(value, list) or not value:
            yield from _shallow(value, shown)
            return
        for n, item in enumerate(value):
            yield from _gaps(item, segments[1:], f"{shown}[{n}]", ranged=ranged)
    elif not isinstance(value, Mapping) or segments[0] not in value:
        yield f"{shown}.{segments[0]} is missing"
    else:
        yield from _gaps(value[segments[0]], segments[1:], f"{shown}.{segments[0]}", ranged=ranged)


def _shallow(value: Any, shown: str) -> Iterator[str]:
    if value is None:
        yield f"{shown} is null"
    elif not isinstance(value, list):
        yield f"{shown} is not a list"
    elif not value:
        yield f"{shown} is empty: nothing was examined"


def _deep(value: Any, shown: str) -> Iterator[str]:
    match value:
        case bool() | str():
            return
        case None:
            yield f"{shown} is null"
        case int():
            if not -LARGEST - 1 <= value <= LARGEST:
                yield f"{shown} is {value}, beyond 64-bit integers"
        case float():
            if not math.isfinite(value):
                yield f"{shown} is {value}, not a finite number"
        case list() | dict():
            if not value:
                yield f"{shown} is empty: nothing was examined"
            for name, item in value.items() if isinstance(value, dict) else enumerate(value):
                yield from _deep(item, f"{shown}[{name!r}]" if isinstance(value, dict) else f"{shown}[{name}]")
        case _:
            yield f"{shown} is a {type(value).__name__}, which policies cannot read"

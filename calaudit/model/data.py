"""JSON's data model, and turning frozen data into it."""

from collections.abc import Mapping
from typing import Any, TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""What a strict parser returns: JSON's data model, whatever the syntax."""


def plain(value: Any) -> Any:
    """A JSON-ready copy of frozen data: mappings to dicts, tuples and sets to lists."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(plain(v) for v in value)
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return value

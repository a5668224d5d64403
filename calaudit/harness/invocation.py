"""Invocation records: which run wrote a document, and when."""

import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from calaudit.model import Json

__all__ = ["clock"]


def clock() -> Callable[[], Mapping[str, Json]]:
    """Start an invocation now; what is returned ends it and gives its record, with a random id and UTC times."""
    started = _now()
    return lambda: {"id": str(uuid.uuid4()), "started": started, "finished": _now()}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

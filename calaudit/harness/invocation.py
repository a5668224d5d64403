"""Invocation records: which run wrote a document, and when."""

import os
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from calaudit.model import Json

__all__ = ["VARIABLE", "clock"]

VARIABLE = "CALAUDIT_INVOCATION"
"""Where an executor tells the command which invocation it is."""


def clock() -> Callable[[], Mapping[str, Json]]:
    """Start an invocation now; what is returned ends it and gives its record, with UTC times.

    The id is that of the run which ``calaudit run`` is about to attest, so that the record and the attestation name one
    invocation; else a random one.
    """
    started = _now()
    named = os.environ.get(VARIABLE) or str(uuid.uuid4())
    return lambda: {"id": named, "started": started, "finished": _now()}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

"""Moments as statements write them: in UTC, to the second, in one spelling."""

import re
from datetime import UTC, datetime

from calaudit.errors import Malformed

__all__ = ["parse_time"]

_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")


def parse_time(text: str) -> datetime:
    """A moment in UTC as statements write it: ``2026-11-30T12:00:00Z``, and no other way.

    Raises:
        Malformed: it is none. A date that nobody can read is an error, never "for good".
    """
    complaint = f"{text!r} is no moment in UTC, such as 2026-11-30T12:00:00Z."
    if not _MOMENT.fullmatch(text):  # strptime also takes 2026-1-1T1:1:1Z, and digits of other scripts
        raise Malformed(complaint)
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError as error:
        raise Malformed(complaint) from error

"""TUF metadata as it is written: indented, sorted, and read back by the reader that will judge it."""

import copy
from datetime import UTC, datetime, time, timedelta
from typing import TypeVar

from securesystemslib.signer import Signer
from tuf.api.metadata import Metadata, Root, Targets
from tuf.api.serialization.json import JSONSerializer

from calaudit.errors import UsageError
from calaudit.sign.signers import signature_of

__all__ = ["draft", "expiry", "sign", "to_bytes"]

S = TypeVar("S", Root, Targets)

YEARS_MAX = 25
"""Farther ahead an expiry is none."""


def to_bytes(metadata: Metadata[Root] | Metadata[Targets]) -> bytes:
    """The file."""
    return metadata.to_bytes(JSONSerializer(compact=False, validate=True)) + b"\n"


def draft(metadata: Metadata[S]) -> Metadata[S]:
    """A copy to edit: without the signatures, which covered other bytes."""
    return Metadata(copy.deepcopy(metadata.signed))


def sign(metadata: Metadata[S], signer: Signer) -> Metadata[S]:
    """A copy with one more signature.

    Raises:
        UsageError: the signer does not answer.
    """
    signed = Metadata(metadata.signed, dict(metadata.signatures))
    signed.signatures[signer.public_key.keyid] = signature_of(signer, metadata.signed_bytes)
    return signed


def expiry(text: str | None, now: datetime, *, days: int = 365) -> datetime:
    """When something ends: a date (its end, UTC), a number of days (``90d``), or ``days`` from now.

    Raises:
        UsageError: it is neither, it has passed, or it is so far ahead that it is none.
    """
    today = now.astimezone(UTC).replace(microsecond=0)
    if text is None:
        return today + timedelta(days=days)
    try:
        if text.endswith("d") and text[:-1].isdecimal():
            when = today + timedelta(days=int(text[:-1]))
        else:
            when = datetime.combine(datetime.strptime(text, "%Y-%m-%d").date(), time(23, 59, 59), UTC)  # noqa: DTZ007
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{text!r} is no expiry: give a date (2027-11-30) or days from now (365d).") from error
    if when <= today:
        raise UsageError(f"{text} has passed already; choose a date ahead.")
    if when > today + timedelta(days=366 * YEARS_MAX):
        raise UsageError(f"{text} is more than {YEARS_MAX} years ahead, which is no expiry.")
    return when

"""What of a Sigstore trusted root was valid when a signature was made.

A trusted root lists certificate authorities, logs and timestamp authorities of many years, each with the time it is
valid for (``validFor``). sigstore-python looks at the start of that time, and holds it against today's clock; it never
looks at the end, except for timestamp authorities. So an authority that was retired because its key leaked would be
believed for good. Here everything that was not valid at every time that the bundle names is taken out of the
document before the library sees it: what is gone cannot vouch for anything.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from calaudit.errors import Malformed
from calaudit.evidence.strict_json import parse_json

__all__ = ["MEDIA_TYPE", "ROOT_SIZE_MAX", "TrustedRoot", "parse_document"]

MEDIA_TYPE = "application/vnd.dev.sigstore.trustedroot+json;version=0.1"
ROOT_SIZE_MAX = 1 << 20
"""Bytes of a trusted root; that of the public instance has seven thousand."""


@dataclass(frozen=True, slots=True)
class _Part:
    """One list of a trusted root: its member, what it holds, and where an item says what it is called."""

    member: str
    noun: str
    name: str
    is_log: bool
    needed: bool = True


_PARTS = (
    _Part("certificateAuthorities", "certificate authority", "uri", is_log=False),
    _Part("ctlogs", "certificate transparency log", "baseUrl", is_log=True),
    _Part("tlogs", "transparency log", "baseUrl", is_log=True),
    _Part("timestampAuthorities", "timestamp authority", "uri", is_log=False, needed=False),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustedRoot:
    """A trusted root as a document, and what was left out of it (phrases, for a message)."""

    document: dict[str, Any]
    left_out: tuple[str, ...] = ()

    @classmethod
    def parse(cls, data: bytes) -> "TrustedRoot":
        """Read a trusted root.

        Raises:
            Malformed: it is none, or it lacks certificate authorities, certificate transparency or transparency logs.
        """
        if len(data) > ROOT_SIZE_MAX:
            raise Malformed(f"The trusted root has {len(data)} bytes; it may have {ROOT_SIZE_MAX}.")
        document = parse_document(data, "trusted root")
        if document.get("mediaType") != MEDIA_TYPE:
            raise Malformed(f"The trusted root is not of the media type {MEDIA_TYPE}.", pointer="/mediaType")
        for part in _PARTS:
            items = document.setdefault(part.member, [])
            if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
                raise Malformed(
                    f"The {part.member} of the trusted root are no list of objects.", pointer=f"/{part.member}"
                )
            if part.needed and not items:
                raise Malformed(
                    f"The trusted root names no {part.noun} ({part.member}): without one nothing can be verified.",
                    pointer=f"/{part.member}",
                )
        return cls(document=document)

    def valid_at(self, times: Sequence[datetime], *, ct_times: Sequence[datetime] = (), stamped: bool) -> "TrustedRoot":
        """The part that was valid at all of ``times``.

        Certificate transparency logs must have been valid at ``ct_times`` as well. ``stamped`` says whether the bundle
        has timestamps, so that it needs a timestamp authority.

        Raises:
            Malformed: nothing that is needed was valid, or a ``validFor`` is not readable.
        """
        document = dict(self.document)
        left_out: list[str] = []
        for part in _PARTS:
            when = (*times, *ct_times) if part.member == "ctlogs" else times
            items = cast("list[dict[str, Any]]", document[part.member])
            kept, reasons = [], []
            for number, item in enumerate(items):
                reason = _invalid(part, item, when, f"/{part.member}/{number}")
                if reason is None:
                    kept.append(item)
                else:
                    reasons.append(reason)
            if not kept and (part.needed or stamped):
                detail = "; ".join(reasons) or "it names none"
                raise Malformed(
                    f"No {part.noun} of the trusted root was valid when the signature was made: {detail}.",
                    pointer=f"/{part.member}",
                )
            document[part.member] = kept
            left_out += reasons
        return TrustedRoot(document=document, left_out=tuple(left_out))


def parse_document(data: bytes, what: str) -> dict[str, Any]:
    """Read a Sigstore document strictly, so that the library cannot read it in another way than we do.

    The library takes each member by two names (``dsseEnvelope`` and ``dsse_envelope``); here only by the first.

    Raises:
        Malformed: it is no JSON object, or a member has a name with an underscore.
    """
    try:
        document = parse_json(data)
    except Malformed as error:
        raise Malformed(f"The {what} is malformed. {error.message}", line=error.line, column=error.column) from error
    if not isinstance(document, dict):
        raise Malformed(f"The {what} is no JSON object.")
    second = next((key for key in _keys(document) if "_" in key), None)
    if second is not None:
        raise Malformed(f"The {what} names a member {second[:40]!r}; write the names in camelCase, as Sigstore does.")
    return cast("dict[str, Any]", document)


def _keys(value: object) -> Iterator[str]:
    """Every key of a value, which nests no deeper than the strict parser allows."""
    below: Iterable[object] = ()
    if isinstance(value, dict):
        yield from value
        below = value.values()
    elif isinstance(value, list):
        below = value
    for member in below:
        yield from _keys(member)


def _invalid(part: _Part, item: dict[str, Any], times: Sequence[datetime], pointer: str) -> str | None:
    """Why an authority or log was not valid at all times, as a phrase; None if it was."""
    key = item.get("publicKey") if part.is_log else item
    period = key.get("validFor") if isinstance(key, dict) else None
    if period is None and part.is_log:  # only logs may go without: they are then valid for good
        return None
    if not isinstance(period, dict):
        raise Malformed(f"A {part.noun} of the trusted root does not say what time it is valid for.", pointer=pointer)
    start = _moment(period.get("start"), pointer)
    end = None if period.get("end") is None else _moment(period["end"], pointer)
    wrong = next((t for t in times if t < start or (end is not None and t > end)), None)
    if wrong is None:
        return None
    name = str(item.get(part.name) or "one without a name")[:80]
    until = f"to {end.isoformat()}" if end is not None else "on"
    return f"{name} ({part.noun}) was valid from {start.isoformat()} {until}, not at {wrong.isoformat()}"


def _moment(value: object, pointer: str) -> datetime:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise Malformed("A validFor of the trusted root does not hold RFC 3339 times with a zone.", pointer=pointer)
    return moment

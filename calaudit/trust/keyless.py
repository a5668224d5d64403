"""Keyless signatures: a Sigstore bundle, verified offline against the pinned trusted root.

The signer had a key for some minutes only. A certificate binds it to an identity (a person's mail address, a CI job's
URI) that an issuer vouched for; a transparency log and, for newer logs, a timestamp authority say when it was used.
All of them are known from one document, the trusted root, whose digest stands in the signed registry. Nothing is
fetched: neither the root nor the log is asked.

An identity is always subject **and** issuer, equal to the letter: anybody can run an issuer that says "I am you".
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from calaudit.errors import CalauditError, Malformed
from calaudit.trust.envelope import parse_bundle
from calaudit.trust.keyless_root import TrustedRoot, parse_document

if TYPE_CHECKING:
    from calaudit.trust.keyless_library import Signer

__all__ = ["KeylessFault", "KeylessStranger", "KeylessUnavailable", "keyless_signer", "reason_of", "verify_bundle"]

_REASON_MAX = 240
"""Characters of a library's message that are passed on; it may quote the whole bundle."""


class KeylessFault(CalauditError):
    """A bundle does not prove that one of the expected people signed; ``message`` is a sentence that says why."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class KeylessStranger(KeylessFault):
    """The bundle verifies, and who signed it is none of the expected people."""


class KeylessUnavailable(KeylessFault):
    """The bundle could not be verified here, which says nothing about it: sigstore is not installed."""


def verify_bundle(bundle: bytes, *, trusted_root: bytes, identities: Sequence[tuple[str, str]]) -> int:
    """Verify a bundle and return which of ``identities``, each (subject, issuer), signed it: the index of the first.

    What was verified is the payload that :func:`calaudit.trust.envelope.parse_bundle` reads from the same bytes.

    Raises:
        KeylessUnavailable: sigstore is not installed.
        KeylessStranger: it verifies, but somebody else signed it.
        KeylessFault: the bundle does not verify, or an expected identity is empty.
    """
    if not identities or not all(subject and issuer for subject, issuer in identities):
        raise KeylessFault("A keyless owner is a subject and an issuer, and neither may be empty.")
    signer = keyless_signer(bundle, trusted_root=trusted_root)
    for index, (subject, issuer) in enumerate(identities):
        if (subject, issuer) == (signer.identity, signer.issuer):
            return index
    expected = " or ".join(f"{subject} (issuer {issuer})" for subject, issuer in identities)
    raise KeylessStranger(
        f"The bundle was signed by {signer.identity} (issuer {signer.issuer}); expected was {expected}."
    )


def keyless_signer(bundle: bytes, *, trusted_root: bytes) -> "Signer":
    """Verify a bundle in everything but who signed it, and return who did. The caller must judge them.

    Raises:
        KeylessUnavailable: sigstore is not installed.
        KeylessFault: the bundle does not verify.
    """
    try:
        envelope = parse_bundle("", bundle)
        document = parse_document(bundle, "bundle")
        root = TrustedRoot.parse(trusted_root)
    except Malformed as error:
        raise KeylessFault(error.message) from error
    try:
        from calaudit.trust import keyless_library  # noqa: PLC0415 - half a second, and an optional dependency
    except ImportError as error:
        raise KeylessUnavailable(
            f"Keyless signatures cannot be verified here ({error}): install calaudit[keyless]."
        ) from error
    try:
        return keyless_library.verified_signer(document, envelope, root)
    except Malformed as error:
        raise KeylessFault(error.message) from error
    except Exception as error:  # the library raises whatever its dependencies do: ValueError, KeyError, TypeError, …
        raise KeylessFault(f"The bundle does not verify: {reason_of(error)}") from error


def reason_of(error: Exception) -> str:
    """What an exception of a library says, in one line that ends with a full stop, and the notes added to it.

    Where it says nothing, as some do, its cause is asked.
    """
    text = " ".join(str(error).split())
    if not text and isinstance(error.__cause__, Exception):
        return reason_of(error.__cause__)
    text = text or type(error).__name__
    if len(text) > _REASON_MAX:
        text = text[:_REASON_MAX] + "…"
    return " ".join([text.rstrip(".") + ".", *getattr(error, "__notes__", [])])

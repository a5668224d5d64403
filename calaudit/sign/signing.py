"""Putting a signature under a draft: by a key, or keyless; and keeping it only if verification takes it."""

from dataclasses import dataclass
from pathlib import Path

from securesystemslib.signer import Signer

from calaudit.errors import CalauditError, UsageError
from calaudit.sign.authority import accepted, check_key
from calaudit.sign.envelopes import add_signature, sign_payload, to_bytes
from calaudit.sign.port_files import remove, write
from calaudit.sign.signoff import Draft
from calaudit.trust import Trust
from calaudit.trust.envelope import parse_bundle, parse_envelope
from calaudit.trust.registry import Registry
from calaudit.trust.signatures import meets

__all__ = ["Signed", "sign_draft", "sign_draft_keyless"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Signed:
    """What was written (a path below the port), and how many owners of the role have signed it, of how many."""

    path: str
    count: int
    threshold: int

    @property
    def missing(self) -> int:
        """How many owners still have to sign."""
        return max(0, self.threshold - self.count)


def sign_draft(port: Path, draft: Draft, signer: Signer, trust: Trust, registry: Registry) -> Signed:
    """Sign by a key.

    Raises:
        UsageError: the key does not speak for the role, has signed already, or does not answer.
    """
    check_key(signer.public_key.keyid, draft.role, registry)
    kept = draft.envelope
    if kept is None:
        data = sign_payload(draft.payload, [signer])
    else:
        before = to_bytes(kept.payload, kept.signatures)
        data = add_signature(before, signer, expected=draft.payload, allowed=draft.role.keys)
    path = draft.envelope_path
    others = [e for e in draft.kept if e is not kept]
    signed = accepted([*others, parse_envelope(path, data)], [draft.role], trust, registry, prefix="signoff")
    return _kept(port, draft, path, data, meets(signed, draft.role))


def sign_draft_keyless(  # noqa: PLR0913 - what is signed, and by what
    port: Path, draft: Draft, trust: Trust, registry: Registry, *, token: str, trust_config: Path
) -> Signed:
    """Sign by an identity.

    Raises:
        UsageError: the identity does not speak for the role, or a service refused.
    """
    from calaudit.sign.keyless import sign_bundle  # noqa: PLC0415 - an optional dependency that takes long to import

    try:
        data = sign_bundle(draft.payload, trust_config=trust_config, token=token)
    except UsageError:
        raise
    except CalauditError as error:
        raise UsageError(str(error)) from error
    path = draft.bundle_path()
    signed = accepted([*draft.kept, parse_bundle(path, data)], [draft.role], trust, registry, prefix="signoff")
    return _kept(port, draft, path, data, meets(signed, draft.role))


def _kept(port: Path, draft: Draft, path: str, data: bytes, count: int) -> Signed:
    write(port, path, data)
    for envelope in draft.stale:
        if envelope.path != path:
            remove(port, envelope.path)
    return Signed(path=path, count=count, threshold=draft.role.threshold)

"""Whose signatures an envelope carries: every one of them is by a key of the roles that may sign, or it is refused.

A signature too many is a failure, not noise: whoever adds a stranger's signature wants it to be seen as something.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from securesystemslib.exceptions import Error as SecureSystemsError
from securesystemslib.signer import Key
from securesystemslib.signer import Signature as LibrarySignature

from calaudit.model import Kind, Location
from calaudit.trust.envelope import Envelope, Signature
from calaudit.trust.fault import Refused
from calaudit.trust.keys import identity, is_keyless
from calaudit.trust.registry import Owner, Registry, Role

__all__ = ["Signer", "meets", "signers"]


@dataclass(frozen=True, slots=True)
class Signer:
    """One verified signature: the role it speaks for, its key and the owner of the key."""

    role: str
    keyid: str
    owner: Owner


def signers(
    envelopes: Sequence[Envelope],
    roles: Iterable[Role],
    registry: Registry,
    sigstore_root: bytes | None,
    *,
    prefix: str,
) -> tuple[Signer, ...]:
    """Everybody who signed the envelopes, which carry one payload.

    ``prefix`` begins the names of the rules (``signoff``, ``waiver``, ``attestation``).

    Raises:
        Refused: ``<prefix>-revoked``, ``<prefix>-wrong-role`` or ``<prefix>-signature-invalid``.
    """
    allowed = {keyid: (role, key) for role in roles for keyid, key in role.keys.items()}
    found: dict[str, Signer] = {}
    for envelope in envelopes:
        at = Location(path=envelope.path)
        if envelope.bundle is not None:
            one = [_keyless(envelope, envelope.bundle, allowed, sigstore_root, prefix)]
        else:
            one = [_key(envelope, signature, allowed, registry, prefix) for signature in envelope.signatures]
        for signer in one:
            if signer.keyid in found:
                raise Refused(
                    f"{prefix}-signature-invalid", f"The key {signer.keyid[:8]} signed twice; a key signs once.", at=at
                )
            found[signer.keyid] = signer
    return tuple(found.values())


def meets(signed: Iterable[Signer], role: Role) -> int:
    """How many different owners of a role signed: what its threshold is compared with."""
    return len({signer.owner.name for signer in signed if signer.role == role.name})


def _key(
    envelope: Envelope,
    signature: Signature,
    allowed: Mapping[str, tuple[Role, Key]],
    registry: Registry,
    prefix: str,
) -> Signer:
    at, keyid = Location(path=envelope.path), signature.keyid
    if keyid in registry.revoked:
        raise Refused(f"{prefix}-revoked", f"The key {keyid[:8]} is revoked: {registry.revoked[keyid]}", at=at)
    if keyid not in allowed:
        raise Refused(f"{prefix}-wrong-role", _stranger(keyid, allowed, registry), at=at)
    role, key = allowed[keyid]
    try:
        key.verify_signature(LibrarySignature(keyid, signature.value.hex()), envelope.signed_bytes)
    except SecureSystemsError as error:
        raise Refused(
            f"{prefix}-signature-invalid",
            f"The signature of {role.owner_of(keyid).name} ({keyid[:8]}) does not fit these bytes.",
            at=at,
        ) from error
    return Signer(role.name, keyid, role.owner_of(keyid))


def _keyless(
    envelope: Envelope,
    bundle: bytes,
    allowed: Mapping[str, tuple[Role, Key]],
    sigstore_root: bytes | None,
    prefix: str,
) -> Signer:
    # Half a second of imports: only when a bundle is met.
    from calaudit.trust.keyless import (  # noqa: PLC0415
        KeylessFault,
        KeylessStranger,
        KeylessUnavailable,
        verify_bundle,
    )

    at = Location(path=envelope.path)
    keyless = [(keyid, role, identity(key)) for keyid, (role, key) in allowed.items() if is_keyless(key)]
    if not keyless or sigstore_root is None:
        raise Refused(f"{prefix}-wrong-role", "Nobody who may sign here signs without a key.", at=at)
    try:
        index = verify_bundle(bundle, trusted_root=sigstore_root, identities=[who for _, _, who in keyless])
    except KeylessUnavailable as error:
        raise Refused(f"{prefix}-signature-invalid", str(error), at=at, kind=Kind.OPEN) from error
    except KeylessStranger as error:
        raise Refused(f"{prefix}-wrong-role", str(error), at=at) from error
    except KeylessFault as error:
        raise Refused(f"{prefix}-signature-invalid", str(error), at=at) from error
    keyid, role, _ = keyless[index]
    return Signer(role.name, keyid, role.owner_of(keyid))


def _stranger(keyid: str, allowed: Mapping[str, tuple[Role, Key]], registry: Registry) -> str:
    may = " or ".join(sorted({role.name for role, _ in allowed.values()})) or "anybody"
    for role in registry.roles.values():
        if keyid in role.keys:
            return f"{role.owner_of(keyid).name} signed for {role.name}; here only {may} signs."
    return f"The key {keyid[:8]} is nobody's in the registry; here only {may} signs."

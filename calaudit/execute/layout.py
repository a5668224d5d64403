"""``calaudit layout``: the steps of a port as an in-toto layout, signed by one release owner after the other.

What is compiled is what verification will compile: the same function, of the same ``port.yaml`` and registry.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from securesystemslib.signer import Signer

from calaudit.contract import Schemas
from calaudit.errors import Malformed, UsageError
from calaudit.execute.manifest import MANIFEST, chain_of
from calaudit.sign.authority import accepted, check_key, role_of
from calaudit.sign.envelopes import add_signature, sign_payload, to_bytes
from calaudit.sign.statements import to_payload
from calaudit.trust import Trust
from calaudit.trust.envelope import SIZE_MAX, Envelope, parse_envelope
from calaudit.trust.layout import library_layout, parse_layout
from calaudit.trust.layout_rules import compile_layout
from calaudit.trust.moment import parse_time
from calaudit.trust.registry import Registry, Role
from calaudit.trust.roles import RELEASE
from calaudit.trust.signatures import meets
from calaudit.trust.steps import ChainStep

__all__ = ["LayoutDraft", "SignedLayout", "prepare_layout", "sign_layout"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutDraft:
    """A layout that is about to be signed.

    ``kept`` is the envelope with the same layout that others signed before; ``replaced`` whether another one is there.
    """

    chain: tuple[ChainStep, ...]
    document: Mapping[str, Any]
    payload: bytes
    role: Role
    kept: Envelope | None
    replaced: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedLayout:
    """The envelope as it is now, and how many owners of release have signed it."""

    data: bytes
    count: int
    threshold: int


def prepare_layout(  # noqa: PLR0913 - what it is made of, by name
    manifest: Mapping[str, Any],
    registry: Registry,
    schemas: Schemas,
    there: Path,
    *,
    expires: datetime | None,
    default_expires: datetime,
    now: datetime,
) -> LayoutDraft:
    """The layout of a port; ``there`` is the file that may hold it already.

    ``expires`` is what somebody asked for: without it the end of the layout that is there stands.

    Raises:
        UsageError: the port has no steps, or they cannot be laid out.
    """
    role = role_of(registry, RELEASE)
    chain = chain_of(manifest)
    if not chain:
        raise UsageError(f"{MANIFEST} declares no steps, so that there is nothing to lay out.")
    found = _found(there)
    same = None if found is None else _same(found, manifest["id"], chain, registry, schemas)
    if found is not None and same is not None and now < same[1] and expires in (None, same[1]):
        return LayoutDraft(chain=chain, document=same[0], payload=found.payload, role=role, kept=found, replaced=False)
    if (expires or default_expires) <= now:
        raise UsageError("The layout would be over before it begins; say a later --expires.")
    try:
        document = compile_layout(manifest["id"], chain, registry, expires or default_expires)
        library_layout(document)
    except Malformed as error:
        raise UsageError(f"{MANIFEST}: {error.message}") from error
    return LayoutDraft(
        chain=chain,
        document=document,
        payload=to_payload(document),
        role=role,
        kept=None,
        replaced=there.exists(),
    )


def sign_layout(draft: LayoutDraft, signer: Signer, trust: Trust, registry: Registry) -> SignedLayout:
    """Sign it by one key of a release owner.

    Raises:
        UsageError: the key does not speak for release, has signed already, or does not answer.
    """
    check_key(signer.public_key.keyid, draft.role, registry)
    if draft.kept is None:
        data = sign_payload(draft.payload, [signer])
    else:
        before = to_bytes(draft.kept.payload, draft.kept.signatures)
        data = add_signature(before, signer, expected=draft.payload, allowed=draft.role.keys)
    signed = accepted([parse_envelope("root.layout", data)], [draft.role], trust, registry, prefix="layout")
    return SignedLayout(data=data, count=meets(signed, draft.role), threshold=draft.role.threshold)


def _same(
    found: Envelope, port: str, chain: Sequence[ChainStep], registry: Registry, schemas: Schemas
) -> tuple[dict[str, Any], datetime] | None:
    """The layout that is there and its end, if it is the one that would be compiled with this end.

    Whatever else it is, a new one takes its place, and whoever signs is told.
    """
    try:
        document = parse_layout(found, schemas)
        until = parse_time(document["expires"])
        wanted = compile_layout(port, chain, registry, until)
    except Malformed:
        return None
    return (document, until) if document == wanted else None


def _found(path: Path) -> Envelope | None:
    """The envelope in a file; None where there is none, or something else."""
    try:
        with path.open("rb") as file:
            return parse_envelope(path.name, file.read(SIZE_MAX + 1))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
    except Malformed:
        return None

"""Bundles for tests: signed by sigstore-python itself, and edited."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from sigstore.dsse import Statement
from sigstore.models import ClientTrustConfig
from sigstore.oidc import IdentityToken
from sigstore.sign import SigningContext

from calaudit.trust.keyless import KeylessFault, verify_bundle
from tests.sigstore.loopback import OWNER, STATEMENT, Loopback

Document = dict[str, Any]


class Bundles(NamedTuple):
    """One bundle of each kind, and what verifies them."""

    v1: bytes
    v2: bytes
    stamped: bytes
    root: bytes


def context(loopback: Loopback, *, rekor: int = 1, timestamps: bool | None = None) -> SigningContext:
    config = json.dumps(loopback.client_config(rekor=rekor, timestamps=timestamps))
    return SigningContext.from_trust_config(ClientTrustConfig.from_json(config))


def signed(
    loopback: Loopback,
    payload: bytes = STATEMENT,
    *,
    rekor: int = 1,
    timestamps: bool | None = None,
    token: str | None = None,
) -> bytes:
    """A bundle over a statement, unchecked: what calaudit refuses to write can be made here."""
    identity = IdentityToken(token or loopback.token())
    with context(loopback, rekor=rekor, timestamps=timestamps).signer(identity) as signer:
        return signer.sign_dsse(Statement(payload)).to_json().encode()


def edited(bundle: bytes, edit: Callable[[Document], object]) -> bytes:
    """A bundle after ``edit`` changed its document in place."""
    document = json.loads(bundle)
    edit(document)
    return json.dumps(document).encode()


def material(document: Document) -> Document:
    found: Document = document["verificationMaterial"]
    return found


def entry(document: Document) -> Document:
    found: Document = material(document)["tlogEntries"][0]
    return found


def refused(bundle: bytes, root: bytes | Document, *identities: tuple[str, str]) -> str:
    """The sentence with which a bundle is refused."""
    trusted = root if isinstance(root, bytes) else json.dumps(root).encode()
    with pytest.raises(KeylessFault) as caught:
        verify_bundle(bundle, trusted_root=trusted, identities=identities or [OWNER])
    message = caught.value.message
    assert message[0].isupper()
    assert message.rstrip().endswith((".", "…"))
    assert "\n" not in message
    return message

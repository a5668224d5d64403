"""Sign without a key of one's own: an identity provider's token buys a certificate for some minutes.

Where to sign is always said by a client trust configuration, which an organisation hands out; the public instance is
never contacted by default, since a signature there publishes who signed what for good.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from calaudit.errors import CalauditError, Malformed, UsageError
from calaudit.trust.envelope import parse_bundle
from calaudit.trust.keyless import KeylessFault, KeylessUnavailable, keyless_signer, reason_of
from calaudit.trust.keyless_root import parse_document

__all__ = ["TOKEN_VARIABLES", "sign_bundle", "token_from"]

TOKEN_VARIABLES = ("SIGSTORE_IDENTITY_TOKEN", "SIGSTORE_ID_TOKEN")
"""Environment variables that hold a token, as sigstore-python and cosign name them; the first that is set counts."""

CONFIG_SIZE_MAX = 1 << 20
"""Bytes of a client trust configuration."""

_ANSWER_MAX = 200
"""Characters of a service's answer that are passed on."""


def token_from(environment: Mapping[str, str]) -> str:
    """The identity token that a CI system or a person put into the environment.

    Raises:
        UsageError: there is none.
    """
    for name in TOKEN_VARIABLES:
        token = environment.get(name, "").strip()
        if token:
            return token
    raise UsageError(f"No identity token: set {' or '.join(TOKEN_VARIABLES)} to one for the audience 'sigstore'.")


def sign_bundle(payload: bytes, *, trust_config: Path, token: str) -> bytes:
    """Sign a statement's bytes as they are and return the Sigstore bundle.

    What the services gave is verified against the trusted root of the same configuration before it is returned, so a
    bundle that nobody would accept is never written.

    Raises:
        UsageError: the trust configuration, the token or the statement cannot be used.
        KeylessUnavailable: sigstore is not installed.
        KeylessFault: a service refused, did not answer, or gave what does not verify.
    """
    config = _read_config(trust_config)
    try:
        from calaudit.sign import keyless_client  # noqa: PLC0415 - half a second, and an optional dependency
    except ImportError as error:
        raise KeylessUnavailable(
            f"Keyless signing is not possible here ({error}): install calaudit[keyless]."
        ) from error
    try:
        bundle = keyless_client.signed_bundle(payload, json.dumps(config), token)
    except CalauditError:
        raise
    except Exception as error:  # the library raises whatever its dependencies do, down to the sockets
        reason = (reason_of(error) + _answer(error)).replace(token, "[token]")
        raise KeylessFault(f"Nothing was signed with {trust_config}: {reason}") from error
    keyless_signer(bundle, trusted_root=json.dumps(config["trustedRoot"]).encode())
    if parse_bundle(str(trust_config), bundle).payload != payload:
        raise KeylessFault("Nothing was signed: the library changed the statement before it signed it.")
    return bundle


def _answer(error: BaseException | None) -> str:
    """What the service that refused said itself, as a sentence; the library passes on only the status."""
    while error is not None:
        text = getattr(getattr(error, "response", None), "text", None)
        if isinstance(text, str) and text.strip():
            return f" The service said: {' '.join(text.split())[:_ANSWER_MAX]}."
        error = error.__cause__ or error.__context__
    return ""


def _read_config(path: Path) -> dict[str, object]:
    try:
        with path.open("rb") as file:
            data = file.read(CONFIG_SIZE_MAX + 1)
    except OSError as error:
        raise UsageError(f"The trust configuration {path} cannot be read: {error.strerror}.") from error
    if len(data) > CONFIG_SIZE_MAX:
        raise UsageError(f"The trust configuration {path} is larger than {CONFIG_SIZE_MAX} bytes.")
    try:
        config = parse_document(data, f"trust configuration {path}")
    except Malformed as error:
        raise UsageError(error.message) from error
    if not isinstance(config.get("trustedRoot"), dict) or not isinstance(config.get("signingConfig"), dict):
        raise UsageError(
            f"{path} is no client trust configuration: it needs trustedRoot (whom to trust) and signingConfig (where "
            "to sign). `sigstore` and `cosign` read the same file."
        )
    return config

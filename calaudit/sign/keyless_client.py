"""The only place of sign that imports sigstore-python, as :mod:`calaudit.trust.keyless_library` is for trust."""

import logging

from sigstore.dsse import Statement
from sigstore.errors import Error as SigstoreError
from sigstore.models import ClientTrustConfig
from sigstore.oidc import IdentityError, IdentityToken
from sigstore.sign import SigningContext

from calaudit.errors import UsageError
from calaudit.trust.keyless import reason_of

__all__ = ["signed_bundle"]

logging.getLogger("sigstore").addHandler(logging.NullHandler())


def signed_bundle(payload: bytes, config: str, token: str) -> bytes:
    """Sign a statement by the services of a client trust configuration.

    Raises:
        UsageError: the configuration, the token or the statement is not one.
        Exception: anything that the library, or the network below it, raises.
    """
    try:
        services = ClientTrustConfig.from_json(config)
        stamped = bool(services.signing_config.get_tsas())
        context = SigningContext.from_trust_config(services)
    except (SigstoreError, ValueError) as error:
        raise UsageError(f"The trust configuration cannot be used to sign: {reason_of(error)}") from error
    try:
        identity = IdentityToken(token)
    except IdentityError as error:
        raise UsageError(f"The identity token cannot be used: {reason_of(error)} Fetch a new one.") from error
    try:
        statement = Statement(payload)
    except SigstoreError as error:
        raise UsageError(f"Only an in-toto statement is signed: {reason_of(error)}") from error
    with context.signer(identity) as signer:
        bundle = signer.sign_dsse(statement)
    if stamped and not bundle.verification_material.timestamp_verification_data:
        raise RuntimeError("the timestamp authority of the trust configuration gave no timestamp")
    return bundle.to_json().encode() + b"\n"

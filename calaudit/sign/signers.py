"""Signers by URI: a key file, a token, a cloud's key management; securesystemslib does the talking.

``file2:PATH`` or just a path, ``hsm:[ID][?label=TOKEN]``, ``awskms:``, ``gcpkms:``, ``azurekms:``, ``hv:``.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from urllib import parse

from securesystemslib import signer as sslib
from securesystemslib.exceptions import UnsupportedLibraryError, UnverifiedSignatureError
from securesystemslib.signer import Key, Signature, Signer

from calaudit.errors import UsageError
from calaudit.sign.key_files import load_private
from calaudit.sign.passphrases import Passphrases
from calaudit.trust.keys import key_id, material

__all__ = ["SCHEMES", "load_signer", "signature_of"]

_Import = Callable[[str, Passphrases], Key]


@dataclass(frozen=True, slots=True)
class _Remote:
    """A kind of key that is not a file: what to install for it, and how to ask for its public half."""

    extra: str
    public: _Import


def load_signer(uri: str, passphrases: Passphrases) -> Signer:
    """The signer that a URI names; its public key has the id that verification will ask for.

    Raises:
        UsageError: the URI names nothing that can sign, or what it names does not answer.
    """
    scheme, path = _split(uri)
    if scheme == "file2":
        return load_private(Path(path), passphrases)
    remote = _REMOTE[scheme]
    handler = passphrases.secret
    try:
        public = remote.public(uri, passphrases)
        _check(uri, public)
        return Signer.from_priv_key_uri(uri, public, lambda what: handler(f"{what.upper()} of {uri}"))
    except UsageError:
        raise
    except UnsupportedLibraryError as error:
        raise UsageError(_not_installed(scheme)) from error
    except Exception as error:  # noqa: BLE001 - whatever a token or a cloud raises becomes a sentence
        raise _silent(uri, error) from None


def signature_of(signer: Signer, data: bytes) -> Signature:
    """A signature that verifies.

    Raises:
        UsageError: the signer does not answer, or what it gave does not verify.
    """
    name = signer.public_key.keyid[:8]
    try:
        signature = signer.sign(data)
    except UsageError:
        raise
    except Exception as error:  # noqa: BLE001 - as above
        raise _silent(f"key {name}", error) from None
    try:
        signer.public_key.verify_signature(signature, data)
    except UnverifiedSignatureError as error:
        raise UsageError(f"The signature by key {name} does not verify: the token signs with another key.") from error
    return signature


def _split(uri: str) -> tuple[str, str]:
    """Scheme and rest; what has no scheme of ours is a path."""
    scheme, colon, rest = uri.partition(":")
    if colon and scheme in ("file", "file2"):
        return "file2", rest
    if colon and scheme in _REFUSED:
        raise UsageError(f"{uri}: {_REFUSED[scheme]}")
    if colon and scheme in _REMOTE:
        return scheme, rest
    if colon and "/" not in scheme and not os.path.lexists(uri):
        raise UsageError(f"{uri}: there is no kind of key {scheme!r}; there are {', '.join(SCHEMES)}, and paths.")
    return "file2", uri


def _check(uri: str, key: Key) -> None:
    try:
        material(key)
    except ValueError as error:
        raise UsageError(f"{uri}: this key would not count ({error}).") from error
    if key.keyid != key_id(key):
        raise UsageError(f"{uri}: its key id is not the digest of the key, so it would not count.")


def _silent(what: str, error: Exception) -> UsageError:
    # Only ValueErrors of securesystemslib are sentences about the token or key; others may quote what was sent.
    told = f"{type(error).__name__}: {error}" if type(error) is ValueError else type(error).__name__
    return UsageError(f"{what} cannot sign ({told}).")


def _not_installed(scheme: str) -> str:
    extra = _REMOTE[scheme].extra
    return f"{scheme}: keys need a package that is not installed. Run: pip install 'securesystemslib[{extra}]'"


def _hsm(uri: str, passphrases: Passphrases) -> Key:
    module = os.environ.get("PYKCS11LIB", "")
    if not Path(module).is_file():
        raise UsageError(
            f"{uri}: set PYKCS11LIB to the PKCS #11 module of the token (found {module or 'nothing'}), for example "
            "libsofthsm2.so or libykcs11.so."
        )
    parts = parse.urlparse(uri)
    if parts.path and not parts.path.isdecimal():
        raise UsageError(f"{uri}: after hsm: stands the number of the key on the token, for example hsm:2.")
    label = dict(parse.parse_qsl(parts.query)).get("label")
    keyid = int(parts.path) if parts.path else None
    return sslib.HSMSigner.import_(keyid, label, lambda what: passphrases.secret(f"{what.upper()} of {uri}"))[1]


def _aws(uri: str, _: Passphrases) -> Key:
    return sslib.AWSSigner.import_(_rest(uri), "ecdsa-sha2-nistp256")[1]


def _gcp(uri: str, _: Passphrases) -> Key:
    return sslib.GCPSigner.import_(_rest(uri))[1]


def _azure(uri: str, _: Passphrases) -> Key:
    parts = parse.urlparse(uri)
    names = parts.path.strip("/").split("/")
    if not parts.hostname or len(names) < 2:
        raise UsageError(f"{uri}: expected azurekms://<vault>.vault.azure.net/keys/<name>/<version>.")
    return sslib.AzureSigner.import_(parts.hostname.partition(".")[0], names[1])[1]


def _vault(uri: str, _: Passphrases) -> Key:
    name, slash, version = _rest(uri).partition("/")
    if not slash or not version.isdecimal():
        raise UsageError(f"{uri}: expected hv:<key name>/<version>.")
    return sslib.VaultSigner.import_(name)[1]


def _rest(uri: str) -> str:
    return uri.partition(":")[2]


_REMOTE: Mapping[str, _Remote] = MappingProxyType(
    {
        "hsm": _Remote("hsm", _hsm),
        "awskms": _Remote("awskms", _aws),
        "gcpkms": _Remote("gcpkms", _gcp),
        "azurekms": _Remote("azurekms", _azure),
        "hv": _Remote("vault", _vault),
    }
)
_REFUSED = MappingProxyType(
    {
        "gnupg": "OpenPGP signatures cover headers that an envelope has no place for; use a file or a token.",
        "sigstore": "keyless signing takes --identity-token-env and --sigstore-config instead of a key.",
    }
)

SCHEMES = ("file2:", *(f"{scheme}:" for scheme in _REMOTE))
"""The kinds of keys."""

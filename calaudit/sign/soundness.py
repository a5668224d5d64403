"""What a registry must be before anybody signs it: judged by the checks that will judge it when it is read."""

from securesystemslib.signer import Key
from tuf.api.metadata import Metadata, Root, Targets

from calaudit.contract import Schemas
from calaudit.errors import UsageError
from calaudit.sign.registry import extension
from calaudit.trust.keys import is_keyless, key_id, material
from calaudit.trust.registry import EXTENSION
from calaudit.trust.soundness import unsound
from calaudit.trust.source import TrustSource

__all__ = ["check_new_key", "check_registry", "check_root"]


def check_registry(registry: Metadata[Targets], root: Root, sigstore_root: bytes | None, schemas: Schemas) -> None:
    """Refuse what verification would refuse.

    Raises:
        UsageError: with everything that is wrong.
    """
    members = extension(registry)
    faults = [f"{EXTENSION}{fault.pointer}: {fault.message}" for fault in schemas.errors("registry/v1", members)]
    if not faults:
        source = TrustSource(roots=(), registry=None, sigstore_root=sigstore_root, origin="")
        faults = list(unsound(registry.signed, members, root, source))
    if faults:
        raise UsageError(f"roles.json version {registry.signed.version} would be refused: {' '.join(faults)}")


def check_root(root: Root) -> None:
    """Refuse a root in which a key counts twice or is not what its id says.

    Raises:
        UsageError: with what is wrong.
    """
    seen: dict[str, str] = {}
    for keyid, key in root.keys.items():
        if keyid != key_id(key) or is_keyless(key):
            raise UsageError(f"The root key {keyid[:8]} is not what its id says, or no key; do not sign this root.")
        try:
            twin = seen.setdefault(material(key), keyid)
        except ValueError as error:
            raise UsageError(f"The root key {keyid[:8]}: {error}; do not sign this root.") from error
        if twin != keyid:
            raise UsageError(f"The root keys {keyid[:8]} and {twin[:8]} are one key; do not sign this root.")


def check_new_key(key: Key, registry: Metadata[Targets], root: Root) -> None:
    """Refuse a key that is known already, under whatever id.

    Raises:
        UsageError: it is a root key, or somebody's already.
    """
    same = material(key)
    if same in {material(other) for other in root.keys.values()}:
        raise UsageError(f"{key.keyid[:8]} is a root key; whoever appoints owners owns no role by the same key.")
    delegations = registry.signed.delegations
    known = {} if delegations is None else delegations.keys
    twin = next((k for k, other in known.items() if k != key.keyid and material(other) == same), None)
    if twin is not None:
        raise UsageError(f"{key.keyid[:8]} is the key {twin[:8]}, which is in the registry already.")

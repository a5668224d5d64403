"""Throw-away keys and trust directories."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from securesystemslib.signer import CryptoSigner, Signer

from calaudit.sign.metadata import expiry, sign
from calaudit.sign.opening import open_folder
from calaudit.sign.owners import NewOwner
from calaudit.sign.registry import add_owner, new_registry
from calaudit.sign.roots import first_root
from calaudit.trust.roles import ROLES

PORT = "tiny-dense"
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def key_file(path: Path) -> CryptoSigner:
    """An unencrypted key in a file, quickly."""
    key = Ed25519PrivateKey.generate()
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    path.chmod(0o600)
    return CryptoSigner(key)


@dataclass
class Keepers:
    """A published trust directory, and the keys of everybody in it: ``<name>.pem`` in ``keys``."""

    path: Path
    keys: Path
    roots: list[Signer] = field(default_factory=list)
    owners: dict[str, list[Signer]] = field(default_factory=dict)

    def key(self, name: str) -> str:
        """The path of a key file: ``root-1`` … ``root-3``, ``model-1``, ``release-2`` …"""
        return str(self.keys / f"{name}.pem")


def keepers(folder: Path, *, port: str = PORT, owned: tuple[str, ...] = ROLES) -> Keepers:
    """A root of three keys (two sign), and a registry with one owner a role; release has two."""
    made = Keepers(folder / "trust", folder / "keys")
    made.keys.mkdir(parents=True)
    made.roots = [key_file(made.keys / f"root-{n}.pem") for n in (1, 2, 3)]
    end = expiry(None, datetime.now(UTC))
    root = first_root([s.public_key for s in made.roots], threshold=2, expires=end)
    registry = new_registry(label="tests only", ports=[port], expires=end)
    for role in owned:
        made.owners[role] = []
        for n in (1, 2) if role == "release" else (1,):
            signer = key_file(made.keys / f"{role}-{n}.pem")
            made.owners[role].append(signer)
            add_owner(registry, new_owner(role, signer, name=f"{role.title()} crew {'AB'[n - 1] * 2}"))
    for signer in made.roots[:2]:
        root, registry = sign(root, signer), sign(registry, signer)
    fresh = open_folder(made.path, new=True)
    fresh.write_root(root)
    fresh.write_registry(registry)
    assert open_folder(made.path).publish() == ("1.root.json", "roles.json")
    return made


def new_owner(role: str, *signers: Signer, name: str = "Reference crew") -> NewOwner:
    """An owner who keeps their promises."""
    return NewOwner(
        role=role,
        name=name,
        contact="mailto:crew@example.org",
        keys=tuple(s.public_key for s in signers),
        delivery_date="2026-12-01",
        delivery_version="1.0",
    )

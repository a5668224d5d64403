"""Who owns the roles of the example: made-up teams, and throw-away keys that no file ever holds.

Whoever has a copy of the example can check its signatures, and nobody can make another one: the keys end with the
process that made them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from securesystemslib.signer import CryptoSigner, Signer

from calaudit.files import write_atomic
from calaudit.sign.metadata import sign, to_bytes
from calaudit.sign.owners import NewOwner
from calaudit.sign.registry import add_owner, new_registry
from calaudit.sign.roots import first_root
from calaudit.trust.roles import FUNCTIONARY

__all__ = ["EXPIRES", "LABEL", "Owners"]

LABEL = "example-only"
EXPIRES = datetime(2046, 1, 1, tzinfo=UTC)
"""When the root ends: an example that expires would fail its tests one morning."""

_ROOT_KEYS = 3
_TEAMS = {
    "model": ("Example reference team",),
    "export": ("Example export team",),
    "quant": ("Example quantization team",),
    "compiler": ("Example NPU vendor, compiler team",),
    "runtime": ("Example runtime team",),
    "serving": ("Example serving team",),
    "release": ("Example release lead", "Example release deputy"),
}
_DELIVERY = ("2026-12-15", "1.0")


@dataclass(frozen=True)
class Owners:
    """The keys of everybody: ``root``, and those of each role and of its functionary by the role's name."""

    root: tuple[Signer, ...]
    roles: dict[str, tuple[Signer, ...]]

    @classmethod
    def make(cls) -> "Owners":
        """New keys."""
        count = {role: len(teams) for role, teams in _TEAMS.items()} | {role + FUNCTIONARY: 1 for role in _TEAMS}
        return cls(_keys(_ROOT_KEYS), {name: _keys(number) for name, number in count.items()})

    def write_trust(self, folder: Path, *, ports: Sequence[str], registry_expires: datetime = EXPIRES) -> None:
        """Write a trust directory: version 1 of root and registry, each signed by two of the three root keys."""
        registry = new_registry(label=LABEL, ports=ports, expires=registry_expires)
        for role, teams in _TEAMS.items():
            for team, signer in zip(teams, self.roles[role], strict=True):
                add_owner(registry, _owner(role, team, signer, promise=True))
            name = role + FUNCTIONARY
            add_owner(registry, _owner(name, f"Example {role} build machine", *self.roles[name], promise=False))
        root = first_root([signer.public_key for signer in self.root], threshold=None, expires=EXPIRES)
        for signer in self.root[: root.signed.roles["root"].threshold]:
            root, registry = sign(root, signer), sign(registry, signer)
        folder.mkdir(parents=True, exist_ok=True)
        write_atomic(folder / "1.root.json", to_bytes(root))
        write_atomic(folder / "roles.json", to_bytes(registry))


def _keys(count: int) -> tuple[Signer, ...]:
    return tuple(CryptoSigner.generate_ed25519() for _ in range(count))


def _owner(role: str, name: str, signer: Signer, *, promise: bool) -> NewOwner:
    date, version = _DELIVERY if promise else (None, None)
    return NewOwner(
        role=role,
        name=name,
        contact=f"mailto:{role}@example.org",
        keys=(signer.public_key,),
        delivery_date=date,
        delivery_version=version,
    )

"""What a verification comes to: the trust that was established, and what of the port is signed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from calaudit.trust.fault import Fault

if TYPE_CHECKING:  # they import python-tuf, which an audit without a root does not need
    from calaudit.trust.chain import Chain
    from calaudit.trust.provenance import Provenance
    from calaudit.trust.registry import Registry
    from calaudit.trust.signoff import Signoff
    from calaudit.trust.waiver import Waiver

__all__ = ["Signed", "Slot", "Trust"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """What the pinned root vouches for at one moment.

    ``registry`` is None when something is wrong; ``faults`` then says what. ``root_expires`` is None without a root.
    """

    origin: str
    now: datetime
    faults: tuple[Fault, ...] = ()
    root_version: int = 0
    root_digest: str = ""
    root_expires: datetime | None = None
    registry: "Registry | None" = None
    sigstore_root: bytes | None = None
    rollback_checked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """Where the signoff of one role on one gate belongs. It holds only where ``signoff`` is not None.

    ``paths`` are the files that want to fill it, and ``digest`` the SHA-256 of what they sign, if that can be read.
    """

    gate: str
    role: str
    paths: tuple[str, ...] = ()
    digest: str | None = None
    signoff: "Signoff | None" = None
    fault: Fault | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Signed:
    """What signatures say of one port: only what was verified, and every fault with the rule that reports it.

    ``faults`` are those of files by themselves (``waivers/``, ``attestations/``, files that fill no slot); those of
    slots and of the trust root stand there.
    """

    trust: Trust
    slots: Mapping[tuple[str, str], Slot] = field(default_factory=dict)
    waivers: "tuple[Waiver, ...]" = ()
    attestations: "tuple[Provenance, ...]" = ()
    chain: "Chain | None" = None
    faults: tuple[Fault, ...] = ()

    def of_gate(self, gate: str) -> tuple[Slot, ...]:
        """The slots of a gate, or of the port as a whole."""
        return tuple(slot for slot in self.slots.values() if slot.gate == gate)

    def covers(self, role: str, path: str) -> bool:
        """Whether a signoff of the role that holds names the file."""
        held = (slot.signoff for slot in self.slots.values() if slot.role == role)
        return any(signoff is not None and path in signoff.artifacts for signoff in held)

    def faults_of(self, rule: str) -> Iterator[Fault]:
        """The faults that are not a slot's own: of trust and of files."""
        yield from (fault for fault in (*self.trust.faults, *self.faults) if fault.rule == rule)

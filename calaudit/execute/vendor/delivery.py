"""Where things are received, and what is received when all of it was checked."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from calaudit.contract import Contract
from calaudit.errors import UsageError
from calaudit.execute import journal
from calaudit.execute.record import Tree
from calaudit.execute.vendor.admission import Received
from calaudit.execute.vendor.tar import Limits
from calaudit.model import Report
from calaudit.trust.registry import Registry

__all__ = ["Delivery", "Desk"]


@dataclass(frozen=True, kw_only=True)
class Desk:
    """Where things are received: ``registry`` is None where nobody's signature is asked for; ``judge`` audits a folder.

    ``spaces`` is a folder for what waits; ``replace`` lets files of the port be replaced and removed.
    """

    port: Path
    contract: Contract
    judge: Callable[[Path], Report]
    spaces: Path
    now: datetime
    registry: Registry | None
    replace: bool = False
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """What came, was checked, and can be put into the port.

    ``replaced`` are the old digests of files that it replaces, ``unchanged`` the paths that are in the port as they
    came, ``removed`` what goes because it is of other files; ``signers`` says by path who signed, where that was asked.
    """

    port: Path
    files: tuple[Received, ...]
    replaced: Mapping[str, str]
    unchanged: frozenset[str]
    removed: tuple[str, ...]
    signers: Mapping[str, str]
    unsigned: tuple[str, ...]
    before: Report
    after: Report
    present: Mapping[str, str]
    tree: Tree

    @property
    def fresh(self) -> tuple[Received, ...]:
        """The files that change something."""
        return tuple(one for one in self.files if one.path not in self.unchanged)

    def land(self, *, reached: journal.Reached = lambda _: None) -> None:
        """Put it into the port, all of it or nothing.

        Raises:
            UsageError: the port changed since it was looked at.
        """
        if self.tree.digests() != self.present:
            raise UsageError("The port changed while this ran; nothing was received. Try again.")
        writes = {one.path: one.staged for one in self.fresh}
        digests = {one.path: one.sha256 for one in self.fresh}
        journal.publish(self.port, writes, self.removed, digests=digests, reached=reached)

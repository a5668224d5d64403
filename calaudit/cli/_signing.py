"""What ``signoff`` and ``waive`` have in common: the audit under one trust source, and the lines that show it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from calaudit.api import audit
from calaudit.cli._judging import remember, trust_source
from calaudit.cli._keys import say
from calaudit.cli._shared import vetter_for
from calaudit.contract import Contract, load_contract
from calaudit.model import Report
from calaudit.sign.authority import established
from calaudit.trust import Trust
from calaudit.trust.registry import Registry

__all__ = ["Judged", "judged", "some"]


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A port as it was audited, by the contract and the trust that speak for it, at the moment ``now``."""

    report: Report
    contract: Contract
    trust: Trust
    registry: Registry
    now: datetime


def judged(port: Path, *, trust: Path | None, policies: Sequence[Path], cue: Path | None) -> Judged:
    """Audit a port under the trust directory that is named, or the pinned one.

    Raises:
        UsageError: there is no trust, or it does not speak for this port.
    """
    contract = load_contract(overlays=policies)
    source = trust_source(trust)
    now = datetime.now(UTC).replace(microsecond=0)
    report = audit(port, contract=contract, trust=source, at=now, vetter=vetter_for(contract.cue, cue, port))
    remember(source, report.trust)
    found, registry = established(source, now, contract.schemas, report.port.id)
    return Judged(report=report, contract=contract, trust=found, registry=registry, now=now)


def some(lines: Iterable[str], *, limit: int | None) -> None:
    """Say lines, indented; beyond ``limit`` only how many."""
    listed = list(lines)
    for line in listed[:limit]:
        say(f"  {line}")
    if limit is not None and len(listed) > limit:
        say(f"  … and {len(listed) - limit} more (--all lists them)")

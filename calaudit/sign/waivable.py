"""What may be waived at all, by whom, and for how long."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from calaudit.contract import Contract
from calaudit.errors import Malformed, UsageError
from calaudit.model import EVERY_GATE, Artifact, GateReport, Kind, Report, Result, Rule
from calaudit.trust.moment import parse_time
from calaudit.trust.roles import RELEASE

__all__ = [
    "DAYS_MAX",
    "WaiverWish",
    "artifact_of",
    "check_waivable",
    "failures_of",
    "roles_for",
    "rule_of",
    "until_of",
]

DAYS_MAX = 366
"""Days that a waiver may last: what lasts longer is a change of the contract."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaiverWish:
    """Which failure somebody wants to let stand, why and until when.

    What is None is taken from the waiver that is there. ``id`` None: one made of gate, rule and artifact.
    """

    gate: str
    rule: str
    artifact: str
    reason: str | None = None
    ticket: str | None = None
    until: str | None = None
    id: str | None = None


def rule_of(report: Report, wish: WaiverWish) -> Rule:
    """The rule that somebody wants to waive, by its id or key.

    Raises:
        UsageError: there is none.
    """
    name = wish.rule.removeprefix(f"{wish.gate}.").removeprefix("common.")
    rule = report.rules.get(f"{wish.gate}.{name}") or report.rules.get(f"common.{name}")
    if rule is None or rule.gate not in (wish.gate, EVERY_GATE):
        raise UsageError(f"There is no rule {wish.rule} on {wish.gate} (calaudit explain --list).")
    return rule


def check_waivable(rule: Rule, contract: Contract, gate: str) -> None:
    """Refuse what nobody may waive.

    Raises:
        UsageError: the rule decides whether a port is what it says it is, or is a hard threshold.
    """
    spec = contract.gates.gates.get(gate)
    if rule.unwaivable or rule.trust:
        raise UsageError(f"{rule.key} cannot be waived: a port that breaks it is not what it says it is.")
    if spec is not None and rule.id in spec.threshold:
        raise UsageError(f"{rule.key} is a hard threshold of {gate} (runbook §15), which nobody can waive.")


def failures_of(gate: GateReport, rule: Rule, artifact: str) -> tuple[Result, ...]:
    """The failures of a rule on one artifact.

    Raises:
        UsageError: there is none, or one blocks the gate.
    """
    results = [r for r in gate.results if r.rule == rule.id]
    failed = [r for r in results if r.kind is Kind.FAIL]
    if not failed:
        kinds = ", ".join(sorted({str(r.kind) for r in results})) or "nothing"
        raise UsageError(f"{rule.key} on {gate.gate} says {kinds}; only a failure can be waived.")
    if any(r.blocks is not None for r in failed):
        raise UsageError(f"{rule.key} blocks {gate.gate}, which nobody can waive.")
    hits = tuple(r for r in failed if r.location is not None and r.location.path == artifact)
    if not hits:
        named = ", ".join(sorted({r.location.path for r in failed if r.location is not None})) or "no file"
        raise UsageError(f"{rule.key} does not fail on {artifact}; its failures name {named}.")
    return hits


def artifact_of(report: Report, path: str) -> Artifact:
    """A file that the audit read.

    Raises:
        UsageError: it read none of that name.
    """
    found = next((a for gate in report.gates for a in gate.artifacts if a.path == path), None)
    if found is None:
        raise UsageError(f"{path} is no file that was read, so a waiver cannot be bound to its bytes.")
    return found


def roles_for(contract: Contract, gate: str) -> tuple[str, ...]:
    """The roles that have to agree: the gate's, and the release role; for the port as a whole the latter alone."""
    spec = contract.gates.gates.get(gate)
    return tuple(dict.fromkeys((*(() if spec is None else spec.signers), RELEASE)))


def until_of(text: str, now: datetime) -> datetime:
    """The end of a waiver: a day (its beginning, UTC) or a moment.

    Raises:
        UsageError: it is neither, has passed, or is too far ahead.
    """
    try:
        until = parse_time(f"{text}T00:00:00Z" if len(text) == len("2027-01-31") else text)
    except Malformed as error:
        raise UsageError(
            f"--until {text} is no moment: say a day (2027-01-31), or a time in UTC (2027-01-31T12:00:00Z)."
        ) from error
    if until <= now:
        raise UsageError(f"--until {text} has passed; a waiver ends ahead.")
    if until > now.astimezone(UTC) + timedelta(days=DAYS_MAX):
        raise UsageError(f"--until {text} is more than {DAYS_MAX} days ahead; what lasts that long belongs repaired.")
    return until

"""What an audit comes to: the port, what was trusted, each gate, and the report of all of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from calaudit.model.results import Result, Rule, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """What ``port.yaml`` says of the port; the defaults stand in where it cannot be read."""

    id: str = "unknown"
    profile: str = "unknown"
    stage: str = "development"
    claim: str = "G10"


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """A file as it was read: what a signoff names."""

    path: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TechnicalVerdict:
    """What the rules without signatures and clock say of a gate; ``digest`` covers it all, and signoffs bind that."""

    verdict: Verdict
    digest: str
    results: tuple[Result, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustSummary:
    """What the audit trusted, for the reader of a report.

    ``registry_version`` and ``registry_digest`` are None without a sound registry. ``root_digest`` is what the newest
    root is remembered by, empty without one.
    """

    origin: str
    label: str | None
    root_version: int
    registry_version: int | None
    registry_digest: str | None
    rollback_checked: bool
    root_digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport:
    """The judgement of one gate.

    ``technical`` is deterministic (no clock, no signature, no machine path) and ``technical_digest`` is what a signoff
    binds; ``verdict`` adds the trust rules. ``planned`` counts the rules that had to run. ``artifacts`` are the gate's
    files; ``owned_by`` names who answers for it by the registry, ``signed_by`` those whose signoffs hold, each as
    ``name (role)``.
    """

    gate: str
    title: str
    owner: str
    back_to: str
    verdict: Verdict
    technical: Verdict
    technical_digest: str
    planned: int
    files: int
    results: tuple[Result, ...]
    artifacts: tuple[Artifact, ...] = ()
    owned_by: tuple[str, ...] = ()
    signed_by: tuple[str, ...] = ()
    cosigners: tuple[str, ...] = ()

    @property
    def owners(self) -> str:
        """The roles that answer for the gate: ``serving, runtime``."""
        return ", ".join((self.owner, *self.cosigners))

    @property
    def suppressed(self) -> tuple[Result, ...]:
        """The failures that a waiver covers."""
        return tuple(r for r in self.results if r.suppression is not None)

    @property
    def findings(self) -> tuple[Result, ...]:
        """The results somebody has to act on."""
        return tuple(r for r in self.results if r.is_finding)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything one audit found, in the order of the gates, each gate's results sorted.

    ``rules`` maps a rule key to its metadata for every rule that was planned. ``unsafe`` lists the flags that weakened
    the audit; ``notes`` what the reader must know besides the results. ``trust`` is None where no root is pinned.
    ``judged_at`` is the moment (UTC) for which expiries were judged.
    """

    port: Port
    verdict: Verdict
    exit_code: int
    gates: tuple[GateReport, ...]
    rules: Mapping[str, Rule]
    contract_digest: str
    contract_version: str
    through: str
    trust: TrustSummary | None = None
    judged_at: str = ""
    unsafe: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def results(self) -> tuple[Result, ...]:
        """All results of all gates."""
        return tuple(r for g in self.gates for r in g.results)

    @property
    def findings(self) -> tuple[Result, ...]:
        """All findings of all gates."""
        return tuple(r for r in self.results if r.is_finding)

    def rule(self, result: Result) -> Rule:
        """The metadata of the rule that gave a result."""
        found = self.rules.get(f"{result.gate}.{result.rule}") or self.rules.get(f"common.{result.rule}")
        if found is None:
            raise KeyError(f"no rule {result.rule} was planned on {result.gate}")
        return found

    def of(self, rule: str) -> list[Result]:
        """The results of one rule, by its id or its key."""
        return [r for r in self.results if rule in (r.rule, self.rule(r).key)]

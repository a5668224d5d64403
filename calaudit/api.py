"""The straight line: contract, evidence, facts, rules, verdicts, report; one call a station."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from calaudit import engine
from calaudit.checks.catalogue import catalogue
from calaudit.checks.cue_rule import Vetter, engaged
from calaudit.contract import Contract, load_contract
from calaudit.errors import UsageError
from calaudit.evidence import gather
from calaudit.evidence.root import demand_port
from calaudit.facts import Facts
from calaudit.facts.port import note_on, read_params, read_port, unread
from calaudit.garbage import uncollected
from calaudit.judgement import worse
from calaudit.model import PORT, GateReport, Port, Report, Rule, TechnicalVerdict, TrustSummary, Verdict
from calaudit.trust import Signed, Trust, TrustSource, establish

__all__ = ["audit", "exit_code"]

_EXITS = {
    Verdict.FAILED: 1,
    Verdict.BLOCKED_REPRODUCIBILITY: 1,
    Verdict.INCOMPLETE: 3,
    Verdict.BLOCKED_COMPILER: 3,
    Verdict.NOT_STARTED: 3,
    Verdict.PASSED: 0,
}


@uncollected()
def audit(  # noqa: PLR0913 - what to audit, and each thing that it is audited by
    path: Path | str,
    *,
    through: str | None = None,
    contract: Contract | None = None,
    trust: TrustSource | Path | str | None = None,
    at: datetime | None = None,
    jobs: int | None = None,
    vetter: Vetter | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Report:
    """Audit the port directory at ``path`` and say what was found.

    Args:
        path: the port directory (the one that holds ``port.yaml``).
        through: the last gate to demand; what ``port.yaml`` claims if None. Later gates that have files are judged too.
        contract: what to judge by; the shipped contract if None.
        trust: the pinned root and its registry, or a directory that holds them; it must not be inside the port. Without
            it nobody is known and every rule that needs a signature stays open: what a user pinned is not looked up.
        at: the moment for which expiries are judged; now if None.
        jobs: threads that hash, and processes that parse long JSONL; the machine's if None.
        vetter: what judges policies in CUE, where the contract has any.
        progress: called with a sentence as each station begins.

    Returns:
        The report; a faulty port gives results, never an exception.

    Raises:
        UsageError: ``path`` is not a directory, or holds the policies or the trust root that would judge it;
            ``through`` is not a gate; ``at`` has no time zone.
        ContractError: the contract is faulty, or nothing can judge its policies in CUE.
    """
    root = Path(path)
    contract = contract or load_contract()
    if through is not None and through not in contract.gates.gates:
        raise UsageError(f"There is no gate {through}; gates are {', '.join(contract.gates.gates)}.")
    demand_port(root, contract.gates.folders)
    contract.refuse_inside(root)
    now = at or datetime.now(UTC)
    if now.tzinfo is None:
        raise UsageError(f"The moment {now} has no time zone; give one in UTC.")
    source = _source(trust, root)
    notes = (*contract.notes, *engaged(contract.cue, vetter))
    checks = catalogue(contract, today=now.astimezone(UTC).date(), vetter=vetter)
    established = establish(source, now, contract.schemas)
    progress("Reading and hashing the port")
    evidence = gather(root, specs=contract.gates, schemas=contract.schemas, jobs=jobs)
    facts = Facts(evidence, contract)
    port = read_port(facts)
    through = through or port.claim
    said = note_on(facts, port, through)
    planned = engine.plan_gates(contract, facts, through)
    done = engine.run(
        contract,
        checks,
        facts,
        port=port,
        params=read_params(facts, port),
        planned=planned,
        signed=lambda technical, rules: _signed(facts, established, port, technical, rules),
        on_gate=lambda gate: progress(f"Judging {gate}"),
    )
    verdict = port_verdict(done.gates, planned)
    return Report(
        port=port,
        verdict=verdict,
        exit_code=4 if done.crashes else exit_code(verdict),
        gates=done.gates,
        rules=done.rules,
        contract_digest=contract.digest,
        contract_version=contract.version,
        through=through,
        trust=None if source is None else _summary(established),
        unsafe=_unsafe(at),
        judged_at=f"{now.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
        notes=(
            *notes,
            *([said] if said else []),
            *(f"Internal error: {crash} Please report it." for crash in done.crashes),
        ),
    )


def port_verdict(gates: Iterable[GateReport], planned: Iterable[str]) -> Verdict:
    """The worst verdict of the planned gates and of the port as a whole; INCOMPLETE where nothing was judged."""
    judged = {PORT, *planned}
    found = [report.verdict for report in gates if report.gate in judged]
    return worse(*found) if found else Verdict.INCOMPLETE


def exit_code(verdict: Verdict) -> int:
    """The process exit code of a verdict: 0 passed, 1 failed, 3 could not verify."""
    return _EXITS[verdict]


def _source(trust: TrustSource | Path | str | None, port: Path) -> TrustSource | None:
    if trust is None or isinstance(trust, TrustSource):
        return trust
    from calaudit.pins import load_directory  # noqa: PLC0415 - most audits name no directory

    folder = Path(trust).resolve()
    if port.resolve() in (folder, *folder.parents):
        raise UsageError(f"The trust root {trust} stands inside the port that it would judge; keep it outside.")
    return load_directory(Path(trust))


def _signed(
    facts: Facts, trust: Trust, port: Port, technical: Mapping[str, TechnicalVerdict], rules: Mapping[str, Rule]
) -> Signed:
    if trust.registry is None:
        return Signed(trust=trust)
    from calaudit.signed import read_signed  # noqa: PLC0415 - it imports python-tuf and cryptography

    return read_signed(
        facts.evidence, facts.contract, trust, port=port, unread=unread(facts), technical=technical, rules=rules
    )


def _unsafe(at: datetime | None) -> tuple[str, ...]:
    if at is None or at >= datetime.now(UTC) - timedelta(minutes=1):
        return ()
    return (f"--unsafe-time (judged at {at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}, in the past)",)


def _summary(trust: Trust) -> TrustSummary:
    registry = trust.registry
    return TrustSummary(
        origin=trust.origin,
        label=registry.label if registry else None,
        root_version=trust.root_version,
        root_digest=trust.root_digest,
        registry_version=registry.version if registry else None,
        registry_digest=registry.digest if registry else None,
        rollback_checked=trust.rollback_checked,
    )

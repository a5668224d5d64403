"""The straight line: contract, evidence, facts, rules, verdicts, report; one call a station."""

from collections.abc import Callable, Iterable
from pathlib import Path

from calaudit import engine
from calaudit.checks.catalogue import catalogue
from calaudit.contract import Contract, load_contract
from calaudit.errors import UsageError
from calaudit.evidence import gather
from calaudit.facts import Facts
from calaudit.facts.port import read_port
from calaudit.judgement import worse
from calaudit.model import PORT, GateReport, Report, Verdict

__all__ = ["audit", "exit_code"]

_EXITS = {
    Verdict.FAILED: 1,
    Verdict.BLOCKED_REPRODUCIBILITY: 1,
    Verdict.INCOMPLETE: 3,
    Verdict.BLOCKED_COMPILER: 3,
    Verdict.NOT_STARTED: 3,
    Verdict.PASSED: 0,
}


def audit(
    path: Path | str,
    *,
    through: str | None = None,
    contract: Contract | None = None,
    jobs: int | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Report:
    """Audit the port directory at ``path`` and say what was found.

    Args:
        path: the port directory (the one that holds ``port.yaml``).
        through: the last gate to demand; what ``port.yaml`` claims if None. Later gates that have files are judged too.
        contract: what to judge by; the shipped contract if None.
        jobs: threads that hash, and processes that parse long JSONL; the machine's if None.
        progress: called with a sentence as each station begins.

    Returns:
        The report; a faulty port gives results, never an exception.

    Raises:
        UsageError: ``path`` is not a directory, or ``through`` not a gate.
        ContractError: the contract is faulty.
    """
    root = Path(path)
    contract = contract or load_contract()
    if through is not None and through not in contract.gates.gates:
        raise UsageError(f"There is no gate {through}; gates are {', '.join(contract.gates.gates)}.")
    checks = catalogue(contract)
    progress("Reading and hashing the port")
    evidence = gather(root, specs=contract.gates, schemas=contract.schemas, jobs=jobs)
    facts = Facts(evidence, contract)
    port = read_port(facts)
    profile = contract.profiles.get(port.profile)
    params = profile.params if profile else {name: param.value for name, param in contract.params.items()}
    through = through or port.claim
    planned = engine.plan_gates(contract, facts, through)
    done = engine.run(
        contract,
        checks,
        facts,
        port=port,
        params=params,
        planned=planned,
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
        notes=tuple(f"Internal error: {crash} Please report it." for crash in done.crashes),
    )


def port_verdict(gates: Iterable[GateReport], planned: Iterable[str]) -> Verdict:
    """The worst verdict of the planned gates and of the port as a whole; INCOMPLETE where nothing was judged."""
    judged = {PORT, *planned}
    found = [report.verdict for report in gates if report.gate in judged]
    return worse(*found) if found else Verdict.INCOMPLETE


def exit_code(verdict: Verdict) -> int:
    """The process exit code of a verdict: 0 passed, 1 failed, 3 could not verify."""
    return _EXITS[verdict]

"""A signoff before it is signed: what somebody would say of a gate, or why they cannot.

The steps are those that verification takes (03), so that nobody signs what would be refused.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from calaudit.contract import Contract
from calaudit.errors import Malformed, UsageError
from calaudit.model import PORT, GateReport, Report
from calaudit.sign.authority import role_of
from calaudit.sign.grounds import Wish, check_ground, depends_of, evidence_of, subjects_of
from calaudit.sign.port_files import read_audited, slot
from calaudit.sign.statements import same_but_time, signoff_statement, to_payload
from calaudit.trust.envelope import Envelope, parse_envelope, parse_statement
from calaudit.trust.registry import Registry, Role
from calaudit.trust.signoff import APPROVE

__all__ = ["Draft", "prepare"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What is about to be signed.

    ``kept`` are envelopes in the slot that say the same, so that ``payload`` is theirs; ``stale`` those that say
    something else, which the new signature replaces.
    """

    gate: GateReport
    role: Role
    statement: Mapping[str, Any]
    payload: bytes
    kept: tuple[Envelope, ...]
    stale: tuple[Envelope, ...]

    @property
    def envelope_path(self) -> str:
        """Where signatures by keys go."""
        return f"signoffs/{self.gate.gate}.{self.role.name}.dsse.json"

    @property
    def envelope(self) -> Envelope | None:
        """The envelope that is kept, where there is one."""
        return next((e for e in self.kept if e.bundle is None), None)

    def bundle_path(self) -> str:
        """Where the next keyless signature goes."""
        taken = {e.path for e in self.kept}
        names = (f"signoffs/{self.gate.gate}.{self.role.name}.{n}.sigstore.json" for n in range(1, len(taken) + 2))
        return next(name for name in names if name not in taken)


def prepare(  # noqa: PLR0913 - what it is made of, by name
    port: Path, report: Report, contract: Contract, registry: Registry, wish: Wish, *, now: datetime
) -> Draft:
    """The signoff that somebody wishes to give.

    Raises:
        UsageError: they cannot give it; the sentence says why.
    """
    # 1. The gate was judged, and the role answers for it.
    gate = next((g for g in report.gates if g.gate == wish.gate), None)
    if gate is None:
        raise UsageError(f"There is no gate {wish.gate}; gates are {', '.join(contract.gates.gates)}, and {PORT}.")
    subjects = subjects_of(report, contract, wish.gate, wish.role)
    role = role_of(registry, wish.role)
    # 2. There is something to sign for, and a yes has its ground.
    if not subjects or gate.planned == 0:
        raise UsageError(f"{wish.gate} has no files that {wish.role} signs for.")
    if wish.decision == APPROVE:
        check_ground(report, gate, subjects)
    elif not (wish.reason or "").strip():
        raise UsageError("A rejection needs a reason (--reason).")
    # 3. What it rests on is signed.
    depends = dict(depends_of(port, report, contract, wish))
    # 4. What was relied on.
    evidence = dict(evidence_of(port, report, contract, wish.gate))
    waivers = {
        path: hashlib.sha256(_payload(read_audited(port, path, report), path)).hexdigest()
        for path in sorted({r.suppression.waiver for r in gate.results if r.suppression is not None})
    }
    statement = signoff_statement(
        report,
        gate,
        wish.role,
        registry,
        subjects=subjects,
        depends=depends,
        evidence=evidence,
        waivers=waivers,
        decision=wish.decision,
        reason=wish.reason,
        technical=wish.gate != PORT,
        now=now,
    )
    for problem in contract.schemas.errors("gate-signoff/v1", statement):
        raise UsageError(f"This cannot be signed: {problem.pointer}: {problem.message}")
    return _with_slot(
        port,
        contract,
        Draft(gate=gate, role=role, statement=statement, payload=to_payload(statement), kept=(), stale=()),
    )


def _with_slot(port: Path, contract: Contract, draft: Draft) -> Draft:
    """The draft, by what lies in its slot: the first signer's payload is kept while it still says the same."""
    found = slot(port, draft.gate.gate, draft.role.name)
    if not found:
        return draft
    first = found[0]
    try:
        statement = parse_statement(first, "gate-signoff/v1", contract.schemas)
    except Malformed:
        statement = None
    if statement is None or any(e.payload != first.payload for e in found):
        kept: tuple[Envelope, ...] = ()
    else:
        kept = found if same_but_time(statement, draft.statement) else ()
    if not kept or statement is None:
        return replace(draft, stale=found)
    return replace(draft, statement=statement, payload=first.payload, kept=kept)


def _payload(data: bytes, path: str) -> bytes:
    try:
        return parse_envelope(path, data).payload
    except Malformed as error:
        raise UsageError(f"{path} is no envelope ({error.message}).") from error

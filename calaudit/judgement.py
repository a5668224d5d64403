"""From results to verdicts: what is worst counts, and nothing passes by default."""

from collections.abc import Iterable

from calaudit.model import Kind, Level, Result, Verdict

_WORST_FIRST = (
    Verdict.FAILED,
    Verdict.BLOCKED_REPRODUCIBILITY,
    Verdict.BLOCKED_COMPILER,
    Verdict.INCOMPLETE,
    Verdict.NOT_STARTED,
    Verdict.PASSED,
)

_BLOCKED = (Verdict.BLOCKED_REPRODUCIBILITY, Verdict.BLOCKED_COMPILER)
"""What a finding can make of its own gate instead of FAILED."""


def judge(results: Iterable[Result]) -> Verdict:
    """FAILED (an error-level fail) > BLOCKED > INCOMPLETE (an error-level open) > PASSED.

    Without one error-level pass there is nothing to build a verdict on: INCOMPLETE. A failure that a waiver covers
    decides nothing; an open result cannot be waived.
    """
    decisive = [r for r in results if r.level is Level.ERROR and not (r.kind is Kind.FAIL and r.suppression)]
    if any(r.kind is Kind.FAIL and (r.blocks not in _BLOCKED or r.blocked_gates) for r in decisive):
        return Verdict.FAILED
    # A block that stops other gates (the vendor's kick-off) does not stop the gate that reports it.
    blocks = {r.blocks for r in decisive if r.is_finding and not r.blocked_gates}
    for blocked in _BLOCKED:
        if blocked in blocks:
            return blocked
    if any(r.kind is Kind.OPEN and not r.blocked_gates for r in decisive):
        return Verdict.INCOMPLETE
    return Verdict.PASSED if any(r.kind is Kind.PASS for r in decisive) else Verdict.INCOMPLETE


def blocked_gates(results: Iterable[Result]) -> dict[str, Verdict]:
    """The gates that error-level findings block, each with its worst block."""
    blocked: dict[str, Verdict] = {}
    for result in results:
        if result.blocks is not None and result.is_finding and result.level is Level.ERROR:
            for gate in result.blocked_gates:
                blocked[gate] = worse(blocked.get(gate, result.blocks), result.blocks)
    return blocked


def worse(one: Verdict, *others: Verdict) -> Verdict:
    """The worst of the verdicts."""
    return min(one, *others, key=_WORST_FIRST.index) if others else one

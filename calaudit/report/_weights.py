"""What a finding weighs, and which of several is the cause of the others."""

from collections.abc import Iterable

from calaudit.model import PORT, GateReport, Kind, Level, Report, Result

__all__ = ["blocks_later", "decides", "is_about_files", "is_unsigned", "rank", "stopped", "urgency"]

_UNREAD = frozenset(
    {
        "symlink", "special-file", "hard-link", "name-collision", "name-not-utf8", "file-unreadable",
        "changed-while-read", "path-escape",
    }
)  # fmt: skip
_UNUSABLE = frozenset(
    {
        "document-malformed",
        "schema-unknown",
        "schema-invalid",
        "control-character",
        "placeholder-left",
        "profile-unknown",
    }
)
_ABSENT = frozenset({"gate-empty", "artifact-missing"})
_DIFFERENT = frozenset({"digest-mismatch", "digest-dangling", "digest-unlisted", "chain-broken"})
_UNEXPECTED = frozenset({"artifact-unexpected"})
_CAUSES = (_UNREAD, _UNUSABLE, frozenset({"gate-empty"}), _ABSENT, _DIFFERENT, _UNEXPECTED)


def is_unsigned(report: Report, result: Result) -> bool:
    """Whether a finding only says that something is not signed yet, or cannot be verified as such."""
    return result.kind is Kind.OPEN and report.rule(result).trust


def blocks_later(result: Result) -> bool:
    """Whether a finding stops other gates and leaves the verdict of its own alone (the vendor's kick-off)."""
    return result.kind is Kind.OPEN and result.level is Level.ERROR and bool(result.blocked_gates)


def decides(result: Result) -> bool:
    """Whether a finding counts for the verdict of its gate."""
    waived = result.kind is Kind.FAIL and result.suppression is not None
    return result.is_finding and result.level is Level.ERROR and not waived and not blocks_later(result)


def stopped(results: Iterable[Result]) -> str:
    """The gates that findings stop, ``G3, G4, G5``."""
    gates = {gate for result in results if blocks_later(result) for gate in result.blocked_gates}
    return ", ".join(sorted(gates, key=lambda gate: int(gate[1:]) if gate[1:].isdigit() else -1))


def is_about_files(rule: str) -> bool:
    """Whether a rule says that a file is missing, cannot be read or is another one: nothing to go back a gate for."""
    return any(rule in causes for causes in _CAUSES)


def rank(rule: str, kind: Kind) -> int:
    """The place of a finding among those of its gate: first what the others may follow from, last what only follows."""
    if kind is Kind.OPEN and rule not in _ABSENT and rule != "file-unreadable":
        return len(_CAUSES) + 1
    for place, causes in enumerate(_CAUSES):
        if rule in causes:
            return place
    return len(_CAUSES)


def urgency(report: Report, gate: GateReport, rule: str, kind: Kind) -> tuple[int, bool, int, int]:
    """The place of a deciding finding among those of all gates: sort by it to begin with the first cause.

    Files come first. A file that is missing counts as one only where something fails on its gate or a later one: a
    gate that nobody began explains no failure before it.
    """
    order = [g.gate for g in report.gates]
    here = order.index(gate.gate)
    failing = [order.index(g.gate) for g in report.gates if any(decides(r) and r.kind is Kind.FAIL for r in g.findings)]
    if rule in _ABSENT:
        explains = gate.gate == PORT or any(here <= n for n in failing)
        group = 0 if explains else 2
    elif is_about_files(rule) and (kind is Kind.FAIL or rule == "file-unreadable"):
        group = 0
    else:
        group = 1 if kind is Kind.FAIL else 2
    return group, rule in _UNEXPECTED, here, rank(rule, kind)

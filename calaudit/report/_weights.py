"""What a finding weighs, and which of several is the cause of the others."""

from collections.abc import Iterable

from calaudit.model import PORT, GateReport, Kind, Level, Port, Report, Result

__all__ = [
    "blocks_later",
    "decides",
    "follow_rank",
    "follows",
    "has_cause",
    "is_about_files",
    "is_unsigned",
    "needs_run",
    "rank",
    "stopped",
    "urgency",
    "wait_rank",
]

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
_FOLLOWS = (
    "attestation-stale", "link-stale", "link-incomplete", "link-command-mismatch", "layout-differs-from-port",
    "waiver-stale", "signoff-stale", "signoff-incomplete", "signoff-verdict-mismatch", "signoff-chain",
    "signoff-outdated-at-release", "signoff-outdated",
)  # fmt: skip
"""What says that a run or a signature is of other bytes than those that are there: something changed after it.

In the order in which it is made good: runs, then what is signed for them.
"""

_NAMELESS = (
    "port-unregistered", "attestation-replayed", "link-name-mismatch", "waiver-replayed", "signoff-replayed",
)  # fmt: skip
_NAMELESS_ID = Port().id
"""The name of a port whose port.yaml cannot be read."""

_RUNS = frozenset({"link-missing", "rebuilds-incomplete", "isolation-too-weak"})
_GROUND = ("trust-root-missing", "registry-missing", "owner-missing")
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


def follows(report: Report, result: Result) -> bool:
    """Whether a failure follows from a change: what was run or signed before is right again once it is done again.

    Where port.yaml cannot be read the port has no name, and everything that was signed seems to be another port's.
    """
    if result.kind is not Kind.FAIL or result.suppression is not None:
        return False
    return result.rule in _FOLLOWS or (report.port.id == _NAMELESS_ID and result.rule in _NAMELESS)


def follow_rank(rule: str) -> int:
    """The place of a rule among those that follow from a change."""
    return (*_NAMELESS, *_FOLLOWS).index(rule)


def needs_run(rule: str) -> bool:
    """Whether an open trust rule waits for an attested run or build, which no signoff replaces."""
    return rule in _RUNS or rule.endswith("-unattested")


def wait_rank(rule: str) -> int:
    """The place of an open trust rule among such: whom to trust, then what is run, then what is signed."""
    if rule in _GROUND:
        return _GROUND.index(rule)
    if needs_run(rule):
        return len(_GROUND)
    # A signoff covers what the vendor and the runs leave behind, so it comes last.
    return len(_GROUND) + (2 if rule.startswith("signoff-") else 1)


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
        return len(_CAUSES) + 2
    for place, causes in enumerate(_CAUSES):
        if rule in causes:
            return place
    return len(_CAUSES) + (1 if rule in _FOLLOWS else 0)


def urgency(report: Report, gate: GateReport, rule: str, kind: Kind) -> tuple[int, bool, int, int]:
    """The place of a deciding finding among those of all gates: sort by it to begin with the first cause.

    Files come first, then what technical rules say, then trust that is broken, then what follows from a change. A file
    that is missing counts as a cause only where something fails on its gate or a later one, or was signed with it: a
    gate that nobody began explains no failure before it.
    """
    order = [g.gate for g in report.gates]
    here = order.index(gate.gate)
    failing = [order.index(g.gate) for g in report.gates if any(decides(r) and r.kind is Kind.FAIL for r in g.findings)]
    own = [r for r in gate.findings if r.rule == rule]
    if rule in _ABSENT:
        known = gate.gate == PORT or any(here <= n for n in failing) or _was_signed(report, own)
        group = 0 if known else 4
    elif is_about_files(rule) and (kind is Kind.FAIL or rule == "file-unreadable"):
        group = 0
    elif kind is not Kind.FAIL:
        group = 4
    elif any(follows(report, r) for r in own):
        group = 3
    else:
        group = 2 if any(report.rule(r).trust for r in own) else 1
    return group, rule in _UNEXPECTED, here, rank(rule, kind)


def has_cause(report: Report) -> bool:
    """Whether something is wrong from which what follows can follow."""
    return any(
        decides(r)
        and not follows(report, r)
        and (r.kind is Kind.FAIL or r.rule == "file-unreadable" or (r.rule in _ABSENT and _was_signed(report, [r])))
        for r in report.findings
    )


def _was_signed(report: Report, missing: Iterable[Result]) -> bool:
    """Whether something that was run or signed names one of the files that are missing."""
    said = [r.message for r in report.findings if follows(report, r)]
    return any(r.location is not None and any(r.location.path in message for message in said) for r in missing)

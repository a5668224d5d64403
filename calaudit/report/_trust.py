"""What a report says of trust, in words: under which root, who signed, what is waived, what weakened the audit."""

from collections.abc import Sequence

from calaudit.model import PORT, GateReport, Report, Result, Suppression

__all__ = ["because", "headline", "missing_signers", "signatures", "trusted", "unsafe", "waived"]


def headline(report: Report) -> str:
    """The verdict, which never stands without the flags that weakened the audit."""
    return f"{report.verdict}{unsafe(report)}"


def unsafe(report: Report) -> str:
    """The flags that weakened the audit, to stand behind a verdict; empty where there are none."""
    return f" (UNSAFE: {', '.join(report.unsafe)})" if report.unsafe else ""


def trusted(report: Report) -> str:
    """What was trusted: ``trust examples/trust (example-only), registry 1, root 1; rollback not checked``."""
    trust = report.trust
    if trust is None:
        return "trust none: no root is pinned, and none was named"
    if trust.registry_version is None:
        known = f"root {trust.root_version}, no registry that holds" if trust.root_version else "no root that holds"
    else:
        known = f"registry {trust.registry_version}, root {trust.root_version}"
    label = "" if trust.label is None else f" ({trust.label})"
    return f"trust {trust.origin}{label}, {known}{'' if trust.rollback_checked else '; rollback not checked'}"


def waived(report: Report) -> tuple[Result, ...]:
    """Every failure that a waiver covers."""
    return tuple(result for gate in report.gates for result in gate.suppressed)


def because(suppression: Suppression) -> str:
    """On what ground a failure is waived."""
    return (
        f"waived until {suppression.until} by {', '.join(suppression.by)}: {suppression.reason} "
        f"({suppression.ticket}; {suppression.waiver})"
    )


def signatures(report: Report) -> dict[str, tuple[str, ...]]:
    """Who signed, by the gate; only signoffs that hold, each signer once."""
    return {gate.gate: tuple(dict.fromkeys(gate.signed_by)) for gate in report.gates if gate.signed_by}


def missing_signers(report: Report, gate: GateReport, roles: Sequence[str]) -> str:
    """What is wrong with the signatures of a gate: who has not signed, or why what they signed does not hold.

    Empty where every role's signoff holds.
    """
    broken = {r.location.path: r for r in gate.findings if r.rule.startswith("signoff-") and r.location and _is_why(r)}
    there = {a.path for g in report.gates if g.gate == PORT for a in g.artifacts}
    parts = []
    for role in roles:
        if any(name.endswith(f"({role})") for name in gate.signed_by):
            continue
        begin = f"signoffs/{gate.gate}.{role}."
        fault = next((r for path, r in broken.items() if path.startswith(begin)), None)
        if fault is not None:
            parts.append(f"{role}: signed, but {fault.message.partition(';')[0].rstrip('.')}")
        elif any(path.startswith(begin) for path in there):
            parts.append(f"{role}: signed, not verified")
        else:
            known = [name.removesuffix(f" ({role})") for name in gate.owned_by if name.endswith(f" ({role})")]
            parts.append(f"{role}: unsigned{f' (to be signed by {_listed(known)})' if known else ''}")
    return "; ".join(parts)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)


def _is_why(result: Result) -> bool:
    return result.rule not in ("signoff-missing", "signoff-outdated", "signoff-duty-missing")

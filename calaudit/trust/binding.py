"""What a signoff is bound to, held against the port as it is: the slot, its bytes, the verdict, the signoffs below it.

All of that is signed, so that a signoff cannot be handed on to another gate, port or state.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calaudit.model import PORT, Kind, Location
from calaudit.trust.fault import Fault, Refused, unknown_port

__all__ = ["Below", "Expected", "demand_bound"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Below:
    """A signoff that another one rests on: its payload's digest (None without one), and the rule that refuses it."""

    digest: str | None
    fault: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What the port says today of the slot that a signoff wants to fill.

    ``artifacts`` are all files it has to name, with their SHA-256; ``files`` those of the whole port; ``waivers`` the
    payload digests of the waivers, by path; ``depends`` the signoffs that this one rests on; ``technical`` the verdict
    and its digest, None where there is no gate. ``port``, ``profile`` and ``stage`` are None where they cannot be read
    from the manifest: then no signoff of a gate holds.
    """

    port: str | None
    profile: str | None
    stage: str | None
    gate: str
    role: str
    artifacts: Mapping[str, str]
    files: Mapping[str, str]
    waivers: Mapping[str, str]
    depends: Mapping[tuple[str, str], Below]
    technical: tuple[str, str] | None
    contract_digest: str


def demand_bound(
    predicate: Mapping[str, Any], subjects: Sequence[Mapping[str, Any]], expected: Expected, at: Location
) -> Fault | None:
    """Hold what was signed against what is expected; a fault where the contract alone is another one.

    Raises:
        Refused: with the rule of the first thing that is not what was signed.
    """
    _same_slot(predicate, expected, at)
    _same_artifacts(subjects, expected, at)
    _same_papers(predicate, expected, at)
    if expected.port is None:
        raise unknown_port("signoff-replayed", predicate["port"], at)
    outdated = _same_judgement(predicate, expected, at)
    _same_chain(predicate["depends"], expected, at)
    return outdated


def _same_slot(predicate: Mapping[str, Any], expected: Expected, at: Location) -> None:
    for member in ("port", "gate", "role"):
        wanted = getattr(expected, member)
        # Of a port whose id nobody can read the rest is looked at first: what is stale is so, whatever it is called.
        if wanted is not None and predicate[member] != wanted:
            raise Refused(
                "signoff-replayed",
                f"It was signed for the {member} {predicate[member]}, and lies where one for {wanted} belongs.",
                at=at,
                expected=wanted,
                actual=predicate[member],
            )


def _same_artifacts(subjects: Sequence[Mapping[str, Any]], expected: Expected, at: Location) -> None:
    signed = {item["name"]: item["digest"]["sha256"] for item in subjects}
    if len(signed) != len(subjects):
        raise Refused("envelope-malformed", "A file stands among the subjects twice.", at=at)
    changed = sorted(name for name, digest in signed.items() if expected.artifacts.get(name) != digest)
    if changed:
        name = changed[0]
        found = expected.artifacts.get(name)
        absent = "is not there" if name not in expected.files else "is no artifact of this slot"
        what = absent if found is None else "changed"
        raise Refused(
            "signoff-stale",
            f"{name} {what}{_more(changed)}; what was signed is not what is there.",
            at=at,
            expected=signed[name],
            actual=found or "none",
        )
    missing = sorted(set(expected.artifacts) - set(signed))
    if missing:
        raise Refused("signoff-incomplete", f"It does not name {missing[0]}{_more(missing)}.", at=at)
    if not signed:
        raise Refused("signoff-incomplete", "There is nothing to sign for.", at=at)


def _same_papers(predicate: Mapping[str, Any], expected: Expected, at: Location) -> None:
    for member, there in (("evidence", expected.files), ("waivers", expected.waivers)):
        for item in predicate[member]:
            if there.get(item["name"]) != item["digest"]["sha256"]:
                raise Refused(
                    "signoff-stale",
                    f"{item['name']}, which it relied on, changed or is gone.",
                    at=at,
                    expected=item["digest"]["sha256"],
                    actual=there.get(item["name"], "none"),
                )


def _same_judgement(predicate: Mapping[str, Any], expected: Expected, at: Location) -> Fault | None:
    """Judged by today's contract the verdict is the signed one; by another one it cannot be compared."""
    # The contract decides by the profile's numbers, and what was signed under an older one shows no results to compare.
    for member in ("profile", "stage") if expected.gate != PORT else ():
        found = getattr(expected, member)
        if found is None:
            message = (
                f"It was signed for the {member} {predicate[member]}, and the port's cannot be read from port.yaml."
            )
            raise Refused("signoff-verdict-mismatch", message, at=at, kind=Kind.OPEN)
        if predicate[member] != found:
            raise Refused(
                "signoff-verdict-mismatch",
                f"It was signed for the {member} {predicate[member]}; the port's is {found}.",
                at=at,
                expected=predicate[member],
                actual=found,
            )
    bound = predicate.get("technical")
    if (bound is None) != (expected.gate == PORT):
        raise Refused("envelope-malformed", "A signoff of a gate, and only that, binds its technical verdict.", at=at)
    if predicate["contract"]["digest"] != expected.contract_digest:
        return Fault(
            rule="signoff-outdated",
            message=f"It was signed under another contract (version {predicate['contract']['version']}): other rules, "
            "another version, or other policies (--policy) than today's.",
            at=at,
            expected=expected.contract_digest,
            actual=predicate["contract"]["digest"],
        )
    if bound is not None and (bound["verdict"], bound["digest"]) != expected.technical:
        raise _other_results(bound, expected.technical or ("NOT_STARTED", ""), expected.gate, at)
    return None


def _other_results(bound: Mapping[str, Any], today: tuple[str, str], gate: str, at: Location) -> Refused:
    """Another verdict, or other results: a signoff binds their digest, so that what they were cannot be told from it.

    That the gate's files, the contract, the profile and the stage are the signed ones was seen before.
    """
    verdict, digest = today
    other = verdict != bound["verdict"]
    return Refused(
        "signoff-verdict-mismatch",
        f"It was signed for the technical verdict {bound['verdict']}; today's is "
        f"{verdict if other else f'{verdict} too, of other results'}. The files of {gate} and the contract are those "
        f"that were signed: what changed is what else the rules of {gate} read (port.yaml, files of other gates), or "
        "what could be read. A signoff holds one digest of all results, so that the rules cannot be told from it: "
        "compare with the report of that time.",
        at=at,
        expected=bound["verdict"] if other else bound["digest"],
        actual=verdict if other else digest,
    )


def _same_chain(depends: Sequence[Mapping[str, Any]], expected: Expected, at: Location) -> None:
    bound = {(item["gate"], item["role"]): item["digest"] for item in depends}
    if len(bound) != len(depends) or set(bound) != set(expected.depends):
        wanted = ", ".join(f"{gate} by {role}" for gate, role in sorted(expected.depends)) or "none"
        raise Refused("signoff-chain", f"It rests on other signoffs than it has to: {wanted}.", at=at)
    for (gate, role), digest in bound.items():
        below = expected.depends[gate, role]
        found = below.digest
        if below.fault is not None and found in (None, digest):
            message = f"The signoff of {gate} by {role}, which it rests on, does not hold ({below.fault})."
            raise Refused("signoff-chain", message, at=at)
        if found != digest:
            what = "is gone" if found is None else "was signed anew"
            raise Refused(
                "signoff-chain",
                f"The signoff of {gate} by {role}, which it rests on, {what}.",
                at=at,
                expected=digest,
                actual=found or "none",
            )


def _more(names: Sequence[str]) -> str:
    return f" (and {len(names) - 1} more)" if len(names) > 1 else ""

"""A waiver before it is signed: what may be waived at all, and who has to agree."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from securesystemslib.signer import Signer

from calaudit.contract import Contract
from calaudit.errors import Malformed, UsageError
from calaudit.model import PORT, Artifact, Report, Result
from calaudit.sign.authority import accepted, check_key, role_of
from calaudit.sign.envelopes import add_signature, sign_payload, to_bytes
from calaudit.sign.port_files import envelope_at, write
from calaudit.sign.statements import moment, to_payload, waiver_statement
from calaudit.sign.waivable import WaiverWish, artifact_of, check_waivable, failures_of, roles_for, rule_of, until_of
from calaudit.trust import Trust
from calaudit.trust.envelope import Envelope, parse_envelope, parse_statement
from calaudit.trust.moment import parse_time
from calaudit.trust.registry import Registry
from calaudit.trust.signatures import meets

__all__ = ["WaiverDraft", "missing_roles", "prepare_waiver", "sign_waiver", "signed_by"]

_FROM_THE_FIRST = ("reason", "ticket", "until")
"""What the first signer says, and the others may leave out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaiverDraft:
    """What is about to be signed; ``kept`` is the envelope that says the same already."""

    path: str
    statement: Mapping[str, Any]
    payload: bytes
    results: tuple[Result, ...]
    roles: tuple[str, ...]
    kept: Envelope | None


def prepare_waiver(  # noqa: PLR0913 - what it is made of, by name
    port: Path, report: Report, contract: Contract, registry: Registry, wish: WaiverWish, *, now: datetime
) -> WaiverDraft:
    """The waiver that somebody wishes to give.

    Raises:
        UsageError: it cannot be given; the sentence says why.
    """
    # 1. The rule failed on this artifact, and is one that may be waived.
    gate = next((g for g in report.gates if g.gate == wish.gate), None)
    if gate is None:
        raise UsageError(f"There is no gate {wish.gate}; gates are {', '.join(contract.gates.gates)}, and {PORT}.")
    rule = rule_of(report, wish)
    check_waivable(rule, contract, wish.gate)
    results = failures_of(gate, rule, wish.artifact)
    artifact = artifact_of(report, wish.artifact)
    # 2. Everybody who has to agree exists.
    roles = roles_for(contract, wish.gate)
    for name in roles:
        role_of(registry, name)
    # 3. The words: those of the waiver that is there, or new ones.
    name = wish.id or _default_id(wish.gate, rule.id, wish.artifact)
    path = f"waivers/{name}.dsse.json"
    before = envelope_at(port, path)
    kept = (
        None
        if before is None
        else _same(before, wish, rule=rule.id, artifact=artifact, port=report.port.id, contract=contract, now=now)
    )
    if kept is not None and before is not None:
        return WaiverDraft(path=path, statement=kept, payload=before.payload, results=results, roles=roles, kept=before)
    said = {member: getattr(wish, member) for member in _FROM_THE_FIRST}
    lacking = [f"--{member}" for member, value in said.items() if value is None or not value.strip()]
    if lacking:
        raise UsageError(f"A waiver says why and how long: {', '.join(lacking)} is missing.")
    statement = waiver_statement(
        artifact,
        {
            "id": name,
            "port": report.port.id,
            "gate": wish.gate,
            "rule": rule.id,
            "reason": said["reason"].strip(),
            "ticket": said["ticket"].strip(),
            "until": moment(until_of(said["until"], now)),
            "signed_on": moment(now),
        },
    )
    for problem in contract.schemas.errors("waiver/v1", statement):
        raise UsageError(f"This cannot be signed: {problem.pointer}: {problem.message}")
    return WaiverDraft(
        path=path, statement=statement, payload=to_payload(statement), results=results, roles=roles, kept=None
    )


def sign_waiver(  # noqa: PLR0913 - what is signed, by whom, and by whose leave
    port: Path, draft: WaiverDraft, role: str, signer: Signer, *, trust: Trust, registry: Registry
) -> dict[str, int]:
    """Sign and write; for each role that has to agree, how many of its owners still have to sign.

    Raises:
        UsageError: the role has no say here, the key does not speak for it, has signed already, or does not answer.
    """
    if role not in draft.roles:
        raise UsageError(f"{role} has no say here; {' and '.join(draft.roles)} sign this waiver.")
    check_key(signer.public_key.keyid, role_of(registry, role), registry)
    if draft.kept is None:
        data = sign_payload(draft.payload, [signer])
    else:
        before = to_bytes(draft.kept.payload, draft.kept.signatures)
        data = add_signature(before, signer, expected=draft.payload, allowed=role_of(registry, role).keys)
    missing = missing_roles(parse_envelope(draft.path, data), draft.roles, trust, registry)
    write(port, draft.path, data)
    return missing


def signed_by(draft: WaiverDraft, trust: Trust, registry: Registry) -> tuple[str, ...]:
    """Who signed what is kept: each owner with the role.

    Raises:
        UsageError: a signature in it would be refused.
    """
    if draft.kept is None:
        return ()
    needed = [role_of(registry, name) for name in draft.roles]
    signed = accepted([draft.kept], needed, trust, registry, prefix="waiver")
    return tuple(dict.fromkeys(f"{signer.owner.name} ({signer.role})" for signer in signed))


def missing_roles(envelope: Envelope, roles: Sequence[str], trust: Trust, registry: Registry) -> dict[str, int]:
    """For each role, how many of its owners still have to sign.

    Raises:
        UsageError: a signature in it would be refused.
    """
    needed = [role_of(registry, name) for name in roles]
    signed = accepted([envelope], needed, trust, registry, prefix="waiver")
    return {role.name: max(0, role.threshold - meets(signed, role)) for role in needed}


def _default_id(gate: str, rule: str, artifact: str) -> str:
    return f"{gate.lower()}-{rule[:48]}-{hashlib.sha256(artifact.encode()).hexdigest()[:8]}"


def _same(  # noqa: PLR0913 - what has to be the same
    envelope: Envelope,
    wish: WaiverWish,
    *,
    rule: str,
    artifact: Artifact,
    port: str,
    contract: Contract,
    now: datetime,
) -> dict[str, Any] | None:
    """What a waiver that is there says, if that is what is wished; None if it has run out or the bytes changed.

    Raises:
        UsageError: it says something else.
    """
    try:
        statement = parse_statement(envelope, "waiver/v1", contract.schemas)
        until = parse_time(statement["predicate"]["until"])
    except Malformed as error:
        raise UsageError(f"{envelope.path} is no waiver ({error.message}); remove it.") from error
    predicate, subject = statement["predicate"], statement["subject"][0]
    bound = (predicate["port"], predicate["gate"], predicate["rule"], subject["name"])
    if bound != (port, wish.gate, rule, artifact.path):
        raise UsageError(f"{envelope.path} waives something else ({' '.join(bound)}); choose another --id.")
    if until <= now or subject["digest"]["sha256"] != artifact.sha256:
        return None
    given = {
        "reason": wish.reason,
        "ticket": wish.ticket,
        "until": None if wish.until is None else moment(until_of(wish.until, now)),
    }
    other = next((m for m, value in given.items() if value is not None and value.strip() != predicate[m]), None)
    if other is not None:
        raise UsageError(
            f"{envelope.path} says another {other} ({predicate[other]}). Leave --{other} out to sign what it says, or "
            "remove the file to begin anew."
        )
    return statement

"""The statements that people sign, built from what an audit said; nothing here reads a file or knows the time."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import rfc8785

from calaudit.model import Artifact, GateReport, Report
from calaudit.trust.envelope import STATEMENT
from calaudit.trust.registry import Registry
from calaudit.trust.signoff import PREDICATE as SIGNOFF

__all__ = ["moment", "same_but_time", "signoff_statement", "to_payload", "waiver_statement"]

WAIVER = "urn:calaudit:predicate:waiver:v1"


def signoff_statement(  # noqa: PLR0913 - each thing that a signoff binds, by name
    report: Report,
    gate: GateReport,
    role: str,
    registry: Registry,
    *,
    subjects: Iterable[Artifact],
    depends: Mapping[tuple[str, str], str],
    evidence: Mapping[str, str],
    waivers: Mapping[str, str],
    decision: str,
    reason: str | None,
    technical: bool,
    now: datetime,
) -> dict[str, Any]:
    """What a role says of a gate.

    ``depends`` are payload digests of the signoffs that it rests on, by gate and role; ``evidence`` and ``waivers``
    digests by path; ``technical`` whether there is a technical verdict to bind (not for the port's own files).
    """
    predicate: dict[str, Any] = {
        "port": report.port.id,
        "profile": report.port.profile,
        "stage": report.port.stage,
        "gate": gate.gate,
        "role": role,
        "decision": decision,
        "contract": {"version": report.contract_version, "digest": report.contract_digest},
        "registry": {"version": registry.version, "digest": registry.digest},
        "depends": [{"gate": g, "role": r, "digest": digest} for (g, r), digest in sorted(depends.items())],
        "evidence": _named(evidence),
        "waivers": _named(waivers),
        "signed_on": moment(now),
    }
    if reason is not None:
        predicate["reason"] = reason
    if technical:
        predicate["technical"] = {"verdict": str(gate.technical), "digest": gate.technical_digest}
    return _statement(_named({a.path: a.sha256 for a in subjects}), SIGNOFF, predicate)


def waiver_statement(artifact: Artifact, predicate: Mapping[str, str]) -> dict[str, Any]:
    """That one rule may fail on one artifact for a while."""
    return _statement(_named({artifact.path: artifact.sha256}), WAIVER, dict(predicate))


def to_payload(statement: Mapping[str, Any]) -> bytes:
    """The canonical bytes (RFC 8785) that are signed."""
    return rfc8785.dumps(dict(statement))


def same_but_time(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two statements say the same, whenever they were signed."""
    return _timeless(one) == _timeless(other)


def moment(when: datetime) -> str:
    """A moment as statements write it."""
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _timeless(statement: Mapping[str, Any]) -> dict[str, Any]:
    predicate = {name: value for name, value in statement["predicate"].items() if name != "signed_on"}
    return {**statement, "predicate": predicate}


def _statement(subject: list[dict[str, Any]], kind: str, predicate: dict[str, Any]) -> dict[str, Any]:
    return {"_type": STATEMENT, "subject": subject, "predicateType": kind, "predicate": predicate}


def _named(digests: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{"name": name, "digest": {"sha256": digest}} for name, digest in sorted(digests.items())]

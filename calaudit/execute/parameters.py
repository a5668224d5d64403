"""What provenance says of how a step ran: its ``internalParameters``; ``state`` reads them back."""

from calaudit.execute.nouns import Guarantees, Record, Step
from calaudit.model import Json
from calaudit.trust.isolation import ELSEWHERE, Isolation
from calaudit.version import VERSION

__all__ = ["parameters_of_claim", "parameters_of_run"]

_CLAIMED: list[Json] = ["command", "exitCode", "startedOn", "finishedOn", "invocationId", "builder"]
_OBSERVED: list[Json] = ["materials", "products"]


def parameters_of_run(record: Record) -> dict[str, Json]:
    """Of a run that calaudit saw."""
    step, outcome, toolchain = record.step, record.outcome, record.toolchain
    return {
        **_common(step, record.executor, record.guarantees),
        "toolchain": None if toolchain is None else {"name": toolchain.name, "digest": {"sha256": toolchain.digest}},
        "versions": dict(record.versions),
        "logs": {"stdout": outcome.stdout.to_json(), "stderr": outcome.stderr.to_json()},
        "durationMs": round(outcome.duration_s * 1000),
        "peakRssBytes": outcome.peak_rss_bytes,
        "networkAttemptsWatched": outcome.network_attempts is not None,
    }


def parameters_of_claim(step: Step) -> dict[str, Json]:
    """Of a build that was done elsewhere: nothing is promised, and what is only said is told from what was seen."""
    return {
        **_common(step, ELSEWHERE, Guarantees(isolation=Isolation.NONE, network=False, inputs=False)),
        "toolchain": None,
        "claimed": list(_CLAIMED),
        "observed": list(_OBSERVED),
    }


def _common(step: Step, kind: str, guarantees: Guarantees) -> dict[str, Json]:
    secrets: list[Json] = list(step.secrets)
    return {
        "calaudit": VERSION,
        "executor": {
            "kind": kind,
            "image": step.image if kind == "oci" else None,
            "network": step.network,
            "guarantees": guarantees.to_json(),
        },
        "environment": dict(step.env),
        "secrets": secrets,
    }

"""What a functionary signs after a run: an in-toto link, and SLSA provenance that says the same.

An envelope holds one document, so there are two of them. `in-toto-verify` reads the link; the statement tells what a
link has no place for.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from in_toto.models.link import FILENAME_FORMAT
from securesystemslib.signer import Signer

from calaudit.errors import UsageError
from calaudit.execute.nouns import Record, StepFailed
from calaudit.execute.parameters import parameters_of_run
from calaudit.sign.envelopes import sign_statement
from calaudit.trust.envelope import STATEMENT
from calaudit.trust.keys import is_keyless
from calaudit.trust.link import library_link

__all__ = ["attestations", "link_document", "provenance_document", "sign_pair"]

FOLDER = "attestations"
PREDICATE = "https://slsa.dev/provenance/v1"
BUILD_TYPE = "urn:calaudit:build:step:v1"


def attestations(record: Record, signer: Signer, number: int) -> dict[str, bytes]:
    """The signed files by their paths in the port; ``number`` counts the invocations that this key attests, from 1.

    Raises:
        StepFailed: the run did not end well: nothing is signed about it.
        UsageError: the key cannot sign links, or does not answer.
    """
    if not record.outcome.good:
        raise StepFailed(f"The step {record.step.name} did not end well; nothing is signed about it.")
    return sign_pair(record.step.name, _link(record), _provenance(record), signer, number)


def sign_pair(
    step: str, link: Mapping[str, Any], provenance: Mapping[str, Any], signer: Signer, number: int
) -> dict[str, bytes]:
    """A link and the statement that says the same, signed, by their paths in the port.

    Raises:
        UsageError: the key cannot sign links, or does not answer.
    """
    if number < 1:
        raise ValueError(f"invocations are counted from 1, not {number}")
    if is_keyless(signer.public_key):
        raise UsageError("A keyless key signs bundles, which in-toto cannot read as links; use a file or a token.")
    keyid = signer.public_key.keyid
    name = FILENAME_FORMAT.format(step_name=step, keyid=keyid)
    return {
        f"{FOLDER}/{name}": sign_statement(link, [signer]),
        f"{FOLDER}/{step}.{keyid[:8]}.{number}.dsse.json": sign_statement(provenance, [signer]),
    }


def link_document(  # noqa: PLR0913 - a link's members, by name
    *,
    step: str,
    command: Sequence[str],
    materials: Mapping[str, str],
    products: Mapping[str, str],
    byproducts: Mapping[str, Any],
    environment: Mapping[str, str],
) -> dict[str, Any]:
    """The link of a step, as in-toto writes it; ``environment`` are the variables that the step sets."""
    document: dict[str, Any] = {
        "_type": "link",
        "name": step,
        "command": list(command),
        "materials": _hashes(materials),
        "products": _hashes(products),
        "byproducts": dict(byproducts),
        "environment": {"variables": [f"{name}={value}" for name, value in sorted(environment.items())]},
    }
    library_link(document)  # in-toto's own model takes it
    return document


def provenance_document(  # noqa: PLR0913 - a statement's members, by name
    *,
    port: str,
    step: str,
    gate: str,
    command: Sequence[str],
    materials: Mapping[str, str],
    products: Mapping[str, str],
    internal: Mapping[str, Any],
    builder: str,
    invocation: str,
    started: datetime,
    finished: datetime,
) -> dict[str, Any]:
    """The SLSA provenance of one invocation of a step."""
    return {
        "_type": STATEMENT,
        "subject": _resources(products),
        "predicateType": PREDICATE,
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": {"port": port, "step": step, "gate": gate, "command": list(command)},
                "internalParameters": dict(internal),
                "resolvedDependencies": _resources(materials),
            },
            "runDetails": {
                "builder": {"id": builder},
                "metadata": {
                    "invocationId": invocation,
                    "startedOn": _second(started),
                    "finishedOn": _second(finished),
                },
            },
        },
    }


def _link(record: Record) -> dict[str, Any]:
    outcome = record.outcome
    return link_document(
        step=record.step.name,
        command=record.command,
        materials=record.materials,
        products=record.products,
        byproducts={
            "return-value": outcome.exit_code,
            "stdout": outcome.stdout.tail,
            "stderr": outcome.stderr.tail,
            "stdout-sha256": outcome.stdout.sha256,
            "stderr-sha256": outcome.stderr.sha256,
        },
        environment=record.step.env,
    )


def _provenance(record: Record) -> dict[str, Any]:
    return provenance_document(
        port=record.port,
        step=record.step.name,
        gate=record.step.gate,
        command=record.command,
        materials=record.materials,
        products=record.products,
        internal=parameters_of_run(record),
        builder=record.builder,
        invocation=record.invocation,
        started=record.outcome.started,
        finished=record.outcome.finished,
    )


def _hashes(digests: Mapping[str, str]) -> dict[str, dict[str, str]]:
    return {path: {"sha256": digest} for path, digest in sorted(digests.items())}


def _resources(digests: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{"name": path, "digest": {"sha256": digest}} for path, digest in sorted(digests.items())]


def _second(moment: datetime) -> str:
    """A moment in UTC, in whole seconds: the part of a second that had begun is left out on both sides."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

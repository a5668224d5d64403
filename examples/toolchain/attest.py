"""Attesting the runs of a build: for each run that left an invocation record, what it read and what it wrote.

Call it right after :func:`examples.toolchain.build.build` made the port, on the machine that made it: an attestation is
somebody's word that a run happened.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from securesystemslib.signer import Signer

from calaudit.contract import Contract
from calaudit.errors import UsageError
from calaudit.files import write_atomic
from calaudit.harness.documents import sha256_file
from calaudit.sign.envelopes import sign_statement
from calaudit.trust.envelope import STATEMENT
from calaudit.trust.registry import FUNCTIONARY

__all__ = ["BUILDER", "attest"]

BUILDER = "urn:calaudit:executor:local:v1"
"""What ran the steps: a process on somebody's machine, without isolation."""

_RECORDS = {
    "reference": "01-reference/reference-report.json",
    "reference-again": "01-reference/run-2/reference-report.json",
    "compare": "02-onnx/onnx-report.json",
}
"""Where a step's run wrote its invocation; the other steps leave no record, and no rule asks for theirs."""


def attest(port: Path, contract: Contract, signers: Mapping[str, Signer]) -> None:
    """Write provenance for each recorded run, signed by the functionary of the step's role (by the role's name).

    Raises:
        UsageError: a statement would not follow its schema.
    """
    document = yaml.safe_load((port / "port.yaml").read_bytes())
    files = [path.relative_to(port).as_posix() for path in sorted(port.rglob("*")) if path.is_file()]
    digests = {name: sha256_file(port / name) for name in files}
    for name, record in _RECORDS.items():
        step = document["steps"][name]
        products = _matching(contract, step["products"], digests)
        statement = _statement(
            document["id"],
            name,
            step,
            invocation=json.loads((port / record).read_bytes())["invocation"],
            products=products,
            materials=_matching(contract, [*step["materials"], *step["tools"]], digests),
        )
        for problem in contract.schemas.errors("provenance/v1", statement):
            raise UsageError(f"The provenance of {name} is faulty: {problem.pointer}: {problem.message}")
        signer = signers[step["role"] + FUNCTIONARY]
        path = port / "attestations" / f"{name}.{signer.public_key.keyid[:8]}.1.dsse.json"
        path.parent.mkdir(exist_ok=True)
        write_atomic(path, sign_statement(statement, [signer]))


def _statement(  # noqa: PLR0913 - what provenance is made of
    port: str,
    name: str,
    step: Mapping[str, Any],
    *,
    invocation: Mapping[str, str],
    products: Mapping[str, str],
    materials: Mapping[str, str],
) -> dict[str, Any]:
    return {
        "_type": STATEMENT,
        "subject": _named(products),
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "urn:calaudit:build:step:v1",
                "externalParameters": {"port": port, "step": name, "gate": step["gate"], "command": step["run"]},
                "resolvedDependencies": _named(materials),
            },
            "runDetails": {
                "builder": {"id": BUILDER},
                "metadata": {
                    "invocationId": invocation["id"],
                    "startedOn": invocation["started"],
                    "finishedOn": invocation["finished"],
                },
            },
        },
    }


def _matching(contract: Contract, patterns: Iterable[str], digests: Mapping[str, str]) -> dict[str, str]:
    globs = [contract.gates.glob(pattern) for pattern in patterns]
    return {name: digest for name, digest in digests.items() if any(glob.matches(name) for glob in globs)}


def _named(digests: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{"name": name, "digest": {"sha256": digest}} for name, digest in sorted(digests.items())]

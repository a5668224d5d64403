"""Sign the example port anew, with keys that end with this process: ``make sign-example``.

    python scripts/sign_example.py [--at 2026-11-30T12:00:00Z]

It builds the port with the example's own toolchain, demands that every byte equals the committed port, runs every step
again as ``calaudit run --all`` does (in bubblewrap, attested by functionaries, as often as its ``rebuilds`` say) and
demands the same bytes, has two release owners sign the layout, signs the vendor's documents and the gates G0 to G2 as
``calaudit signoff`` does, and demands that the result verifies PASSED. Only then it replaces ``signoffs/`` and
``attestations/`` of the port, ``examples/trust``, and ``tests/fixtures/trust-expired``, another registry (with its own
root) that ran out.
"""

import argparse
import dataclasses
import json
import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from datetime import UTC, datetime
from pathlib import Path

import yaml
from securesystemslib.signer import Signer

from calaudit.api import audit
from calaudit.cli._run_progress import Plain
from calaudit.contract import Contract, load_contract
from calaudit.execute.batch import Batch
from calaudit.execute.layout import prepare_layout, sign_layout
from calaudit.execute.manifest import read_manifest
from calaudit.execute.means import Wish as RunWish
from calaudit.execute.nouns import Step
from calaudit.model import PORT, Verdict
from calaudit.pins import load_directory
from calaudit.pins.store import STATE_VARIABLE
from calaudit.sign.authority import established
from calaudit.sign.grounds import Wish
from calaudit.sign.signing import sign_draft
from calaudit.sign.signoff import prepare
from calaudit.trust.envelope import parse_envelope
from calaudit.trust.roles import FUNCTIONARY, RELEASE
from calaudit.trust.steps import LAYOUT
from examples.toolchain.owners import EXPIRES, Owners

TOP = Path(__file__).resolve().parent.parent
EXAMPLE = TOP / "examples" / "model-port" / "tiny-dense"
TRUST = TOP / "examples" / "trust"
EXPIRED_TRUST = TOP / "tests" / "fixtures" / "trust-expired"
EXPIRED_ON = datetime(2026, 1, 1, tzinfo=UTC)
SIGNED = ("signoffs", "attestations")
"""The folders that this script writes; a rebuild does not make them."""
RECORDS = {
    "reference": "01-reference/reference-report.json",
    "reference-again": "01-reference/run-2/reference-report.json",
    "compare": "02-onnx/onnx-report.json",
}
"""Where a step wrote which invocation it was; to give the same bytes again, its next run has to be called the same."""

TOOLCHAIN = ("calaudit", "schemas", "policies", "examples/toolchain")
"""What the steps of the example import from this repository, besides the environment that runs this script."""

SIGNOFFS = ((PORT, "compiler"), ("G0", "model"), ("G1", "model"), ("G2", "export"))


def main() -> None:
    """Build, compare, attest, sign, verify, replace."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--at", metavar="TIME", help="the moment of the signoffs (UTC), after the runs; now by default")
    moment = parser.parse_args().at
    now = datetime.strptime(moment, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC) if moment else None
    with tempfile.TemporaryDirectory(prefix="calaudit-sign-example-") as scratch:
        port, trust, expired = (Path(scratch) / name for name in ("port", "trust", "trust-expired"))
        print("Building the port, which takes a minute or two …", flush=True)
        subprocess.run([sys.executable, "-m", "examples.toolchain", "build", port], check=True, cwd=TOP)  # noqa: S603
        refuse_difference(port)
        owners = Owners.make()
        owners.write_trust(trust, ports=["tiny-dense"])
        Owners.make().write_trust(expired, ports=["tiny-dense"], registry_expires=EXPIRED_ON)
        sign(port, trust, owners, now)
        for folder in SIGNED:
            replace(port / folder, EXAMPLE / folder)
        replace(trust, TRUST)
        replace(expired, EXPIRED_TRUST)
    print(
        f"{EXAMPLE.relative_to(TOP)} is signed; it verifies with --trust {TRUST.relative_to(TOP)}. The keys are gone."
    )


def sign(port: Path, trust: Path, owners: Owners, now: datetime | None) -> None:
    """Attest and sign a port that was just built, and demand that it verifies."""
    contract = load_contract()
    source = load_directory(trust)
    run_steps(port, trust, owners)
    now = now or datetime.now(UTC).replace(microsecond=0)
    lay_out(port, trust, owners.roles[RELEASE], contract, now)
    for gate, role in SIGNOFFS:
        report = audit(port, contract=contract, trust=source, at=now)
        found, registry = established(source, now, contract.schemas, report.port.id)
        draft = prepare(port, report, contract, registry, Wish(gate=gate, role=role), now=now)
        print(f"  {sign_draft(port, draft, owners.roles[role][0], found, registry).path}")
    demand_passed(port, trust, contract, now)


def run_steps(port: Path, trust: Path, owners: Owners) -> None:
    """Run every step in its sandbox, attested; what it writes is what was there."""
    toolchain = tuple(dict.fromkeys([Path(sys.prefix), Path(sys.base_prefix), *(TOP / name for name in TOOLCHAIN)]))
    names = {step["toolchain"] for step in yaml.safe_load((port / "port.yaml").read_bytes())["steps"].values()}
    wish = RunWish(
        port=port,
        force=True,
        toolchains=dict.fromkeys(names, toolchain),
        logs=port.parent / "logs",
        trust=load_directory(trust),
        invocation=lambda step: recorded(port, step),
    )
    functionaries = [signers[0] for name, signers in owners.roles.items() if name.endswith(FUNCTIONARY)]
    os.environ[STATE_VARIABLE] = str(port.parent / "state")
    with Plain() as told:
        for step in Batch(wish).run(functionaries, told):
            for _ in range(1, step.step.rebuilds):
                Batch(dataclasses.replace(wish, step=step.step.name)).run(functionaries, told)
    refuse_difference(port)


def recorded(port: Path, step: Step) -> str:
    """The invocation that a step's record names; a new one for steps that leave no record."""
    record = RECORDS.get(step.name)
    return str(uuid.uuid4()) if record is None else str(json.loads((port / record).read_bytes())["invocation"]["id"])


def lay_out(port: Path, trust: Path, release: tuple[Signer, ...], contract: Contract, now: datetime) -> None:
    """Compile the layout and have the release owners sign it."""
    manifest = read_manifest(port, contract.schemas)
    found, registry = established(load_directory(trust), now, contract.schemas, manifest["id"])
    draft = prepare_layout(
        manifest, registry, contract.schemas, port / LAYOUT, expires=EXPIRES, default_expires=EXPIRES, now=now
    )
    for signer in release:
        signed = sign_layout(draft, signer, found, registry)
        draft = dataclasses.replace(draft, kept=parse_envelope(LAYOUT, signed.data))
        (port / LAYOUT).write_bytes(signed.data)


def demand_passed(port: Path, trust: Path, contract: Contract, now: datetime) -> None:
    """Refuse to keep signatures that do not do their work."""
    report = audit(port, contract=contract, trust=trust, at=now)
    if report.verdict is not Verdict.PASSED:
        told = "".join(f"\n  {r.gate} {r.rule}: {r.kind} {r.message}" for r in report.findings)
        sys.exit(f"The signed port is {report.verdict}; nothing was replaced.{told}")


def refuse_difference(port: Path) -> None:
    """What is signed is the committed port, byte for byte."""
    made, committed = files(port), files(EXAMPLE)
    differing = sorted(name for name in made.keys() | committed.keys() if made.get(name) != committed.get(name))
    if differing:
        told = "".join(f"\n  {name}" for name in differing[:10])
        sys.exit(
            f"The toolchain makes another port than the committed one ({len(differing)} files):{told}\n"
            "Run `make port`, look at the difference and commit it; then sign."
        )


def files(port: Path) -> dict[str, bytes]:
    """Every file of a port but its signatures."""
    found = ((path.relative_to(port), path) for path in port.rglob("*") if path.is_file())
    return {name.as_posix(): path.read_bytes() for name, path in found if name.parts[0] not in SIGNED}


def replace(source: Path, target: Path) -> None:
    """Put a folder in the place of another."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)


if __name__ == "__main__":
    main()

"""Sign the example port anew, with keys that end with this process: ``make sign-example``.

    python scripts/sign_example.py [--at 2026-11-30T12:00:00Z]

It builds the port with the example's own toolchain, demands that every byte equals the committed port, attests the
runs that it has just made, signs the vendor's documents and the gates G0 to G2 as ``calaudit signoff`` does, and
demands that the result verifies PASSED. Only then it replaces ``signoffs/`` and ``attestations/`` of the port,
``examples/trust``, and ``tests/fixtures/trust-expired``, another registry (with its own root) that ran out.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from calaudit.api import audit
from calaudit.contract import Contract, load_contract
from calaudit.model import PORT, Verdict
from calaudit.pins import load_directory
from calaudit.sign.authority import established
from calaudit.sign.grounds import Wish
from calaudit.sign.signing import sign_draft
from calaudit.sign.signoff import prepare
from examples.toolchain.attest import attest
from examples.toolchain.owners import Owners

TOP = Path(__file__).resolve().parent.parent
EXAMPLE = TOP / "examples" / "model-port" / "tiny-dense"
TRUST = TOP / "examples" / "trust"
EXPIRED_TRUST = TOP / "tests" / "fixtures" / "trust-expired"
EXPIRED_ON = datetime(2026, 1, 1, tzinfo=UTC)
SIGNED = ("signoffs", "attestations")
"""The folders that this script writes; a rebuild does not make them."""
SIGNOFFS = ((PORT, "compiler"), ("G0", "model"), ("G1", "model"), ("G2", "export"))


def main() -> None:
    """Build, compare, attest, sign, verify, replace."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--at", metavar="TIME", help="the moment that statements carry, in UTC; now by default")
    moment = parser.parse_args().at
    now = datetime.strptime(moment, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC) if moment else datetime.now(UTC)
    with tempfile.TemporaryDirectory(prefix="calaudit-sign-example-") as scratch:
        port, trust, expired = (Path(scratch) / name for name in ("port", "trust", "trust-expired"))
        print("Building the port, which takes a minute or two …", flush=True)
        subprocess.run([sys.executable, "-m", "examples.toolchain", "build", port], check=True, cwd=TOP)  # noqa: S603
        refuse_difference(port)
        owners = Owners.make()
        owners.write_trust(trust, ports=["tiny-dense"])
        Owners.make().write_trust(expired, ports=["tiny-dense"], registry_expires=EXPIRED_ON)
        sign(port, trust, owners, now.replace(microsecond=0))
        for folder in SIGNED:
            replace(port / folder, EXAMPLE / folder)
        replace(trust, TRUST)
        replace(expired, EXPIRED_TRUST)
    print(
        f"{EXAMPLE.relative_to(TOP)} is signed; it verifies with --trust {TRUST.relative_to(TOP)}. The keys are gone."
    )


def sign(port: Path, trust: Path, owners: Owners, now: datetime) -> None:
    """Attest and sign a port that was just built, and demand that it verifies."""
    contract = load_contract()
    attest(port, contract, {name: signers[0] for name, signers in owners.roles.items()})
    source = load_directory(trust)
    for gate, role in SIGNOFFS:
        report = audit(port, contract=contract, trust=source, at=now)
        found, registry = established(source, now, contract.schemas, report.port.id)
        draft = prepare(port, report, contract, registry, Wish(gate=gate, role=role), now=now)
        print(f"  {sign_draft(port, draft, owners.roles[role][0], found, registry).path}")
    demand_passed(port, trust, contract, now)


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

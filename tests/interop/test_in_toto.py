"""Layouts and links, with in-toto's reference implementation (PyPI `in-toto` 3.1), in both directions.

It accepts what calaudit makes, and calaudit accepts what it makes. What it accepts and calaudit refuses stands in a
table here: these are its known holes, which is why calaudit does not leave the verdict to it.
"""

import copy
import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from in_toto import verifylib
from in_toto.models.metadata import Metadata

from calaudit.cli import cli
from calaudit.cli.run import command as run_verb
from calaudit.contract import Contract
from calaudit.execute.links import attestations
from calaudit.execute.nouns import Guarantees, Log, Outcome, Record, Step
from calaudit.trust.isolation import Isolation
from calaudit.trust.steps import LAYOUT
from tests import guard
from tests.trust import authority as kit
from tests.trust.chained import CONFIG, RELEASE, STEPS, TOKENIZER, chain, declare, link_path, seed_of
from tests.trust.forgeries import Forgery, forgeries
from tests.trust.signed_port import SignedPort, signed_copy

LATER = datetime(2090, 1, 1, tzinfo=UTC)
BIN = Path(sys.executable).parent


def rewrite(path: str) -> list[str]:
    """A command that makes a file as it was: what was signed of the port stays true."""
    return [
        "python3",
        "-c",
        f"import pathlib; p = pathlib.Path({path!r}); d = p.read_bytes(); p.write_bytes(d); print(1)",
    ]


@pytest.fixture
def port(tmp_path: Path, contract: Contract) -> SignedPort:
    """A signed port with two steps whose commands can be run, under keys that outlive the machine's clock."""
    made = signed_copy("g0", tmp_path / "tiny-dense", contract)
    made.registry(expires=LATER, root_expires=LATER)
    made.seen = None  # it is another root
    steps = copy.deepcopy(STEPS)
    steps["fetch"]["run"], steps["tokenize"]["run"] = rewrite(CONFIG), rewrite(TOKENIZER)
    declare(made, steps)
    return made


@pytest.fixture
def keys(tmp_path: Path) -> Callable[[str], Path]:
    """The private key of a seed as a PEM file, and beside it (.pub) its public half."""

    def write(seed: str) -> Path:
        private = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(seed.encode()).digest())
        path = tmp_path / f"{seed}.pem"
        path.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        path.chmod(0o600)
        public = private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        path.with_suffix(".pub").write_bytes(public)
        return path

    return write


def trust_directory(port: SignedPort, path: Path) -> Path:
    path.mkdir()
    (path / "1.root.json").write_bytes(kit.to_bytes(port.authority.root()))
    (path / "roles.json").write_bytes(kit.to_bytes(port.authority.registry()))
    return path


def lay_out(port: SignedPort, keys: Callable[[str], Path], *seeds: str) -> str:
    """`calaudit layout` by the keys of some release owners."""
    trust = port.path.parent / "trust"
    if not trust.is_dir():
        trust_directory(port, trust)
    given = [word for seed in seeds for word in ("--key", str(keys(seed)))]
    done = CliRunner().invoke(cli, ["layout", str(port.path), "--trust", str(trust), "--yes", *given])
    assert done.exit_code == 0, done.output
    return done.output


def record(port: SignedPort, name: str) -> Record:
    """What calaudit knows of a run that it carried out."""
    spec = next(step for step in chain(port) if step.name == name)
    done = subprocess.run(spec.command, cwd=port.path, capture_output=True, check=True)
    moment = datetime(2026, 11, 29, 8, tzinfo=UTC)
    logs = [
        Log(path=Path("x"), sha256=hashlib.sha256(s).hexdigest(), written=len(s), truncated=False, tail=s.decode())
        for s in (done.stdout, done.stderr)
    ]
    found = kit.files(port.path)
    return Record(
        port=kit.PORT_ID,
        step=Step(
            name=name,
            gate=spec.gate,
            role=spec.role,
            run=spec.command,
            materials=spec.materials,
            products=spec.products,
            kind="local",
            env={"PYTHONHASHSEED": "0"},
        ),
        command=spec.command,
        materials=spec.consumed(found),
        products=spec.made(found),
        toolchain=None,
        executor="local",
        builder="urn:calaudit:executor:local:v1",
        guarantees=Guarantees(isolation=Isolation.NONE, network=False, inputs=False),
        outcome=Outcome(
            exit_code=0, signal=None, started=moment, finished=moment, duration_s=0.5, stdout=logs[0], stderr=logs[1]
        ),
        invocation=f"run-of-{name}",
        versions={},
    )


def run_by_calaudit(port: SignedPort, name: str) -> None:
    for path, data in attestations(record(port, name), kit.key(seed_of(port, name)), 1).items():
        port.file(path).write_bytes(data)


def run_by_in_toto(port: SignedPort, keys: Callable[[str], Path], name: str) -> None:
    spec = next(step for step in chain(port) if step.name == name)
    found = kit.files(port.path)
    port.file("attestations/x")
    subprocess.run(
        [
            BIN / "in-toto-run",
            *("--step-name", name, "--use-dsse", "--signing-key", keys(seed_of(port, name))),
            *("--metadata-directory", "attestations", "--record-streams"),
            *("--materials", *spec.consumed(found), "--products", *spec.made(found), "--", *spec.command),
        ],
        cwd=port.path,
        check=True,
        capture_output=True,
        env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"},
    )


def in_toto_verify(port: SignedPort, keys: Callable[[str], Path], *seeds: str) -> "subprocess.CompletedProcess[str]":
    publics = [keys(seed).with_suffix(".pub") for seed in seeds]
    return subprocess.run(
        [
            BIN / "in-toto-verify",
            *("--layout", port.path / LAYOUT, "--link-dir", port.path / "attestations"),
            *("--verification-keys", *publics),
        ],
        cwd=port.path.parent,
        capture_output=True,
        text=True,
        check=False,
    )


def said(port: SignedPort) -> tuple[int, dict[str, str]]:
    """The exit code of an audit, and the worst that each rule of the chain says."""
    with guard.inert():
        report = port.audit()
    prefixes = ("layout-", "link-", "attestation-", "envelope-")
    return report.exit_code, {
        r.rule: f"{r.kind}: {r.message}" for r in report.results if r.rule.startswith(prefixes) and r.kind != "pass"
    }


ONLY_AT_RELEASE = {"layout-missing-at-release": "notApplicable: It counts at the stages candidate and release."}


def test_in_toto_accepts_what_calaudit_makes(port: SignedPort, keys: Callable[[str], Path]) -> None:
    assert "1 more have to sign" in lay_out(port, keys, "release")
    assert "by 2 of 2 owner(s)" in lay_out(port, keys, "release-2")
    for name in STEPS:
        run_by_calaudit(port, name)
    done = in_toto_verify(port, keys, *RELEASE)
    assert done.returncode == 0, done.stderr
    assert said(port) == (0, ONLY_AT_RELEASE)
    assert in_toto_verify(port, keys, "release", "model").returncode == 1


def test_calaudit_accepts_what_in_toto_makes(port: SignedPort, keys: Callable[[str], Path]) -> None:
    lay_out(port, keys, *RELEASE)
    run_by_in_toto(port, keys, "fetch")
    run_by_calaudit(port, "tokenize")
    assert port.statement(link_path("fetch", "model-functionary"))["byproducts"]["stdout"] == "1\n"
    assert in_toto_verify(port, keys, *RELEASE).returncode == 0
    assert said(port) == (0, ONLY_AT_RELEASE)


def test_both_accept_what_calaudit_ran(
    port: SignedPort, keys: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALAUDIT_STATE_DIR", str(tmp_path / "state"))
    steps = copy.deepcopy(STEPS)
    for name, path in (("fetch", CONFIG), ("tokenize", "00-source/hf-config/generation_config.json")):
        text = (port.path / path).read_bytes().hex()
        steps[name]["run"] = ["python3", "-c", f"open({path!r}, 'wb').write(bytes.fromhex({text!r}))"]
        steps[name]["products"] = [path]
    declare(port, steps)
    lay_out(port, keys, *RELEASE)
    given = [word for step in STEPS for word in ("--key", str(keys(seed_of(port, step))))]
    trust = str(port.path.parent / "trust")
    done = CliRunner().invoke(run_verb, ["--all", str(port.path), "--trust", trust, *given])
    assert done.exit_code == 0, done.output
    port.at = datetime.now(UTC)
    assert said(port) == (0, ONLY_AT_RELEASE)
    assert in_toto_verify(port, keys, *RELEASE).returncode == 0


def test_in_toto_refuses_a_broken_chain_as_calaudit_does(port: SignedPort, keys: Callable[[str], Path]) -> None:
    lay_out(port, keys, *RELEASE)
    run_by_calaudit(port, "tokenize")
    path = port.path / CONFIG
    path.write_bytes(path.read_bytes() + b"\n")
    run_by_calaudit(port, "fetch")
    done = in_toto_verify(port, keys, *RELEASE)
    assert done.returncode == 1
    assert f"'DISALLOW {CONFIG}' matched" in done.stderr
    code, found = said(port)
    assert code == 1
    assert found["link-stale"] == f"fail: {CONFIG} changed since the run."


# What in-toto-verify makes of forgeries -----------------------------------------------------------------------------

ACCEPTED = {
    "a-command-of-which-nobody-says-how-it-ended": "it does not look at the return values of steps",
    "a-command-that-failed": "it does not look at the return values of steps",
    "another-command": "it logs a warning",
    "a-link-of-another-step": "it goes by the name of the file",
    "a-link-of-another-step-of-a-port-that-cannot-be-used": "it goes by the name of the file",
    "a-last-product-that-changed": "it looks at files only through inspections",
    "an-input-that-changed": "it looks at files only through inspections",
    "a-layout-with-an-inspection": "it runs the command",
    "a-layout-without-steps": "there is nothing that could fail",
    "a-layout-that-matches-a-step-it-does-not-have": "the rule matches nothing, and the next one allows the file",
    "a-layout-with-one-key-under-two-ids": "it counts ids",
    "a-layout-with-a-member-that-nobody-knows": "it passes over members that it does not know",
    "a-link-with-a-member-twice": "its parser takes the last one",
    "a-layout-signed-by-a-revoked-key": "it knows no revocation",
    "a-link-signed-by-a-revoked-key": "it knows no revocation",
    "a-chain-of-a-port-that-cannot-be-used": "it knows no port.yaml",
    "a-layout-of-another-port": "it knows no port.yaml",
    "a-layout-of-a-step-that-nobody-may-run": "it knows no port.yaml",
    "a-layout-of-steps-in-a-circle": "it knows no port.yaml",
    "a-layout-of-steps-that-write-one-file": "it knows no port.yaml",
    "a-layout-that-demands-less": "it knows no port.yaml",
    "a-layout-that-leaves-a-step-out": "it knows no port.yaml",
    "a-layout-with-a-stranger-among-the-functionaries": "it knows no registry",
    "a-link-of-a-step-that-nobody-declared": "it passes over files that it does not look for",
    "a-link-signed-by-an-owner": "it passes over files that it does not look for",
    "a-link-signed-by-the-functionary-of-another-role": "it passes over files that it does not look for",
    "a-link-under-a-name-that-is-none": "it passes over files that it does not look for",
    "a-link-under-the-name-of-another-key": "it passes over files that it does not look for",
    "provenance-of-another-command": "it knows no statements",
    "provenance-that-read-less": "it knows no statements",
    "provenance-that-wrote-more": "it knows no statements",
}
"""The forgeries that it takes, and why; calaudit refuses each by its own rule."""

CHAIN = [f for f in forgeries().values() if f.forge.__module__.endswith(".chain") and f.exit_code and f.says != "pass"]


@pytest.mark.filterwarnings("ignore:GitWildMatchPattern:DeprecationWarning")  # in-toto's own, where it inspects
@pytest.mark.parametrize("forgery", CHAIN, ids=str)
def test_what_in_toto_makes_of_it(
    forgery: Forgery, tmp_path: Path, contract: Contract, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = signed_copy("g0", tmp_path / "tiny-dense", contract)
    forgery.forge(port)
    monkeypatch.chdir(tmp_path)  # an inspection runs here
    assert accepted(port) is (forgery.name in ACCEPTED), ACCEPTED.get(forgery.name)
    assert (tmp_path / "attacked").exists() is (forgery.name == "a-layout-with-an-inspection")
    code, found = said(port)
    assert code == forgery.exit_code
    assert forgery.rule.partition(".")[2] in found


def accepted(port: SignedPort) -> bool:
    publics = {kit.key(seed).public_key.keyid: kit.key(seed).public_key for seed in RELEASE}
    given = {keyid: {**key.to_dict(), "keyid": keyid} for keyid, key in publics.items()}
    try:
        verifylib.in_toto_verify(Metadata.load(str(port.path / LAYOUT)), given, str(port.path / "attestations"))
    except Exception:  # noqa: BLE001 - raw errors of its parsers are among them
        return False
    return True

"""Trust comes from outside the port, and what verifies it is imported only when there is something to verify."""

import subprocess
import sys
from pathlib import Path

import pytest

from calaudit import audit
from calaudit.contract import Contract
from calaudit.errors import UsageError
from tests.trust import authority as kit
from tests.trust.signed_port import SignedPort, signed_copy

ROOT = Path(__file__).parents[2]
HEAVY = ("tuf", "securesystemslib", "cryptography", "sigstore")


@pytest.fixture
def port(tmp_path: Path, contract: Contract) -> SignedPort:
    return signed_copy("g0", tmp_path / "tiny-dense", contract)


def write_directory(port: SignedPort, folder: Path) -> Path:
    """The trust directory of the port's authority."""
    folder.mkdir(parents=True)
    (folder / "1.root.json").write_bytes(kit.to_bytes(port.authority.root()))
    (folder / "roles.json").write_bytes(kit.to_bytes(port.authority.registry()))
    return folder


def fresh(script: str, *arguments: object) -> list[str]:
    """What a fresh process prints, word by word; it can neither connect nor start another."""
    text = f"import sys\nfrom tests import guard\nwith guard.inert():\n  {script}"
    run = [sys.executable, "-c", text, *map(str, arguments)]
    done = subprocess.run(run, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.stderr == ""
    return done.stdout.split()


LOADED = f"print(*[name for name in {HEAVY} if name in sys.modules])"


def test_an_audit_without_trust_imports_nothing_that_verifies(port: SignedPort) -> None:
    script = f"from calaudit import audit; print(audit(sys.argv[1]).exit_code); {LOADED}"
    assert fresh(script, port.path) == ["3"]


def test_an_audit_with_trust_imports_sigstore_only_for_a_bundle(port: SignedPort, tmp_path: Path) -> None:
    directory = write_directory(port, tmp_path / "trust")
    script = f"from calaudit import audit; print(audit(sys.argv[1], trust=sys.argv[2]).exit_code); {LOADED}"
    assert fresh(script, port.path, directory) == ["0", "tuf", "securesystemslib", "cryptography"]


def test_a_directory_beside_the_port_passes_it(port: SignedPort, tmp_path: Path, contract: Contract) -> None:
    directory = write_directory(port, tmp_path / "trust")
    report = audit(port.path, contract=contract, trust=directory, at=kit.NOW)
    assert report.exit_code == 0
    assert report.trust is not None
    assert not report.trust.rollback_checked


@pytest.mark.parametrize("inside", ["trust", "vendor/trust", "tools/a/b"])
def test_a_directory_in_the_port_is_refused(inside: str, port: SignedPort, contract: Contract) -> None:
    directory = write_directory(port, port.path / inside)
    with pytest.raises(UsageError, match="inside the port"):
        audit(port.path, contract=contract, trust=directory)


def test_a_link_to_a_directory_in_the_port_is_refused(port: SignedPort, tmp_path: Path, contract: Contract) -> None:
    (tmp_path / "trust").symlink_to(write_directory(port, port.path / "trust"))
    with pytest.raises(UsageError, match="inside the port"):
        audit(port.path, contract=contract, trust=tmp_path / "trust")


def test_a_directory_in_another_port_is_refused(port: SignedPort, tmp_path: Path, contract: Contract) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "port.yaml").write_text("schema: calaudit-port/v1\n")
    directory = write_directory(port, tmp_path / "other" / "trust")
    with pytest.raises(UsageError, match="inside the port"):
        audit(port.path, contract=contract, trust=directory)


def test_a_directory_where_one_stands_is_not_looked_for(
    port: SignedPort, tmp_path: Path, contract: Contract, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_directory(port, tmp_path / "here" / "trust")
    write_directory(port, port.path.parent / "trust")
    monkeypatch.chdir(tmp_path / "here")
    report = audit(port.path, contract=contract, at=kit.NOW)
    assert (report.exit_code, report.trust) == (3, None)
    assert [f"{r.kind}" for r in report.of("trust-root-missing")] == ["open"]


def test_a_port_that_brings_a_registry_is_no_better_for_it(port: SignedPort, contract: Contract) -> None:
    """A forger's own registry in the port, and everything signed by the forger."""
    write_directory(port, port.path / "trust")
    report = port.audit()
    assert report.exit_code == 1
    assert {r.location.path for r in report.of("artifact-unexpected") if r.location} == {"trust"}

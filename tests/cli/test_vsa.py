"""``calaudit verify --vsa``: a signed summary, outside the port, whatever the verdict."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from securesystemslib.dsse import Envelope
from securesystemslib.signer import CryptoSigner

from calaudit.cli import cli
from tests.sign.make import key_file

MANIFEST = "schema: calaudit-port/v1\nid: some-port\nprofile: example\nstage: development\nclaim: G0\n"


@pytest.fixture
def port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CALAUDIT_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "ports" / "some"
    folder.mkdir(parents=True)
    (folder / "port.yaml").write_text(MANIFEST)
    return folder


@pytest.fixture
def signer(tmp_path: Path) -> CryptoSigner:
    return key_file(tmp_path / "ci.pem")


def verify(port: Path, *args: str, code: int) -> str:
    done = CliRunner().invoke(cli, ["verify", str(port), "--quiet", *args])
    assert done.exit_code == code, done.output
    return done.output


def statement(path: Path, signer: CryptoSigner) -> dict[str, Any]:
    """The payload, once the signature is verified by securesystemslib's own DSSE."""
    envelope = Envelope.from_dict(json.loads(path.read_bytes()))
    assert envelope.payload_type == "application/vnd.in-toto+json"
    envelope.verify([signer.public_key], 1)
    found: dict[str, Any] = json.loads(envelope.payload)
    return found


def test_a_port_that_does_not_pass_has_a_summary_that_says_failed(port: Path, signer: CryptoSigner) -> None:
    verify(port, "--vsa", "ci.pem", code=3)
    found = statement(Path("some-port.vsa.dsse.json"), signer)
    # In-toto Statement v1, field by field.
    assert set(found) == {"_type", "subject", "predicateType", "predicate"}
    assert found["_type"] == "https://in-toto.io/Statement/v1"
    assert found["predicateType"] == "https://slsa.dev/verification_summary/v1"
    assert [item["name"] for item in found["subject"]] == ["port.yaml"]
    assert all(len(item["digest"]["sha256"]) == 64 for item in found["subject"])
    assert found["predicate"]["verificationResult"] == "FAILED"
    assert found["predicate"]["calaudit_summary"]["verdict"] == "INCOMPLETE"
    assert found["predicate"]["calaudit_summary"]["exit_code"] == 3


def test_it_goes_where_it_is_told(port: Path, signer: CryptoSigner, tmp_path: Path) -> None:
    target = tmp_path / "out" / "summary.json"
    target.parent.mkdir()
    for _ in range(2):  # the second replaces the first
        verify(port, "--vsa", "file2:ci.pem", "--vsa-out", str(target), code=3)
    assert statement(target, signer)["predicate"]["resourceUri"] == "urn:calaudit:port:some-port"


@pytest.mark.parametrize("target", ["vsa.json", "new/vsa.json", "../some/vsa.json"])
def test_never_inside_the_port(target: str, port: Path, signer: CryptoSigner) -> None:
    assert "outside with --vsa-out" in verify(port, "--vsa", "ci.pem", "--vsa-out", str(port / target), code=2)
    assert [path.name for path in port.iterdir()] == ["port.yaml"]


def test_not_by_a_link_into_the_port_either(port: Path, signer: CryptoSigner, tmp_path: Path) -> None:
    (tmp_path / "door").symlink_to(port)
    assert "become a file of the port" in verify(port, "--vsa", "ci.pem", "--vsa-out", "door/vsa.json", code=2)


def test_not_by_the_current_directory_either(port: Path, signer: CryptoSigner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(port)
    assert "the current directory" in verify(Path(), "--vsa", "../../ci.pem", code=2)
    assert [path.name for path in port.iterdir()] == ["port.yaml"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--vsa-out", "x.json"], "says nothing without --vsa KEY"),
        (["--vsa", "ci.pem", "--vsa-out", "no/such/folder.json"], "lies in none"),
        (["--vsa", "ci.pem", "--vsa-out", "."], "is a directory"),
        (["--vsa", "ci.pem", "--vsa-out", "x.json", "-o", "json=x.json"], "cannot go to one file"),
        (["--vsa", "missing.pem"], "cannot be read"),
    ],
)
def test_usage(args: list[str], said: str, port: Path, signer: CryptoSigner) -> None:
    assert said in verify(port, *args, code=2)


def test_a_summary_of_the_past_never_passes(port: Path, signer: CryptoSigner) -> None:
    verify(port, "--vsa", "ci.pem", "--at", "2026-01-01T00:00:00Z", "--unsafe-time", code=3)
    found = statement(Path("some-port.vsa.dsse.json"), signer)["predicate"]
    assert found["calaudit_summary"]["unsafe"] == ["--unsafe-time (judged at 2026-01-01T00:00:00Z, in the past)"]
    assert found["calaudit_summary"]["judged_at"] == "2026-01-01T00:00:00Z"
    assert found["timeVerified"] > "2026-01-01"

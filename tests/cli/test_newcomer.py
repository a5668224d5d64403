"""What somebody meets who uses calaudit for the first time, through the command line and over the real example."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from calaudit.cli import cli

pytestmark = pytest.mark.usefixtures("remembered")

EXAMPLE = Path(__file__).parents[2] / "examples/model-port/tiny-dense"


def run(*argv: str | Path) -> Result:
    return CliRunner().invoke(cli, [*map(str, argv)])


def flat(text: str) -> str:
    return " ".join(text.split())


def rewritten(old: str, new: str) -> Callable[[Path], None]:
    def edit(port: Path) -> None:
        manifest = port / "port.yaml"
        text = manifest.read_text("utf-8")
        assert old in text
        manifest.write_text(text.replace(old, new, 1), "utf-8")

    return edit


@pytest.fixture
def port(tmp_path: Path) -> Path:
    shutil.copytree(EXAMPLE, tmp_path / "tiny-dense")
    return tmp_path / "tiny-dense"


def test_the_kick_off_is_not_open_beside_a_verdict_that_it_does_not_decide() -> None:
    verified, status = run("verify", EXAMPLE).stdout, run("status", EXAMPLE).stdout
    assert "1 blocks G3, G4, G5" in flat(verified)
    assert "? port.kickoff-incomplete" not in verified
    assert "Blocks G3, G4, G5" in flat(status)
    assert "Open: kickoff-incomplete" not in flat(status)
    assert "decides the verdict" not in flat(run("explain", "kickoff-incomplete").stdout)


@pytest.mark.parametrize(
    ("edit", "fault", "exit_code", "known"),
    [
        (rewritten("stage:", "stagee: x\nstage:"), "schema-invalid", 1, True),
        (rewritten("claim: G2", "claim: G11"), "schema-invalid", 1, True),
        (rewritten("stage: development", "stage: done"), "schema-invalid", 1, True),
        (rewritten("profile: example", "profile: exampel"), "profile-unknown", 1, False),
        (rewritten("schema:", "x: [\nschema:"), "document-malformed", 1, False),
        (lambda port: (port / "port.yaml").write_bytes(b""), "document-malformed", 1, False),
        (lambda port: (port / "port.yaml").rename(port / "port.yml"), "artifact-unexpected", 1, False),
        (lambda port: (port / "port.yaml").unlink(), "artifact-missing", 3, False),
    ],
)
def test_a_faulty_manifest_is_one_finding_and_no_wall(
    port: Path, edit: Callable[[Path], object], fault: str, exit_code: int, known: bool
) -> None:
    edit(port)
    done = run("verify", port)
    assert done.exit_code == exit_code
    failed = [line.strip() for line in done.stdout.splitlines() if line.strip().startswith("✗")]
    assert len(failed) == (exit_code == 1)  # nothing fails by numbers that nobody chose
    assert fault in done.stdout
    out = flat(done.stdout)
    assert "judged through G2" in out  # what is claimed, or else the last gate that has files
    assert "G6 to G10 NOT_STARTED" in out
    assert ("compares with numbers of the profile" in out) is not known
    assert len(done.stdout.splitlines()) < 200


def test_a_manifest_that_is_gone_keeps_the_port_from_passing(port: Path) -> None:
    (port / "port.yaml").unlink()
    assert run("verify", port, "--through", "G0").exit_code == 3


@pytest.mark.parametrize("verb", ["verify", "status", "facts"])
def test_what_is_no_port_is_refused_with_what_was_meant(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = tmp_path / "model-port/tiny"
    (port / "00-source").mkdir(parents=True)
    (port / "port.yaml").touch()
    monkeypatch.chdir(tmp_path)
    for place, meant in (
        (".", "model-port/tiny"),
        ("model-port", "model-port/tiny"),
        ("model-port/tiny/00-source", ""),
    ):
        done = run(verb, place)
        assert done.exit_code == 2
        assert "there is no port.yaml and no gate's folder in it" in done.stderr
        assert f"Did you mean {meant}" in done.stderr
    done = run(verb, "")
    assert done.exit_code == 2
    assert "it is empty" in done.stderr


def test_next_names_the_first_cause(port: Path) -> None:
    (port / "01-reference/prompts.jsonl").write_bytes(b"")
    said = flat(run("verify", port).stdout).partition("Next: ")[2]
    assert "is empty" in said
    shutil.rmtree(port / "01-reference")
    said = flat(run("verify", port).stdout).partition("Next: ")[2]
    assert said.startswith("Begin with common.gate-empty on G1: The gate is claimed, but 01-reference/ holds no file.")


def test_a_renamed_folder_is_told_once(port: Path) -> None:
    (port / "01-reference").rename(port / "1-reference")
    out = flat(run("verify", port).stdout)
    assert "1-reference/ holds 64 files; did you mean 01-reference/?" in out
    assert "1-reference/ is there instead, is it meant?" in out
    assert out.count("The contract knows no such") == 2  # the finding, and what to do next
    assert "did you mean 01-reference/?" in out.partition("Next: ")[2]


def test_what_became_of_a_file_is_told(port: Path) -> None:
    config = port / "00-source/hf-config/config.json"
    config.write_bytes(config.read_bytes().replace(b"\n", b"\r\n"))
    assert "its line endings were converted" in flat(run("verify", port).stdout)
    config.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", "utf-8")
    assert "it is a pointer of Git LFS" in flat(run("verify", port).stdout)


def test_a_gate_is_explained() -> None:
    done = run("explain", "g4")
    assert done.exit_code == 0
    assert "G4 Quantization" in done.stdout
    assert "quant, co-signed by model" in done.stdout
    out = run("explain", "G1").stdout
    assert "01-reference/prompts.jsonl  (jsonl, schema prompt/v1)" in out
    assert "+ reference-not-reproducible" in out
    assert '"cosigners": [' in run("explain", "G4", "--json").stdout


def test_a_rule_may_be_written_with_underscores() -> None:
    assert run("explain", "greedy_mismatch").stdout == run("explain", "greedy-mismatch").stdout
    assert run("explain", "g2.greedy_mismatch").stdout == run("explain", "G2.greedy-mismatch").stdout


def test_no_space_left_is_no_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "/x")

    monkeypatch.setattr("calaudit.cli._shared.audit", full)
    done = run("verify", EXAMPLE)
    assert done.exit_code == 2
    assert "There is no space left to write /x" in done.stderr
    assert run("-V").stdout.startswith("calaudit ")

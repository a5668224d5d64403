"""``calaudit run`` as it is called."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from securesystemslib.signer import CryptoSigner

from calaudit.cli.run import command
from calaudit.errors import UsageError
from tests.execute.small import snapshot, write
from tests.execute.test_batch import House


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path / "house")


def call(*words: object) -> Result:
    return CliRunner().invoke(command, [str(word) for word in words], standalone_mode=False)


def keys(house: House) -> list[str]:
    """The functionaries' keys as files, and the options that name them."""
    words = ["--trust", str(house.root / "trust")]
    for signer in house.keys:
        assert isinstance(signer, CryptoSigner)
        path = house.root / signer.public_key.keyid[:8]
        path.write_bytes(signer.private_bytes)
        path.chmod(0o600)
        words += ["--key", str(path)]
    return words


def test_all_then_nothing(house: House) -> None:
    options = keys(house)
    done = call("--all", house.port, *options)
    assert done.return_value == 0, done.stderr
    assert "make: wrote 1 file in " in done.stderr
    assert done.stdout == ""
    again = call("--all", house.port, *options)
    assert again.stderr.splitlines() == [
        "make: looking whether it is up to date",
        "make: up to date",
        "join: looking whether it is up to date",
        "join: up to date",
    ]
    listed = call("--list", house.port, *options[:2])
    assert listed.stdout == "G1  make  up to date\nG2  join  up to date\n"


def test_a_failure_is_one(house: House) -> None:
    write(house.port, {"tools/make.sh": "echo why it failed >&2; exit 5\n"})
    done = call("make", house.port, *keys(house))
    assert done.return_value == 1
    assert "calaudit: The step make ended with exit code 5." in done.stderr
    assert "  why it failed" in done.stderr
    assert "Logs: " in done.stderr


def test_another_executor_is_told(house: House) -> None:
    assert call("make", house.port, *keys(house), "--executor", "bwrap").return_value == 0
    assert "It ran with the executor bwrap" in call("--list", house.port, *keys(house)[:2]).stdout
    assert "up to date" in call("--list", house.port, *keys(house)[:2], "--executor", "bwrap").stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "Say which STEP"),
        (["a", "b", "c"], "Say which STEP"),
        (["--all", "a", "b"], "there is no STEP"),
        (["make", "PORT"], "--key is missing"),
        (["make", "PORT", "--unsigned", "--key", "x"], "contradict"),
        (["none", "PORT", "--unsigned"], "no step 'none'; it has make, join"),
        (["make", "NOWHERE", "--unsigned"], "cannot be read"),
        (["make", "PORT", "--unsigned", "--toolchain", "x"], "expected NAME=DIR"),
    ],
)
def test_usage(house: House, words: list[str], told: str) -> None:
    done = call(*[house.port if word == "PORT" else word for word in words])
    assert isinstance(done.exception, UsageError)
    assert told in str(done.exception)


def test_an_interrupt_is_130_and_leaves_the_port_alone(house: House) -> None:
    write(house.port, {"tools/make.sh": "echo x > out/made.txt; : > ready; exec sleep 60\n"})
    before = snapshot(house.port)
    script = "import sys; from calaudit.cli.run import command; sys.exit(command(sys.argv[1:], standalone_mode=False))"
    words = [sys.executable, "-c", script, "make", house.port, "--unsigned", "--logs", house.root / "logs"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        state = Path(os.environ["CALAUDIT_STATE_DIR"])
        while not list(state.glob("runs/*/port/ready")):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        told = process.communicate()[1]
    assert process.returncode == 130
    assert "The step make was interrupted." in told
    assert snapshot(house.port) == before
    assert len(list((house.root / "logs").rglob("*.log"))) == 2


def test_the_help_names_what_is_there() -> None:
    told = call("--help").output
    for word in ("--all", "--from", "--list", "--key", "--executor", "--toolchain", "--unsigned"):
        assert word in told

"""What tests of runs need: a bench, and a state directory of their own."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.execute.small import Bench


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test touches the state or the configuration of whoever runs it."""
    monkeypatch.setenv("CALAUDIT_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("CALAUDIT_CONFIG_DIR", str(tmp_path / "config"))
    return tmp_path / "state"


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """SIGINT interrupts, even where the suite itself was started in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A port with one input, and a script that copies it."""
    made = Bench(tmp_path / "bench")
    made.port.mkdir(parents=True)
    made.script("cat in.txt > out/made.txt\n")
    return made

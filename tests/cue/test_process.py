"""Running a program within bounds, from bytes that nobody can change."""

import fcntl
import os
import select
import sys
from pathlib import Path

import pytest

from calaudit.cue import Cue
from calaudit.cue.process import Limits, Outcome, environment, run, sealed


def python(folder: Path, code: str, *, limits: Limits | None = None) -> Outcome:
    arguments = ["-I", "-S", "-c", code]
    return run(sys.executable, arguments, folder=folder, limits=limits or Limits())


def test_what_it_prints(tmp_path: Path) -> None:
    outcome = python(tmp_path, "import sys; print('a'); print('b', file=sys.stderr); sys.exit(1)")
    assert outcome == Outcome(code=1, stdout=b"a\n", stderr=b"b\n")


def test_its_environment_is_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUE_EXPERIMENT", "evalv3")
    monkeypatch.setenv("HTTPS_PROXY", "somewhere")
    outcome = python(tmp_path, "import os; print(sorted(os.environ.items())); print(os.getcwd())")
    # what Python sets for itself is not of our making
    assert {name for name, _ in eval(outcome.stdout.splitlines()[0])} - {"LC_CTYPE"} == environment(tmp_path).keys()  # noqa: S307
    assert outcome.stdout.splitlines()[1] == str(tmp_path).encode()


def test_standard_input_is_empty(tmp_path: Path) -> None:
    assert python(tmp_path, "import sys; print(len(sys.stdin.read()))").stdout == b"0\n"


@pytest.mark.parametrize("code", ["while True: pass", "import os; os.close(1); os.close(2)\nwhile True: pass"])
def test_it_runs_too_long(code: str, tmp_path: Path) -> None:
    outcome = python(tmp_path, code, limits=Limits(seconds=0.5))
    assert outcome.trouble == "cue ran longer than 0.5 s and was ended."


def test_it_prints_too_much(tmp_path: Path) -> None:
    outcome = python(tmp_path, "while True: print('x' * 1000)", limits=Limits(output=10_000))
    assert outcome.trouble == "cue printed more than 10000 bytes and was ended."
    assert len(outcome.stdout) < 200_000


def test_it_ends_by_a_signal_or_crashes(tmp_path: Path) -> None:
    assert python(tmp_path, "import os; os.kill(os.getpid(), 11)").trouble == "cue was ended by signal 11."
    outcome = python(tmp_path, "import sys; sys.stderr.write('panic: x\\ngoroutine 1'); sys.exit(2)")
    assert outcome.trouble == "cue crashed (2): panic: x"


def test_what_it_started_ends_with_it(tmp_path: Path) -> None:
    code = "import os\nif os.fork():\n  os.wait()\nelse:\n  print(os.getpid(), flush=True)\n  while True: pass"
    outcome = python(tmp_path, code, limits=Limits(seconds=0.5))
    assert outcome.trouble is not None
    try:
        child = os.pidfd_open(int(outcome.stdout))
    except ProcessLookupError:
        return
    with os.fdopen(child, "rb"):
        # It is killed already, and may take a moment to notice.
        assert select.select([child], [], [], 60)[0] == [child]


def test_it_cannot_be_started(tmp_path: Path) -> None:
    assert "could not be started" in (run(str(tmp_path / "none"), [], folder=tmp_path).trouble or "")


def test_the_bytes_are_sealed(cue: Cue) -> None:
    with sealed(cue.path) as program:
        assert program.sha256 == cue.sha256
        seals = fcntl.fcntl(program.descriptor, fcntl.F_GET_SEALS)
        assert seals & fcntl.F_SEAL_WRITE
        with pytest.raises(PermissionError):
            os.open(f"/proc/self/fd/{program.descriptor}", os.O_WRONLY | os.O_TRUNC)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(program.descriptor)


def test_what_happens_to_the_file_does_not_matter(cue: Cue, tmp_path: Path) -> None:
    path = tmp_path / "cue"
    path.write_bytes(cue.path.read_bytes())
    with sealed(path) as program:
        path.write_bytes(b"\x7fELF and now something else")
        outcome = run(f"/proc/self/fd/{program.descriptor}", ["version"], folder=tmp_path, keep=(program.descriptor,))
    assert b"cue.lang.version" in outcome.stdout

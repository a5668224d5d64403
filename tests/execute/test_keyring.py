"""Two runs share nothing through the kernel's keys, neither with each other nor with whoever starts them."""

import errno
import platform
from pathlib import Path

import pytest

from calaudit.execute.bwrap import Bwrap
from calaudit.execute.executor import executor_for
from calaudit.execute.keyring import fresh_session_keyring
from tests.execute.small import job

NUMBERS = {"x86_64": (248, 250), "aarch64": (217, 219)}.get(platform.machine(), (0, 0))
KEYS = f"""
import ctypes, sys
call = ctypes.CDLL(None, use_errno=True).syscall
call.restype = ctypes.c_long
ring, text = ctypes.c_long(int(sys.argv[1])), ctypes.create_string_buffer(64)
key = call({NUMBERS[1]}, ctypes.c_long(10), ring, b"user", b"calaudit-test", ctypes.c_long(0))
if key > 0:
    call({NUMBERS[1]}, ctypes.c_long(11), ctypes.c_long(key), text, ctypes.c_long(64))
    print("found", text.value.decode())
elif call({NUMBERS[0]}, b"user", b"calaudit-test", b"left", ctypes.c_long(4), ring) > 0:
    print("left")
else:
    print("denied", ctypes.get_errno())
"""
SESSION, USER = "-3", "-4"


def said(tmp: Path, kind: str, ring: str) -> str:
    outcome = executor_for(kind).run(job(tmp, "/usr/bin/python3", "-c", KEYS, ring))
    assert outcome.good, outcome.stderr.tail
    return outcome.stdout.tail.strip()


@pytest.mark.parametrize("kind", ["local", "bwrap"])
def test_a_run_finds_no_key_of_the_one_before(kind: str, tmp_path: Path) -> None:
    first, second = (said(tmp_path / name, kind, SESSION) for name in ("one", "two"))
    assert first == second
    assert first == "left" or first.startswith("denied")


@pytest.mark.parametrize("ring", [SESSION, USER])
def test_the_sandbox_has_no_keys_at_all(ring: str, tmp_path: Path) -> None:
    assert said(tmp_path, "bwrap", ring) == f"denied {errno.ENOSYS}"


def test_no_connection_without_a_call_that_is_seen(tmp_path: Path) -> None:
    script = "import ctypes; c = ctypes.CDLL(None, use_errno=True); print(c.syscall(425, 8, None), ctypes.get_errno())"
    outcome = Bwrap().run(job(tmp_path, "/usr/bin/python3", "-c", script))
    assert outcome.stdout.tail.strip() == f"-1 {errno.ENOSYS}"


def test_an_unknown_machine_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert not fresh_session_keyring()

"""Auditing never starts a process or opens a connection, and the guard that proves it bites."""

import os
import socket
import subprocess
from collections.abc import Callable

import pytest

from calaudit import audit
from tests.casebook import PORT


@pytest.mark.parametrize(
    "offence",
    [
        lambda: subprocess.run(["true"], check=True),
        lambda: os.system("true"),  # noqa: S605 - that it cannot run is the test
        lambda: os.posix_spawn("/bin/true", ["true"], {}),
        lambda: socket.create_connection(("127.0.0.1", 9), timeout=1),
        lambda: socket.getaddrinfo("localhost", 9),
    ],
)
def test_the_guard_bites(offence: Callable[[], object], inert: None) -> None:
    with pytest.raises(RuntimeError, match="must not execute"):
        offence()


def test_an_audit_executes_and_connects_nothing(inert: None) -> None:
    assert audit(PORT).exit_code == 3

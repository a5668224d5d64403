"""Fixtures of the whole suite."""

import sys
from collections.abc import Iterator

import pytest

from calaudit.contract import Contract, load_contract

BANNED = (
    "subprocess.",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.spawn",
    "pty.spawn",
    "socket.connect",
    "socket.bind",
    "socket.getaddrinfo",
    "socket.sendto",
)
"""What an audit must never do. ``os.fork`` is allowed: the JSONL parser pool forks itself and executes nothing."""

armed = False
"""Whether the guard bites; one flag for the whole process, because an audit hashes in threads."""


def guard(event: str, args: tuple[object, ...]) -> None:
    if armed and event.startswith(BANNED):
        raise RuntimeError(f"an audit must not execute or connect: {event}{args!r:.200}")


sys.addaudithook(guard)


@pytest.fixture
def inert() -> Iterator[None]:
    """Forbid starting a process or opening a connection while the test runs."""
    global armed  # noqa: PLW0603 - an audit hook is process-wide as well
    armed = True
    yield
    armed = False


@pytest.fixture(scope="session")
def contract() -> Contract:
    return load_contract()

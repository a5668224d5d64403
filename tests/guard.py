"""A process-wide audit hook that forbids what an audit must never do."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

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
"""``os.fork`` is not among them: the JSONL parser pool forks itself and executes nothing."""

_armed = False
"""One flag for the whole process, because an audit hashes in threads."""


def _hook(event: str, args: tuple[object, ...]) -> None:
    if _armed and event.startswith(BANNED):
        raise RuntimeError(f"an audit must not execute or connect: {event}{args!r:.200}")


sys.addaudithook(_hook)


@contextmanager
def inert() -> Iterator[None]:
    """Forbid starting a process or opening a connection inside the block."""
    global _armed  # noqa: PLW0603 - an audit hook is process-wide as well
    _armed = True
    try:
        yield
    finally:
        _armed = False

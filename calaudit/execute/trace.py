"""Attempts to reach a network, as ``strace`` saw them; where it is missing nobody watches, and provenance says so.

The network is cut off by the sandbox, whatever strace sees. A step that runs without a network and asks for one fails
by name all the same: what it would have fetched is an input that nobody declared, and what it would have sent is
nobody's business. (ONNX Runtime 1.32 for one reports to its maker unless ``ORT_DISABLE_TELEMETRY`` is set.)

strace stands outside the sandbox and writes into a named pipe there, so the command has nothing that it could empty,
read first, or end. A call goes on only when strace has written it, so what a command learned of is in the pipe.
"""

import codecs
import os
import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

__all__ = ["STRACE", "Lines", "Watch", "find_strace"]

STRACE = (
    "--daemonize=grandchild",  # the sandbox stays a child of this process, and ends with it
    *("--follow-forks", "--seccomp-bpf", "--quiet=all", "--decode-fds=all", "--string-limit=300"),
    *("-e", "trace=%network", "-e", "signal=none"),
)

_CALL = re.compile(r"\d+ +(?P<call>connect|sendto|sendmsg|sendmmsg)\((?P<fd>\d+)(?:<(?P<socket>[^>]{1,200})>)?")
# A quotation mark inside what a command sent is escaped, so this is the address and never what was sent.
_ADDRESS = re.compile(
    r"sa_family=AF_INET6?, sin6?_port=htons\((?P<port>\d+)\)[^\"\\]{0,100}\"(?P<address>[0-9a-fA-F.:]+)\""
)
_VSOCK = "sa_family=AF_VSOCK,"
_DATA = re.compile(r"\"(?P<data>(?:[^\"\\]|\\.)+)\"")
_UNFINISHED = "<unfinished ...>"
_LOOPBACK = re.compile(r"127\.|::1$")
_DNS = "53"
_HEADER = 12
_HOST = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")
_LOOK_UP = "a look-up"
_MOST = 20
_KEPT = 1000  # attempts, and sockets that ask for names
_LINE = 1 << 14  # bytes of a line; strings in it are cut by strace
_CHUNK = 1 << 16
_PATIENCE = 5.0  # seconds


def find_strace() -> str | None:
    """The strace of this machine."""
    return shutil.which("strace")


class Watch:
    """A named pipe for strace, and a thread that empties it; what it keeps does not grow with what is written."""

    def __init__(self, path: Path) -> None:
        """``path`` is made here; it lies where the command has no access."""
        self.path = path
        self._lines = Lines()

    def __enter__(self) -> Self:
        os.mkfifo(self.path, 0o600)
        reader = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # or it would wait for a writer
        self._own: int | None = os.open(self.path, os.O_WRONLY | os.O_CLOEXEC)  # or it would end before strace comes
        os.set_blocking(reader, True)
        self._thread = threading.Thread(target=self._empty, args=(reader,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self._finish()

    def attempts(self) -> tuple[str, ...]:
        """Each endpoint that was asked for, in order, once; asked when every process of the command is dead."""
        self._finish()
        # What was not read may be an attempt, so it counts as one.
        return (*self._lines.attempts(), *(["what strace wrote was not read to its end"] * self._thread.is_alive()))

    def _finish(self) -> None:
        """Read to the end, which comes with the end of the last process that could write."""
        if self._own is not None:
            os.close(self._own)
            self._own = None
        self._thread.join(_PATIENCE)

    def _empty(self, reader: int) -> None:
        try:
            while data := os.read(reader, _CHUNK):
                self._lines.feed(data)
            self._lines.feed(b"\n")
        finally:
            os.close(reader)


class Lines:
    """What strace writes, line by line, however it is cut; of a line that is too long the beginning counts."""

    def __init__(self) -> None:
        self._line = b""
        self._found: dict[str, None] = {}
        self._asking: dict[str, None] = {}

    def feed(self, data: bytes) -> None:
        """Take what was written."""
        *whole, rest = data.split(b"\n")
        for part in whole:
            self._take((self._line + part[:_LINE])[:_LINE].decode("utf-8", "replace"))
            self._line = b""
        self._line = (self._line + rest[:_LINE])[:_LINE]

    def attempts(self) -> tuple[str, ...]:
        """Each endpoint that was asked for, in order, once; a look-up names its host where that can be read."""
        found = dict(self._found)
        if any(one.startswith(f"{_LOOK_UP} of ") for one in found):
            found.pop(_LOOK_UP, None)
        return tuple(found)[:_MOST]

    def _take(self, line: str) -> None:
        call = _CALL.match(line)
        if call is not None and len(self._found) < _KEPT:
            self._found.update(dict.fromkeys(self._attempts(line, call["call"], call["socket"] or "")))

    def _attempts(self, line: str, call: str, socket: str) -> Iterator[str]:
        result = "unfinished" if line.endswith(_UNFINISHED) else line.rpartition(" = ")[2]
        result = result.partition(" ")[2] or result
        if _VSOCK in line:
            yield f"{call} to the machine's host: {result}"
        for found in _ADDRESS.finditer(line):
            address, port = found["address"], found["port"]
            if not _LOOPBACK.match(address):
                where = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
                yield f"{call} to {where}: {result}"
            elif port == _DNS:
                yield _LOOK_UP
                if len(self._asking) < _KEPT:
                    self._asking[socket] = None
        if call != "connect" and socket in self._asking:
            data = _DATA.search(line)
            yield from () if data is None else _asked(data["data"])


def _asked(escaped: str) -> Iterator[str]:
    """The host that a DNS question names (RFC 1035 §4.1): labels with their lengths, after the header."""
    try:
        data = codecs.decode(escaped, "unicode_escape").encode("latin-1")
    except (UnicodeDecodeError, UnicodeEncodeError):
        return
    labels, at = [], _HEADER
    while at < len(data) and data[at]:
        labels.append(data[at + 1 : at + 1 + data[at]].decode("latin-1"))
        at += 1 + data[at]
    host = ".".join(labels)
    if _HOST.fullmatch(host):
        yield f"{_LOOK_UP} of {host}"

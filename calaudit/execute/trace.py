"""Attempts to reach a network, as ``strace`` saw them; where it is missing nobody watches, and provenance says so.

The network is cut off by the sandbox, whatever strace sees. A step that runs without a network and asks for one fails
by name all the same: what it would have fetched is an input that nobody declared, and what it would have sent is
nobody's business. (ONNX Runtime 1.32 for one reports to its maker unless ``ORT_DISABLE_TELEMETRY`` is set.)
"""

import codecs
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

__all__ = ["STRACE", "attempts", "find_strace"]

STRACE = (
    *("--follow-forks", "--seccomp-bpf", "--quiet=all", "--decode-fds=all", "--string-limit=300"),
    *("-e", "trace=%network", "-e", "signal=none"),
)

_CALL = re.compile(
    r"(?P<call>connect|sendto|sendmsg|sendmmsg)\(.*?sa_family=AF_INET6?, "
    r"sin6?_port=htons\((?P<port>\d+)\).*?\"(?P<address>[0-9a-fA-F.:]+)\".*= (?P<result>.*)"
)
_QUESTION = re.compile(r"send(?:to|msg|mmsg)\(\d+<UDP[^>]*:\[[^\]]*->[^\]]*:53\]>.*?\"(?P<data>(?:[^\"\\]|\\.)+)\"")
_LOOPBACK = re.compile(r"127\.|::1$")
_DNS = "53"
_HEADER = 12
_HOST = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")
_MOST = 20


def find_strace() -> str | None:
    """The strace of the system; one from elsewhere would not be in the sandbox."""
    return shutil.which("strace", path="/usr/bin")


def attempts(trace: Path) -> tuple[str, ...]:
    """Each endpoint that was asked for, in order, once; a look-up names its host where that can be read."""
    found = dict.fromkeys(_attempts(trace))
    if any(one.startswith(f"{_LOOK_UP} of ") for one in found):
        found.pop(_LOOK_UP, None)
    return tuple(found)[:_MOST]


_LOOK_UP = "a look-up"


def _attempts(trace: Path) -> Iterator[str]:
    with trace.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            question = _QUESTION.search(line)
            if question is not None:
                yield from _asked(question["data"])
                continue
            found = _CALL.search(line)
            if found is None:
                continue
            address, port = found["address"], found["port"]
            if not _LOOPBACK.match(address):
                where = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
                yield f"{found['call']} to {where}: {found['result'].partition(' ')[2] or found['result']}"
            elif port == _DNS:
                yield _LOOK_UP


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

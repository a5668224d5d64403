"""What strace writes is read for attempts, however long it is, and whatever a command put into it."""

import os
import tracemalloc
from pathlib import Path

import pytest

from calaudit.execute.trace import Lines, Watch

REFUSED = "= -1 ENETUNREACH (Network is unreachable)"
TO = '{sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr("192.0.2.1")}'
HERE = '{sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("127.0.0.1")}'
SIX = (
    "{sa_family=AF_INET6, sin6_port=htons(443), sin6_flowinfo=htonl(0), "
    'inet_pton(AF_INET6, "2001:db8::1", &sin6_addr), sin6_scope_id=0}'
)


def told(*lines: str) -> tuple[str, ...]:
    read = Lines()
    for line in lines:
        read.feed(f"{line}\n".encode())
    return read.attempts()


@pytest.mark.parametrize(
    ("line", "attempt"),
    [
        (
            f"12 connect(3<TCP:[9]>, {TO}, 16) {REFUSED}",
            "connect to 192.0.2.1:443: ENETUNREACH (Network is unreachable)",
        ),
        (f"12 connect(3<TCP:[9]>, {TO}, 16 <unfinished ...>", "connect to 192.0.2.1:443: unfinished"),
        (f'12 sendto(3<UDP:[9]>, "x", 1, 0, {SIX}, 28) = 1', "sendto to [2001:db8::1]:443: 1"),
        (
            "12 connect(3<AF_VSOCK:[9]>, {sa_family=AF_VSOCK, svm_cid=VMADDR_CID_HOST, svm_port=0x1}, 16) = 0",
            "connect to the machine's host: 0",
        ),
        (
            f"12 sendmmsg(3<UDP:[9]>, [{{msg_name={HERE}}}, {{msg_name={TO}}}], 2, 0) = 2",
            "sendmmsg to 192.0.2.1:443: 2",
        ),
    ],
)
def test_each_way_of_asking(line: str, attempt: str) -> None:
    assert attempt in told(line)


@pytest.mark.parametrize(
    "line",
    [
        f"12 getpeername(3<TCP:[9]>, {TO}, [16]) = 0",
        '12 sendto(3<UNIX:[9]>, "sa_family=AF_INET, sin_port=htons(1), inet_addr(\\"192.0.2.1\\")", 9, 0, NULL, 0) = 9',
        '12 connect(3<UNIX:[9]>, {sa_family=AF_UNIX, sun_path="/run/x"}, 110) = 0',
    ],
)
def test_what_is_no_attempt(line: str) -> None:
    assert told(line) == ()


def test_nothing_grows(tmp_path: Path) -> None:
    tracemalloc.start()
    try:
        with Watch(tmp_path / "trace") as watch:
            with open(watch.path, "wb", buffering=0) as pipe:  # noqa: PTH123 - as strace does
                pipe.write(f"12 connect(3, {TO}, 16) = 0\n".encode())
                pipe.writelines(b"x" * (1 << 20) for _ in range(300))
                pipe.write(b"\n")
                pipe.writelines(
                    f"12 connect(3, {TO.replace('443', str(port))}, 16) = 0\n".encode() for port in range(5000)
                )
            attempts = watch.attempts()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert attempts[0] == "connect to 192.0.2.1:443: 0"
    assert len(attempts) == 20
    assert peak < 16 << 20


def test_without_a_writer_it_ends(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - names are enough
    with Watch(tmp_path / "trace") as watch:
        assert watch.attempts() == ()
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208 - the same

"""A filter of system calls for the sandbox, as the kernel reads it (classic BPF, ``<linux/seccomp.h>``).

It answers ENOSYS, as a kernel without them would, to what reaches past namespaces or past ``strace``: the calls on keys
(a user's keyrings are one for all of that user's processes, and ``/proc/keys`` lists them), and ``io_uring``, by which
a connection is asked for without a call that is seen.
"""

import errno
import struct
from collections.abc import Iterator

__all__ = ["program"]

# By the kernel's number of an architecture: add_key, request_key, keyctl, io_uring_setup.
_DENIED = {
    0xC000003E: (248, 249, 250, 425),  # x86_64
    0x40000003: (286, 287, 288, 425),  # i386
    0xC00000B7: (217, 218, 219, 425),  # aarch64
    0x40000028: (309, 310, 311, 425),  # arm
}
_X32 = 0x40000000  # the bit that marks the numbers of x86_64's third ABI, which are else the same
_NUMBER, _ARCHITECTURE = 0, 4  # offsets in struct seccomp_data
_LOAD, _AND, _EQUAL, _RETURN = 0x20, 0x54, 0x15, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000


def program() -> bytes:
    """The filter; on an architecture that it does not know it lets everything through."""
    return b"".join(struct.pack("=HBBI", *line) for line in _lines())


def _lines() -> Iterator[tuple[int, int, int, int]]:
    yield _LOAD, 0, 0, _ARCHITECTURE
    for architecture, numbers in _DENIED.items():
        block = [(_LOAD, 0, 0, _NUMBER), (_AND, 0, 0, ~_X32 & 0xFFFFFFFF)]
        for number in numbers:
            block += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERRNO | errno.ENOSYS)]
        block.append((_RETURN, 0, 0, _ALLOW))
        yield _EQUAL, 0, len(block), architecture
        yield from block
    yield _RETURN, 0, 0, _ALLOW

"""What the kernel calls a personality: how it shows itself to the commands that are started.

Whether it puts things in memory at random, and which release it tells (``setarch --uname-2.6``: its own numbers after
2.6, as for programs that know no later one).
"""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

__all__ = ["can_fix_addresses", "can_tell_old_release", "personality"]

_UNAME26 = 0x0020000  # <linux/personality.h>
_NO_RANDOMIZE = 0x0040000
_ASK = 0xFFFFFFFF


@contextmanager
def personality(*, fixed_addresses: bool, old_release: bool) -> Iterator[None]:
    """Start commands at the same addresses meanwhile, or under the old release."""
    wanted = _NO_RANDOMIZE * fixed_addresses | _UNAME26 * old_release
    before = _call(_ASK)
    _call(before | wanted)
    try:
        yield
    finally:
        _call(before)


@cache
def can_fix_addresses() -> bool:
    """Whether this machine allows it; containers often do not."""
    return _can(_NO_RANDOMIZE)


@cache
def can_tell_old_release() -> bool:
    """Whether this machine allows it."""
    return _can(_UNAME26)


def _can(flag: int) -> bool:
    before = _call(_ASK)
    if before == -1 or _call(before | flag) == -1:
        return False
    _call(before)
    return True


def _call(flags: int) -> int:
    before: int = ctypes.CDLL(None, use_errno=True).personality(ctypes.c_ulong(flags))
    return before

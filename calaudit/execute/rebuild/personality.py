"""Address randomization of the commands that are started, which the kernel calls a personality."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

__all__ = ["addresses", "can_fix_addresses"]

_NO_RANDOMIZE = 0x0040000  # <linux/personality.h>
_ASK = 0xFFFFFFFF


@contextmanager
def addresses(*, fixed: bool) -> Iterator[None]:
    """Start commands at the same addresses meanwhile, if ``fixed``."""
    if not fixed:
        yield
        return
    personality = ctypes.CDLL(None, use_errno=True).personality
    before = personality(ctypes.c_ulong(_ASK))
    personality(ctypes.c_ulong(before | _NO_RANDOMIZE))
    try:
        yield
    finally:
        personality(ctypes.c_ulong(before))


@cache
def can_fix_addresses() -> bool:
    """Whether this machine allows it; containers often do not."""
    personality = ctypes.CDLL(None, use_errno=True).personality
    before = personality(ctypes.c_ulong(_ASK))
    if before == -1 or personality(ctypes.c_ulong(before | _NO_RANDOMIZE)) == -1:
        return False
    personality(ctypes.c_ulong(before))
    return True

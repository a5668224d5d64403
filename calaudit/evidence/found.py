"""A file as the walk saw it."""

from operator import attrgetter
from typing import NamedTuple

identity = attrgetter("st_size", "st_ino", "st_dev", "st_mtime_ns", "st_ctime_ns")
"""Of an ``os.stat_result``: what stays the same while a file is neither changed nor replaced, as in :class:`Found`."""


class Found(NamedTuple):
    """One regular file: its port-relative path in NFC, its path as it is on disk, and what ``lstat`` said of it."""

    path: str
    raw: str
    size: int
    inode: int
    device: int
    mtime_ns: int
    ctime_ns: int

"""Files on their way: where an archive is opened, and where its members wait."""

import hashlib
import os
import stat
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from calaudit.errors import UsageError
from calaudit.execute.vendor.admission import Received, Ticket
from calaudit.execute.vendor.tar import Member

__all__ = ["Staged", "opened"]

_ARCHIVE = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


def opened(archive: Path) -> BinaryIO:
    """The archive, which is a regular file."""
    try:
        descriptor = os.open(archive, _ARCHIVE)
    except OSError as error:
        raise UsageError(f"{archive} cannot be read: {error.strerror}.") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UsageError(f"{archive} is no regular file.")
    return os.fdopen(descriptor, "rb")


class Staged:
    """A file that is being received: written where it waits, and hashed."""

    def __init__(self, target: Path, member: Member, ticket: Ticket, done: Callable[[Received], None]) -> None:
        self._target, self._member, self._ticket, self._done = target, member, ticket, done
        self._hasher = hashlib.sha256()
        self._file = target.open("xb")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self._file.close()
        if kind is None:
            self._done(
                Received(
                    path=self._member.path,
                    kind=self._ticket.kind,
                    step=self._ticket.step,
                    size=self._member.size,
                    sha256=self._hasher.hexdigest(),
                    staged=self._target,
                )
            )

    def write(self, data: bytes, /) -> None:
        """Take some bytes."""
        self._hasher.update(data)
        self._file.write(data)

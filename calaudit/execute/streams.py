"""One stream of a command, from its pipe into its log: masked, and at most as long as the cap."""

import hashlib
from pathlib import Path

from calaudit.execute.masking import MASK, Masker, Needles, Scattered
from calaudit.execute.nouns import Log

__all__ = ["Stream"]

_TAIL = 2000


class Stream:
    """What a command writes, as far as it is kept; the rest is read and dropped, or the command would wait."""

    def __init__(self, path: Path, needles: Needles, cap: int) -> None:
        """``path`` is made here; ``cap`` is the most that is kept, in bytes."""
        self.path, self._cap = path, cap
        self._masker, self._scattered = Masker(needles), Scattered(needles)
        self._file = path.open("xb", buffering=0)
        self._hasher = hashlib.sha256()
        self._kept = self._written = 0
        self._tail = b""
        self._lost: str | None = None

    def feed(self, data: bytes) -> None:
        """Take what the command wrote."""
        self._written += len(data)
        self._look(self._masker.feed(data))

    def close(self) -> Log:
        """The command writes no more."""
        self._look(self._masker.finish())
        if self._scattered.found:
            self._withhold()
        self._file.close()
        return Log(
            path=self.path,
            sha256=self._hasher.hexdigest(),
            written=self._written,
            truncated=self._written > self._cap and self._kept == self._cap,
            tail=self._tail.decode("utf-8", "replace"),
            leaked=tuple(sorted(self._masker.found | self._scattered.found)),
            lost=self._lost,
        )

    def _look(self, data: bytes) -> None:
        """Keep what is masked, and look for what could not be."""
        self._scattered.feed(data)
        self._keep(data)

    def _withhold(self) -> None:
        """Keep nothing: a secret is in it that is scattered over lines."""
        self._file.truncate(0)
        self._file.seek(0)
        self._hasher, self._kept, self._tail = hashlib.sha256(), 0, b""
        self._keep(MASK)

    def _keep(self, data: bytes) -> None:
        self._tail = (self._tail + data)[-_TAIL:]
        view = memoryview(data)[: self._cap - self._kept]
        while view and self._lost is None:
            try:
                done = self._file.write(view) or 0
            except OSError as error:  # the pipe is drained all the same, or the command would wait for ever
                self._lost = error.strerror or "it cannot be written"
                return
            self._hasher.update(view[:done])
            self._kept += done
            view = view[done:]

"""Cut a stream of bytes into blocks of whole lines, with line numbers."""

from typing import Final

from calaudit.evidence.nouns import Block

LINE_LIMIT: Final = 16 << 20
"""Bytes of the longest line that is kept together."""


class Lines:
    """Whole lines out of blocks that may end anywhere.

    A line longer than :data:`LINE_LIMIT` is cut: its parts come as blocks that do not end with a line feed.
    """

    def __init__(self) -> None:
        """Begin at line 1."""
        self._rest: list[bytes] = []
        self._held = 0
        self._line = 1

    def feed(self, data: bytes) -> Block | None:
        """The whole lines that are complete with these bytes, if any."""
        cut = data.rfind(b"\n") + 1
        if not cut and self._held + len(data) < LINE_LIMIT:
            self._hold(data)
            return None
        head = data[: cut or len(data)]
        whole = b"".join([*self._rest, head]) if self._rest else head
        self._rest, self._held = [], 0
        self._hold(data[len(head) :])
        return self._block(whole)

    def finish(self) -> Block | None:
        """The last line, where it does not end with a line feed."""
        whole = b"".join(self._rest)
        self._rest, self._held = [], 0
        return self._block(whole) if whole else None

    def _hold(self, data: bytes) -> None:
        if data:
            self._rest.append(data)
            self._held += len(data)

    def _block(self, data: bytes) -> Block:
        block = Block(self._line, data)
        self._line += data.count(b"\n")
        return block

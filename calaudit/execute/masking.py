"""Finding and masking secrets in what a step writes.

A value is looked for as it is and as programs commonly wrap it: hexadecimal, Base64 (both alphabets, at each of the
three alignments inside a longer text), quoted for URLs, JSON and shells. A value that a step compresses or encrypts is
not found: nothing can find that.
"""

import base64
import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from urllib import parse

from calaudit.errors import UsageError

__all__ = ["SHORTEST", "Masker", "Needles", "read_secrets"]

SHORTEST = 8
"""Characters that a secret has at least; shorter ones stand in ordinary data by chance."""

MASK = b"[secret]"
_CHUNK = 1 << 20


def read_secrets(names: Iterable[str], environment: Mapping[str, str]) -> dict[str, str]:
    """The values of declared secrets.

    Raises:
        UsageError: one is not set, or too short to be told from ordinary data.
    """
    values = {}
    for name in names:
        value = environment.get(name)
        if not value:
            raise UsageError(f"The secret {name} is not set; put it into the environment of this command.")
        if len(value) < SHORTEST:
            raise UsageError(f"The secret {name} has fewer than {SHORTEST} characters, so it could not be masked.")
        values[name] = value
    return values


class Needles:
    """Every form of every secret, ready to be searched for."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        """``secrets`` are values by name."""
        names: dict[bytes, str] = {}
        for name, value in secrets.items():
            for form in _forms(value):
                names.setdefault(form, name)
        self._names = names
        self.longest = max(map(len, names), default=0)
        # Longest first, and as a lookahead: a form that begins inside another is found too.
        ordered = sorted(names, key=len, reverse=True)
        self._regex = re.compile(b"(?=(" + b"|".join(map(re.escape, ordered)) + b"))") if ordered else None

    def find(self, data: bytes) -> Iterator[tuple[int, int, str]]:
        """Start, end and name of each form in some bytes; they may overlap."""
        # Plain searches are ten times as fast as the expression, and mostly there is nothing.
        if self._regex is not None and any(form in data for form in self._names):
            for match in self._regex.finditer(data):
                yield match.start(1), match.end(1), self._names[match[1]]

    def in_file(self, path: Path) -> set[str]:
        """The secrets in a file."""
        found: set[str] = set()
        if self._regex is None:
            return found
        kept = b""
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                data = kept + chunk
                found.update(name for _, _, name in self.find(data))
                kept = data[max(0, len(data) - self.longest + 1) :]
        return found


class Masker:
    """Masks a stream that comes in chunks; a value may be split over any number of them."""

    def __init__(self, needles: Needles) -> None:
        """``needles`` are what is masked."""
        self._needles = needles
        self._kept = b""
        self.found: set[str] = set()

    def feed(self, data: bytes) -> bytes:
        """The masked bytes that can be told by now."""
        return self._mask(self._kept + data, last=False)

    def finish(self) -> bytes:
        """The rest."""
        return self._mask(self._kept, last=True)

    def _mask(self, data: bytes, *, last: bool) -> bytes:
        # A form that begins at or behind the horizon may go on beyond the end, so it waits for the next chunk.
        horizon = len(data) if last else max(0, len(data) - max(self._needles.longest - 1, 0))
        out, done = [], 0
        for start, end, name in self._needles.find(data):
            if start >= max(horizon, done):
                break
            self.found.add(name)
            if start >= done:
                out += [data[done:start], MASK]
            done = max(done, end)
        if done < horizon:
            out.append(data[done:horizon])
            done = horizon
        self._kept = data[done:]
        return b"".join(out)


def _forms(value: str) -> Iterator[bytes]:
    raw = value.encode()
    yield raw
    yield raw.hex().encode()
    yield raw.hex().upper().encode()
    quoted = parse.quote(value, safe="")
    for spelled in (quoted, parse.quote(value), parse.quote_plus(value), _lower_escapes(quoted)):
        yield spelled.encode()
    yield json.dumps(value)[1:-1].encode()
    yield json.dumps(value, ensure_ascii=False)[1:-1].encode()
    yield shlex.quote(value).encode()
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for before in range(3):
            # Only digits that no neighbour has a part in stand wherever the value does.
            text = encode(b"\0" * before + raw)
            first = -(-before * 8 // 6)
            whole = (before + len(raw)) * 8 // 6
            yield text[first:whole]


def _lower_escapes(text: str) -> str:
    return re.sub(r"%[0-9A-F]{2}", lambda match: match[0].lower(), text)

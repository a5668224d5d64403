"""Finding and masking secrets in what a step writes.

A value is looked for as it is and as programs commonly wrap it: hexadecimal, Base64 (both alphabets) and Base32 at each
alignment inside a longer text, UTF-16, quoted for URLs, JSON and shells. Each of these is masked where it stands in one
piece, and found also where blanks and ends of lines are in between (Base64 in lines, ``od``, a key that was indented).
A value that a step compresses or encrypts is not found: nothing can find that.
"""

import base64
import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from urllib import parse

from calaudit.errors import UsageError

__all__ = ["MASK", "SHORTEST", "Masker", "Needles", "Scattered", "masked_text", "read_secrets"]

SHORTEST = 8
"""Characters that a secret has at least, without blanks; shorter ones stand in ordinary data by chance."""

MASK = b"[secret]"
_CHUNK = 1 << 20
_BLANKS = b" \t\n\r\v\f"


def read_secrets(names: Iterable[str], environment: Mapping[str, str]) -> dict[str, str]:
    """The values of declared secrets.

    Raises:
        UsageError: one is not set, is no text, or too short to be told from ordinary data.
    """
    values = {}
    for name in names:
        value = environment.get(name)
        if not value:
            raise UsageError(f"The secret {name} is not set; put it into the environment of this command.")
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise UsageError(f"The secret {name} is not UTF-8, so it could not be masked. Give it as Base64.")
        if len("".join(value.split())) < SHORTEST:
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
        self.dense = {form.translate(None, _BLANKS): name for form, name in names.items()}
        """The forms without blanks."""
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
        scattered = Scattered(self)
        if self.dense:
            with path.open("rb") as file:
                while chunk := file.read(_CHUNK):
                    scattered.feed(chunk)
        return scattered.found

    def in_bytes(self, data: bytes) -> set[str]:
        """The secrets in some bytes."""
        scattered = Scattered(self)
        scattered.feed(data)
        return scattered.found


class Scattered:
    """Finds secrets in a stream that comes in chunks, also those with blanks and ends of lines in between."""

    def __init__(self, needles: Needles) -> None:
        """``needles`` are what is looked for."""
        self._dense = needles.dense
        self._longest = max(map(len, self._dense), default=0)
        self._kept = b""
        self.found: set[str] = set()

    def feed(self, data: bytes) -> None:
        """Look at more of it."""
        if not self._dense:
            return
        dense = self._kept + data.translate(None, _BLANKS)
        self.found.update(name for form, name in self._dense.items() if form in dense)
        self._kept = dense[max(0, len(dense) - self._longest + 1) :]


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


def masked_text(text: str, needles: Needles) -> str:
    """A message without the secrets; nothing of it is left if one is in it that cannot be masked."""
    data = text.encode("utf-8", "surrogateescape")
    masker = Masker(needles)
    out = masker.feed(data) + masker.finish()
    if scattered := needles.in_bytes(out):
        return f"The message is withheld: the secret {min(scattered)} is in it."
    return out.decode("utf-8", "surrogateescape")


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
    yield ascii(value)[1:-1].encode()
    yield value.encode("utf-16-le")
    yield value.encode("utf-16-be")
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for before in range(3):
            # Only digits that no neighbour has a part in stand wherever the value does.
            text = encode(b"\0" * before + raw)
            first = -(-before * 8 // 6)
            whole = (before + len(raw)) * 8 // 6
            yield text[first:whole]
    for before in range(5):
        text = base64.b32encode(b"\0" * before + raw)[-(-before * 8 // 5) : (before + len(raw)) * 8 // 5]
        yield text
        yield text.lower()


def _lower_escapes(text: str) -> str:
    return re.sub(r"%[0-9A-F]{2}", lambda match: match[0].lower(), text)

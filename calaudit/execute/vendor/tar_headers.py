"""Headers of tar archives, read in the one way that POSIX and GNU tar mean them; everything else is refused."""

import re
from collections.abc import Iterator

from calaudit.errors import Malformed

__all__ = [
    "BLOCK",
    "COMPRESSED",
    "EXTENDED_MAX",
    "FILE",
    "FOLDER",
    "LONG_NAME",
    "PAX",
    "REFUSED",
    "agreed",
    "headed",
    "parse",
    "records",
]

BLOCK = 512
EXTENDED_MAX = 64 << 10
_OCTAL_MAX = 8**11 - 1
_MAGIC = {b"ustar\x0000": "POSIX", b"ustar  \x00": "GNU"}
COMPRESSED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
_NUMBER = re.compile(rb" *([0-7]+)[ \0]+")
_RECORD = re.compile(rb"([1-9][0-9]{0,6}) ")
_BINARY = 0x80  # begins a number that is too large for octal digits (GNU)
_IDLE = ((100, 108), (108, 116), (116, 124), (136, 148), (329, 337), (337, 345))
"""Where mode, owner, group, time and device stand."""

FILE, FOLDER, PAX, LONG_NAME = b"0", b"5", b"x", b"L"
REFUSED = {
    b"1": "a hard link",
    b"2": "a symbolic link",
    b"3": "a character device",
    b"4": "a block device",
    b"6": "a named pipe",
    b"7": "a contiguous file",
    b"g": "a header for all members",
    b"K": "a long link",
    b"S": "a sparse file",
    b"D": "a dump of a folder",
    b"M": "the rest of a file in another archive",
    b"V": "a volume's name",
}
_KEYWORDS = re.compile(
    r"path|size|[mac]time|[ug]id|[ug]name|comment|LIBARCHIVE\.(?:creationtime|xattr\..+)|SCHILY\.(?:xattr\..+|fflags|dev|ino|nlink)"
)
"""What an extended header may speak of: names and sizes, and what says nothing of a file's bytes."""


def headed(block: bytes) -> bool:
    """Whether this says that it is a header, or the start of one."""
    return block[257:265] in _MAGIC


def parse(block: bytes) -> tuple[bytes, bytes, int]:
    """Kind, name and size of a header, whose checksum holds."""
    form = _MAGIC.get(block[257:265])
    if form is None:
        raise Malformed("It is no POSIX or GNU tar archive, or is damaged (there is no ustar header).")
    if _octal(block[148:156], "checksum") != sum(block[:148]) + sum(block[156:]) + 8 * ord(" "):
        raise Malformed("A header is damaged: its checksum does not hold.")
    for begin, end in _IDLE:
        _demand_number(block[begin:end])
    name = _text(block[:100])
    prefix = _text(block[345:500]) if form == "POSIX" else b""
    kind = FILE if block[156:157] == b"\0" else block[156:157]
    if kind == FILE and _text(block[157:257]):
        raise Malformed("A file has the target of a link.")
    return kind, prefix + b"/" + name if prefix else name, _octal(block[124:136], "size")


def _demand_number(field: bytes) -> None:
    """Refuse what is no number in a field that means nothing here: other readers end at it without a word."""
    if field.strip(b"\0 ") and not _NUMBER.fullmatch(field) and field[0] != _BINARY:
        raise Malformed("A header is damaged: a number in it is none.")


def agreed(size: int, told: int | None) -> int:
    """The size of a member; an extended header speaks only for sizes that have no place in the other."""
    if told is None or told == size:
        return size
    if size or told <= _OCTAL_MAX:
        raise Malformed("Two headers of one member give two sizes.")
    return told


def records(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The members of an extended header: ``<length> <keyword>=<value>`` and a line feed, each keyword once."""
    seen: set[str] = set()
    while data:
        length = _RECORD.match(data)
        end = int(length[1]) if length else 0
        if length is None or not length.end() < end <= len(data) or data[end - 1 : end] != b"\n":
            raise Malformed("An extended header is damaged.")
        key, equals, value = data[length.end() : end - 1].partition(b"=")
        keyword = key.decode("utf-8", "replace")
        if not equals or keyword in seen:
            raise Malformed("An extended header is damaged, or says something twice.")
        if not _KEYWORDS.fullmatch(keyword):
            raise Malformed(f"An extended header speaks of {keyword!a}; no regular file needs that.")
        seen.add(keyword)
        yield keyword, value
        data = data[end:]


def _text(field: bytes) -> bytes:
    """Text up to the first NUL; nothing may hide behind it."""
    text, _, rest = field.partition(b"\0")
    if rest.strip(b"\0"):
        raise Malformed("A header holds something behind the end of a name.")
    return text


def _octal(field: bytes, what: str) -> int:
    found = _NUMBER.fullmatch(field)
    if found is None:
        raise Malformed(f"A header's {what} is not written in octal digits.")
    return int(found[1], 8)

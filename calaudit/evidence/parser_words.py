"""Why bytes are not what a parser expects, in our words where its own would not help."""

import re

LFS = b"version https://git-lfs.github.com/spec/"
"""How a file begins that Git LFS put in the place of the real one."""

_BOM = b"\xef\xbb\xbf"


_WORD = re.compile(r"-?\w{1,20}|\S")
_NO_NUMBER = re.compile(r"-?(NaN|Infinity)")


def not_json(data: bytes, parser_says: str, position: int) -> str:
    """Why bytes are not JSON; ``position`` is the character at which the parser stopped."""
    if not data.strip():
        return "The file is empty; expected a JSON value."
    if data.startswith(LFS):
        return "This is a pointer of Git LFS, not the file itself; run `git lfs pull`."
    if data.startswith(_BOM):
        return "The file begins with a byte order mark; save it as UTF-8 without one."
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return f"Byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8."
    if number := _NO_NUMBER.match(text, max(0, position - 1)) or _NO_NUMBER.match(text, position):
        return f"Not JSON: {number[0]} is no number of JSON; write a finite number, or null."
    found = _WORD.match(text, position)
    return f"Not JSON: {parser_says}{f', found {found[0]!r}' if found else ''}."

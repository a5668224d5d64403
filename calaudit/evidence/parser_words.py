"""Why bytes are not what a parser expects, in our words where its own would not help."""

LFS = b"version https://git-lfs.github.com/spec/"
"""How a file begins that Git LFS put in the place of the real one."""

_BOM = b"\xef\xbb\xbf"


def not_json(data: bytes, parser_says: str) -> str:
    """Why bytes are not JSON."""
    if not data.strip():
        return "The file is empty; expected a JSON value."
    if data.startswith(LFS):
        return "This is a pointer of Git LFS, not the file itself; run `git lfs pull`."
    if data.startswith(_BOM):
        return "The file begins with a byte order mark; save it as UTF-8 without one."
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return f"Byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8."
    return f"Not JSON: {parser_says}."

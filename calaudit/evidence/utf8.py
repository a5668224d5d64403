"""UTF-8 without a byte order mark: the only encoding of text evidence."""

from calaudit.errors import Malformed

BOM = b"\xef\xbb\xbf"


def check_utf8(data: bytes, *, first_line: int = 1) -> None:
    """Refuse bytes that are not UTF-8, or that begin with a byte order mark.

    Raises:
        Malformed: with the line of the first faulty byte, counted from ``first_line``.
    """
    if first_line == 1 and data.startswith(BOM):
        raise Malformed("The file begins with a byte order mark; save it as UTF-8 without one.", line=1, column=1)
    if data.isascii():
        return
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Malformed(
            f"Byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8.",
            line=data.count(b"\n", 0, error.start) + first_line,
            column=error.start - data.rfind(b"\n", 0, error.start),
        ) from error

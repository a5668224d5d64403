"""Writing tar archives, so that the same files give the same bytes."""

from collections.abc import Iterable, Mapping

from calaudit.execute.vendor.tar_headers import BLOCK, FILE, PAX

__all__ = ["pack"]


def pack(files: Mapping[str, bytes]) -> bytes:
    """An archive of files (POSIX tar): sorted, of nobody, of no time, readable by all."""
    out = bytearray()
    for path, data in sorted(files.items()):
        name = path.encode()
        if len(name) > 100 or not path.isascii():
            out += _header(b"pax/header", len(record := _record("path", path)), PAX) + _padded(record)
        out += _header(name[:100] if path.isascii() else b"member", len(data), FILE) + _padded(data)
    return bytes(out) + b"\0" * (2 * BLOCK)


def _header(name: bytes, size: int, kind: bytes) -> bytes:
    fields: Iterable[tuple[bytes, int]] = (
        (name, 100),
        (b"0000644\0", 8),
        (b"0000000\0", 8),
        (b"0000000\0", 8),
        (b"%011o\0" % size, 12),
        (b"%011o\0" % 0, 12),
        (b" " * 8, 8),
        (kind, 1),
        (b"", 100),
        (b"ustar\x0000", 8),
    )
    block = b"".join(text.ljust(width, b"\0") for text, width in fields).ljust(BLOCK, b"\0")
    return block[:148] + b"%06o\0 " % sum(block) + block[156:]


def _record(keyword: str, value: str) -> bytes:
    """One member of an extended header, which tells its own length."""
    body = f" {keyword}={value}\n".encode()
    length = len(body)
    while len(str(length)) + len(body) != length:
        length = len(str(length)) + len(body)
    return str(length).encode() + body


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % BLOCK)

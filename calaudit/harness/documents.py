"""Evidence documents as bytes: one spelling each, so that the same content is the same file."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from calaudit.files import write_atomic
from calaudit.model import Json

__all__ = ["json_bytes", "jsonl_bytes", "sha256_file", "write_json", "write_jsonl"]


def json_bytes(document: Mapping[str, Json]) -> bytes:
    """One JSON document: UTF-8, two spaces, members in the order given, a final newline.

    Raises:
        ValueError: a number is NaN or infinite, which JSON cannot say.
    """
    return (json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2) + "\n").encode()


def jsonl_bytes(records: Iterable[Mapping[str, Json]]) -> bytes:
    """One JSON record a line, without spaces.

    Raises:
        ValueError: a number is NaN or infinite, which JSON cannot say.
    """
    lines = (json.dumps(r, ensure_ascii=False, allow_nan=False, separators=(",", ":")) for r in records)
    return "".join(f"{line}\n" for line in lines).encode()


def write_json(path: Path, document: Mapping[str, Json]) -> None:
    """Write one JSON document, atomically."""
    write_atomic(path, json_bytes(document))


def write_jsonl(path: Path, records: Iterable[Mapping[str, Json]]) -> None:
    """Write JSON records, atomically."""
    write_atomic(path, jsonl_bytes(records))


def sha256_file(path: Path) -> str:
    """The SHA-256 of a file's bytes, in lower-case hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

"""An unpacked vendor kit: what the port had when it was made."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from calaudit.contract import Schemas
from calaudit.errors import Malformed, UsageError
from calaudit.evidence.strict_json import parse_json

__all__ = ["KIT_MANIFEST", "KIT_SCHEMA", "demand_as_packed"]

KIT_MANIFEST = "manifest.json"
"""Where a kit says what is in it."""

KIT_SCHEMA = "vendor-kit/v1"


def demand_as_packed(port: Path, step: str, read: Mapping[str, str], schemas: Schemas) -> None:
    """Where this is an unpacked vendor kit: what was read is what the port has.

    Raises:
        UsageError: it is something else, so that the port would refuse the attestation.
    """
    try:
        kit: Any = parse_json((port / KIT_MANIFEST).read_bytes())
    except (OSError, Malformed):
        return  # it is a port, or a folder of the vendor's own
    if not schemas.is_valid(KIT_SCHEMA, kit):
        return
    for item in (item for found in kit["steps"] if found["name"] == step for item in found["materials"]):
        path, digest = item["path"], item["sha256"]
        if path in read and read[path] != digest:
            raise UsageError(
                f"{path} is not what the port had when it made this kit, so it would refuse the attestation. Get the "
                f"file from the port's owners. Expected: {digest}. Found: {read[path]}."
            )

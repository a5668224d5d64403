"""``port.yaml`` as verbs read it that write or run: by the strict parser and its schema, or not at all."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from calaudit.contract import Schemas
from calaudit.contract.documents import parse_document
from calaudit.errors import ContractError, Malformed, UsageError
from calaudit.evidence.nouns import DOCUMENT_LIMIT
from calaudit.trust.steps import ChainStep, read_chain

__all__ = ["MANIFEST", "chain_of", "read_manifest"]

MANIFEST = "port.yaml"


def read_manifest(port: Path, schemas: Schemas) -> dict[str, Any]:
    """``port.yaml``, by the strict parser and its schema.

    Raises:
        UsageError: it cannot be read, or is faulty.
    """
    path = port / MANIFEST
    try:
        with path.open("rb") as file:
            data = file.read(DOCUMENT_LIMIT + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}. Is this a port?") from error
    if len(data) > DOCUMENT_LIMIT:  # YAML that is cut off can still be YAML, with fewer steps
        raise UsageError(f"{path} has more than {DOCUMENT_LIMIT >> 20} MiB. Make it smaller.")
    try:
        document: dict[str, Any] = parse_document(data, str(path), schemas, "port/v1")
    except ContractError as error:
        raise UsageError(str(error)) from error
    return document


def chain_of(manifest: Mapping[str, Any]) -> tuple[ChainStep, ...]:
    """The steps of a manifest as verification sees them.

    Raises:
        UsageError: they contradict each other.
    """
    try:
        return read_chain(dict(manifest))
    except Malformed as error:
        raise UsageError(f"{MANIFEST}: {error.message}") from error

"""What a vendor may return at all: attestations of declared steps, what they made, and documents in ``vendor/``.

A layout, signoffs, waivers, ``port.yaml`` and everything else that decides about a port comes another way, whatever
steps say that they make, and however their names are spelled.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from calaudit.contract import Gates, Schemas
from calaudit.errors import Malformed
from calaudit.evidence.documents import PARSED, examine, too_large
from calaudit.evidence.names import fold
from calaudit.evidence.nouns import DOCUMENT_LIMIT
from calaudit.execute.journal import FOLDER
from calaudit.trust.envelope import SIZE_MAX
from calaudit.trust.steps import ChainStep

__all__ = ["Kind", "Received", "Ticket", "admit", "check_document"]

_ATTESTATION = re.compile(
    r"attestations/(?P<step>[a-z0-9][a-z0-9-]*)\.[0-9a-f]{8}\.(?:link|[1-9][0-9]{0,8}\.dsse\.json)"
)
_VENDOR = "vendor/"
_CLOSED = frozenset({"attestations", "signoffs", "waivers", "port.yaml", FOLDER})
"""What is a file or folder of this name, in any letter case, is no step's to make."""


class Kind(StrEnum):
    """What a received file is."""

    LINK = "link"
    PROVENANCE = "provenance"
    DOCUMENT = "vendor document"
    PRODUCT = "product"

    @property
    def is_attestation(self) -> bool:
        """Whether it carries signatures."""
        return self in (Kind.LINK, Kind.PROVENANCE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """What a name is let in as; ``step`` is whose, ``limit`` how many bytes it may have (None: as many as fit)."""

    kind: Kind
    step: str | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One file that came: where it belongs, and where it waits."""

    path: str
    kind: Kind
    step: str | None
    size: int
    sha256: str
    staged: Path


def admit(path: str, chain: Sequence[ChainStep], gates: Gates) -> Ticket:
    """What a path of an archive is let in as.

    Raises:
        Malformed: nothing of that name is received.
    """
    attestation = _ATTESTATION.fullmatch(path)
    if attestation is not None:
        if attestation["step"] not in {step.name for step in chain}:
            raise Malformed(f"{path} attests the step {attestation['step']}, which port.yaml does not declare.")
        kind = Kind.LINK if path.endswith(".link") else Kind.PROVENANCE
        return Ticket(kind=kind, step=attestation["step"], limit=SIZE_MAX)
    if fold(path.partition("/")[0]) in _CLOSED:
        raise Malformed(f"{path} is not received: it decides about the port, whatever a step says that it makes.")
    maker = next((step for step in chain if step.writes(path)), None)
    if maker is not None:
        return Ticket(kind=Kind.PRODUCT, step=maker.name)
    if path.startswith(_VENDOR) and gates.match(path) is not None:
        return Ticket(kind=Kind.DOCUMENT, limit=DOCUMENT_LIMIT)
    raise Malformed(
        f"{path} is not received: it is no link or provenance of a step (attestations/), no product of one, and "
        "nothing that the contract knows in vendor/."
    )


def check_document(received: Received, gates: Gates, schemas: Schemas) -> None:
    """Hold a file to its format and schema, by the parser that an audit reads it with.

    What is longer than that parser reads at once is left to the audit.

    Raises:
        Malformed: it does not follow them.
    """
    spec = gates.match(received.path)
    if spec is None or spec.format not in PARSED or received.size > DOCUMENT_LIMIT:
        return
    refused = too_large(spec, received.size)
    parsed = refused or examine(received.staged.read_bytes(), spec, schemas, gates.placeholders)
    if parsed.reason is not None:
        raise Malformed(f"{received.path} cannot be used ({parsed.reason})")

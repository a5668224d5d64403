"""What the contract declares: gates, and the artifacts, digest lists and duties in them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType


class Format(StrEnum):
    """How the bytes of an artifact are read."""

    JSON = "json"
    JSONL = "jsonl"
    YAML = "yaml"
    CSV = "csv"
    CHECKSUMS = "checksums"
    TEXT = "text"
    ONNX = "onnx"
    NPY = "npy"
    SAFETENSORS = "safetensors"
    OPAQUE = "opaque"


@dataclass(frozen=True, slots=True, kw_only=True)
class HashList:
    """A list of digests inside an artifact, as declared in ``policies/gates.yaml``.

    ``entries`` is the JSON pointer of the list (empty for a checksum file); ``path``, ``sha256`` and ``bytes`` the
    member names of an entry; ``base`` the folder that paths are relative to; ``covers`` the patterns of files that must
    be listed.
    """

    entries: str = ""
    path: str = "path"
    sha256: str = "sha256"
    bytes: str | None = None
    uri: str | None = None
    base: str = ""
    covers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactSpec:
    """What the contract demands of one artifact: where it is, how it is read, which schema it follows.

    ``pattern`` is a glob over port-relative paths (``*`` stays inside a segment, ``**`` does not). ``tag`` says whether
    the document must carry its schema tag (``True``), may lack it (``False``), or never does (``None``: JSONL, CSV,
    foreign). ``binds`` maps a JSON pointer in the document to the path whose SHA-256 stands there. ``foreign`` marks
    what others wrote and pinned by digest: an integer beyond 64 bits in it is read as a double.
    """

    name: str
    gate: str
    pattern: str
    format: Format
    schema: str | None = None
    required: bool = True
    tag: bool | None = None
    hashes: tuple[HashList, ...] = ()
    binds: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    free_text: frozenset[str] = frozenset()
    machine_paths: bool = False
    foreign: bool = False

    @property
    def is_glob(self) -> bool:
        """Whether the pattern can match more than one path."""
        return any(c in self.pattern for c in "*?[")


@dataclass(frozen=True, slots=True, kw_only=True)
class Duty:
    """What a role signs whoever owns the gate (runbook §2): the files that match ``covers``, wherever they are."""

    role: str
    covers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One of the eleven gates, as declared in ``policies/gates.yaml``.

    ``threshold`` names the rules that are the gate's hard threshold (runbook §15): one of them that this version of
    calaudit does not have keeps the gate open. ``duties`` are what single roles sign in it.
    """

    id: str
    name: str
    title: str
    owner: str
    output: str
    back_to: str
    cosigners: tuple[str, ...] = ()
    depends: tuple[str, ...] = ()
    threshold: tuple[str, ...] = ()
    artifacts: tuple[ArtifactSpec, ...] = ()
    duties: tuple[Duty, ...] = ()

    @property
    def signers(self) -> tuple[str, ...]:
        """The roles that sign the gate: its owner, then its co-signers."""
        return (self.owner, *self.cosigners)

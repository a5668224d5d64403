"""The nouns: frozen, from the standard library only, without I/O.

Everything the auditor passes from one station to the next is one of these. Paths are port-relative POSIX paths in
Unicode NFC; a name that is not UTF-8 is shown with backslash escapes. Digests are lower-case hexadecimal SHA-256.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""What a strict parser returns: JSON's data model, whatever the syntax."""

PORT = "port"
"""The pseudo-gate that holds what belongs to the port as a whole (``port.yaml``, ``vendor/``, ``tools/`` …)."""

EVERY_GATE = "*"
"""The ``Rule.gate`` of a rule that is planned on every gate and on the port."""


class Kind(StrEnum):
    """What one rule says of one gate; the names are those of SARIF 2.1.0 §3.27.9."""

    PASS = "pass"  # noqa: S105 - a SARIF kind, not a password
    FAIL = "fail"
    OPEN = "open"
    NOT_APPLICABLE = "notApplicable"


class Level(StrEnum):
    """How much a finding of a rule weighs; only ``error`` decides a verdict."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Verdict(StrEnum):
    """What calaudit says of a gate or a port."""

    PASSED = "PASSED"
    FAILED = "FAILED"
    BLOCKED_REPRODUCIBILITY = "BLOCKED_REPRODUCIBILITY"
    BLOCKED_COMPILER = "BLOCKED_COMPILER"
    INCOMPLETE = "INCOMPLETE"
    NOT_STARTED = "NOT_STARTED"


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


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Location:
    """A place in the port: a file, and inside it a JSON pointer (RFC 6901) or a line (from 1) or both."""

    path: str
    pointer: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        line = "" if self.line is None else f":{self.line}"
        pointer = "" if self.pointer is None else f"#{self.pointer}"
        return f"{self.path}{line}{pointer}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One demand on a port.

    ``gate`` is a gate id, :data:`EVERY_GATE` or :data:`PORT`. ``kinds`` are the result kinds the rule can give.
    ``trust`` marks a rule that needs signatures, a clock or a person: it counts for the gate verdict, never for the
    technical one.
    ``back_to`` is where to go when the rule fails, if that is not where its gate goes back to.
    """

    id: str
    gate: str
    level: Level
    title: str
    why: str
    fix: str
    kinds: frozenset[Kind]
    tier: str = "check"
    since: str = "0.1"
    trust: bool = False
    unwaivable: bool = False
    back_to: str | None = None

    @property
    def key(self) -> str:
        """The unambiguous name: ``G2.greedy-mismatch``, ``common.symlink`` or ``port.kickoff-incomplete``."""
        return f"{'common' if self.gate == EVERY_GATE else self.gate}.{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppression:
    """A waiver that lets one failure stand for a while; the failure stays in every report, and is counted.

    ``waiver`` is the waiver's path, ``until`` the moment (UTC) from which on it no longer counts, ``by`` who signed it.
    """

    waiver: str
    reason: str
    ticket: str
    until: str
    by: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One rule on one gate. A finding is a result that is ``fail`` or ``open``.

    ``examined`` is how many items the rule looked at on that gate. ``blocks`` names the BLOCKED verdict that a finding
    gives to its gate, and ``blocked_gates`` other gates that it stops before they start. ``suppression`` is the waiver
    that covers a failure: it no longer decides the gate verdict, and never the technical one.
    """

    rule: str
    gate: str
    kind: Kind
    level: Level
    message: str = ""
    location: Location | None = None
    expected: str | None = None
    actual: str | None = None
    examined: int = 0
    blocks: Verdict | None = None
    blocked_gates: tuple[str, ...] = ()
    suppression: Suppression | None = None

    @property
    def is_finding(self) -> bool:
        """Whether somebody has to act on it."""
        return self.kind in (Kind.FAIL, Kind.OPEN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something the evidence station met while reading, in the words of the rule that will report it; unjudged."""

    rule: str
    message: str
    location: Location
    expected: str | None = None
    actual: str | None = None
    kind: Kind = Kind.FAIL


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """What ``port.yaml`` says of the port; the defaults stand in where it cannot be read."""

    id: str = "unknown"
    profile: str = "unknown"
    stage: str = "development"
    claim: str = "G10"


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """A file as it was read: what a signoff names."""

    path: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TechnicalVerdict:
    """What the rules without signatures and clock say of a gate; ``digest`` covers it all, and signoffs bind that."""

    verdict: Verdict
    digest: str
    results: tuple[Result, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustSummary:
    """What the audit trusted, for the reader of a report.

    ``registry_version`` and ``registry_digest`` are None without a sound registry. ``root_digest`` is what the newest
    root is remembered by, empty without one.
    """

    origin: str
    label: str | None
    root_version: int
    registry_version: int | None
    registry_digest: str | None
    rollback_checked: bool
    root_digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport:
    """The judgement of one gate.

    ``technical`` is deterministic (no clock, no signature, no machine path) and ``technical_digest`` is what a signoff
    binds; ``verdict`` adds the trust rules. ``planned`` counts the rules that had to run. ``artifacts`` are the gate's
    files; ``owned_by`` names who answers for it by the registry, ``signed_by`` those whose signoffs hold, each as
    ``name (role)``.
    """

    gate: str
    title: str
    owner: str
    back_to: str
    verdict: Verdict
    technical: Verdict
    technical_digest: str
    planned: int
    files: int
    results: tuple[Result, ...]
    artifacts: tuple[Artifact, ...] = ()
    owned_by: tuple[str, ...] = ()
    signed_by: tuple[str, ...] = ()
    cosigners: tuple[str, ...] = ()

    @property
    def owners(self) -> str:
        """The roles that answer for the gate: ``serving, runtime``."""
        return ", ".join((self.owner, *self.cosigners))

    @property
    def suppressed(self) -> tuple[Result, ...]:
        """The failures that a waiver covers."""
        return tuple(r for r in self.results if r.suppression is not None)

    @property
    def findings(self) -> tuple[Result, ...]:
        """The results somebody has to act on."""
        return tuple(r for r in self.results if r.is_finding)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything one audit found, in the order of the gates, each gate's results sorted.

    ``rules`` maps a rule key to its metadata for every rule that was planned. ``unsafe`` lists the flags that weakened
    the audit; ``notes`` what the reader must know besides the results. ``trust`` is None where no root is pinned.
    ``judged_at`` is the moment (UTC) for which expiries were judged.
    """

    port: Port
    verdict: Verdict
    exit_code: int
    gates: tuple[GateReport, ...]
    rules: Mapping[str, Rule]
    contract_digest: str
    contract_version: str
    through: str
    trust: TrustSummary | None = None
    judged_at: str = ""
    unsafe: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def results(self) -> tuple[Result, ...]:
        """All results of all gates."""
        return tuple(r for g in self.gates for r in g.results)

    @property
    def findings(self) -> tuple[Result, ...]:
        """All findings of all gates."""
        return tuple(r for r in self.results if r.is_finding)

    def rule(self, result: Result) -> Rule:
        """The metadata of the rule that gave a result."""
        found = self.rules.get(f"{result.gate}.{result.rule}") or self.rules.get(f"common.{result.rule}")
        if found is None:
            raise KeyError(f"no rule {result.rule} was planned on {result.gate}")
        return found

    def of(self, rule: str) -> list[Result]:
        """The results of one rule, by its id or its key."""
        return [r for r in self.results if rule in (r.rule, self.rule(r).key)]


def plain(value: Any) -> Any:
    """A JSON-ready copy of frozen data: mappings to dicts, tuples and sets to lists."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(plain(v) for v in value)
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return value

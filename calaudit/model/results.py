"""Rules, and what they say: results, their places, and verdicts."""

from dataclasses import dataclass
from enum import StrEnum

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

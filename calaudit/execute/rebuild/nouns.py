"""What a rebuild is made of; frozen, without I/O."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from calaudit.execute.nouns import Record

__all__ = ["Build", "Cause", "Change", "Class", "Difference", "Factor", "Finding", "Kind", "Part", "Rebuild", "Traits"]


class Factor(StrEnum):
    """One condition of a run that a product must not depend on."""

    BUILD_PATH = "build-path"
    HOSTNAME = "hostname"
    USER = "user"
    LOCALE = "locale"
    TIME_ZONE = "time-zone"
    UMASK = "umask"
    HOME = "home"
    HASH_SEED = "hash-seed"
    FILE_ORDER = "file-order"
    CLOCK = "clock"
    CPU_COUNT = "cpu-count"
    ADDRESSES = "addresses"
    KERNEL = "kernel-release"


class Part(StrEnum):
    """What a build is for.

    ``published`` is what the port already holds; ``identical`` repeats the baseline in the same conditions, ``varied``
    changes all that can be changed, and ``factor`` one condition only, to find out which of them matters.
    """

    PUBLISHED = "published"
    BASELINE = "baseline"
    IDENTICAL = "identical"
    VARIED = "varied"
    FACTOR = "factor"


class Kind(StrEnum):
    """What a comparer knows about a change from the format alone."""

    VALUE = "value"
    ORDER = "order"
    PRESENCE = "presence"
    TIME = "time"
    OWNER = "owner"
    FORM = "form"


class Class(StrEnum):
    """What kind of difference it is. ``undeclared`` is one that nothing explains."""

    TIMESTAMP = "timestamp"
    PATH = "path"
    ORDER = "order"
    RANDOMNESS = "randomness"
    HOST = "hostname/user"
    LOCALE = "locale"
    ADDRESS = "address"
    UNDECLARED = "undeclared"


class Cause(StrEnum):
    """How a difference came about, as the builds show it."""

    CHANCE = "chance"
    FACTOR = "factor"
    COMBINATION = "combination"
    PUBLISHED = "published"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One place where two files differ.

    ``members`` leads from the file into nested archives; ``place`` is where in the innermost one: a JSON pointer, a
    field path, a line, a metadata field. ``offset`` is the byte of the innermost member (of the file, without members)
    where its bytes first differ, as far as it is known. ``old`` and ``new`` are what stands there, None where nothing
    does. ``whole`` says that they are all that differs at this place.
    """

    members: tuple[str, ...]
    place: str
    kind: Kind
    old: bytes | None
    new: bytes | None
    offset: int | None = None
    whole: bool = True
    text: bool = True

    @property
    def key(self) -> tuple[tuple[str, ...], str]:
        """The same for what two comparisons find in one place."""
        return self.members, self.place


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What a build's own conditions look like when they get into a product.

    ``window`` are the seconds since 1970 between which the command ran, by the clock that it saw; None when unknown.
    """

    paths: tuple[str, ...] = ()
    hostname: str | None = None
    invocation: str | None = None
    window: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """One build: its number (0 is what is published), its conditions, and where its products are kept."""

    number: int
    part: Part
    folder: Path
    products: Mapping[str, str]
    conditions: Mapping[Factor, str] = field(default_factory=dict)
    varied: tuple[Factor, ...] = ()
    traits: Traits = field(default_factory=Traits)
    record: Record | None = None
    started: datetime | None = None
    finished: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a change is: its class, whether all of it is accounted for, and two sentences."""

    label: Class
    bounded: bool
    explanation: str
    remedy: str

    @property
    def tolerated(self) -> bool:
        """Whether it is one that the contract tolerates (G5 ``rebuild-differs``): a bounded time or address."""
        return self.bounded and self.label in (Class.TIMESTAMP, Class.ADDRESS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One difference of one product, between two builds."""

    path: str
    change: Change
    builds: tuple[int, int]
    cause: Cause
    factors: tuple[Factor, ...]
    finding: Finding

    @property
    def tolerated(self) -> bool:
        """Whether the contract tolerates it."""
        return self.finding.tolerated


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuild:
    """All builds of a step and how they differ; ``complete`` says that every difference is listed."""

    builds: tuple[Build, ...]
    fixed: Mapping[Factor, str]
    differences: tuple[Difference, ...]
    complete: bool

    @property
    def reproducible(self) -> bool:
        """Whether every build gave the same bytes."""
        return not self.differences and self.complete

    @property
    def blocked(self) -> bool:
        """Whether a difference is there that the contract does not tolerate."""
        return not self.complete or not all(difference.tolerated for difference in self.differences)

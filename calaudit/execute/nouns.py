"""What a run is made of; frozen, without I/O."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath

from calaudit.errors import CalauditError
from calaudit.model import Json
from calaudit.trust.isolation import Isolation

__all__ = [
    "NO_NETWORK",
    "Guarantees",
    "Job",
    "Log",
    "Outcome",
    "Record",
    "Step",
    "StepAwaited",
    "StepFailed",
    "Toolchain",
]

NO_NETWORK = "none"


class StepFailed(CalauditError):
    """A step ran, or could not be ended in order; the port is as it was, and nothing was signed.

    ``interrupted`` says that whoever started it ended it.
    """

    def __init__(self, message: str, *, interrupted: bool = False) -> None:
        super().__init__(message)
        self.interrupted = interrupted


class StepAwaited(CalauditError):
    """A step is built elsewhere, and nobody attests it as it has to be now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of ``port.yaml``; ``materials`` and ``products`` are globs, ``tools`` are paths."""

    name: str
    gate: str
    role: str
    run: tuple[str, ...]
    materials: tuple[str, ...]
    products: tuple[str, ...]
    kind: str
    network: str = NO_NETWORK
    image: str | None = None
    tools: tuple[str, ...] = ()
    toolchain: str | None = None
    rebuilds: int = 1
    timeout_s: float | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()

    @property
    def inputs(self) -> tuple[str, ...]:
        """Globs of everything that the command reads from the port."""
        return (*self.materials, *self.tools)


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolchain:
    """A named environment outside the port.

    ``folders`` are bound read-only where they are, ``programs`` come first on the PATH. ``digest`` covers every file
    and link in the folders; ``versions`` are those of the Python distributions that lie in them.
    """

    name: str
    folders: tuple[Path, ...]
    programs: tuple[Path, ...]
    digest: str
    versions: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarantees:
    """What an executor enforces.

    ``network``: nothing but the declared endpoint can be reached. ``inputs``: no file that is not declared can be read,
    save the toolchain's and the system's own, and no input can be written. ``fixed`` names what is the same on every
    machine.
    """

    isolation: Isolation
    network: bool
    inputs: bool
    fixed: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """As provenance says it."""
        fixed: list[Json] = list(self.fixed)
        return {
            "isolation": self.isolation.word,
            "networkEnforced": self.network,
            "inputsEnforced": self.inputs,
            "fixed": fixed,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What an executor is asked to do.

    ``workspace`` on the host is ``inside`` for the command, which starts there; ``sealed`` are files and folders in it
    that are not to be written, ``private`` is a folder for a home and temporary files. ``secrets`` are values by
    variable; they reach the command's environment and nothing else.
    """

    argv: tuple[str, ...]
    invocation: str
    workspace: Path
    private: Path
    stdout: Path
    stderr: Path
    log_cap: int
    env: Mapping[str, str]
    sealed: tuple[str, ...] = ()
    secrets: Mapping[str, str] = field(repr=False, default_factory=dict)
    network: str = NO_NETWORK
    image: str | None = None
    toolchain: Toolchain | None = None
    timeout_s: float | None = None
    inside: str = "/port"
    hostname: str = "calaudit"
    uid: int = 1000

    @property
    def held(self) -> tuple[str, ...]:
        """The folders above what is sealed, outermost first.

        An executor mounts each on itself. What is mounted cannot be renamed, and so nothing takes an input's place
        while it is away. The price is that a file cannot be renamed from one of them to another, only copied.
        """
        above = {str(folder) for path in self.sealed for folder in PurePosixPath(path).parents}
        return tuple(sorted(above - {"."}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """One stream of a command as it was kept: masked, and at most as long as the cap.

    ``written`` counts the bytes that the command wrote, ``tail`` is the end of them, ``leaked`` are the secrets whose
    value was in them, ``lost`` says why the file is not whole for another reason than the cap.
    """

    path: Path
    sha256: str
    written: int
    truncated: bool
    tail: str
    leaked: tuple[str, ...] = ()
    lost: str | None = None

    def to_json(self) -> dict[str, Json]:
        """As provenance says it."""
        return {"sha256": self.sha256, "bytesWritten": self.written, "truncated": self.truncated}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a command ended.

    Exactly one of ``exit_code`` and ``signal`` is set. ``trouble`` is a sentence when the executor, not the command,
    failed. ``peak_rss_bytes`` is the largest resident size of any one process, as often as it was looked at; None when
    all ended before. ``network_attempts`` is None when nobody watched for them.
    """

    exit_code: int | None
    signal: int | None
    started: datetime
    finished: datetime
    duration_s: float
    stdout: Log
    stderr: Log
    peak_rss_bytes: int | None = None
    timed_out: bool = False
    interrupted: bool = False
    network_attempts: tuple[str, ...] | None = None
    trouble: str | None = None

    @property
    def good(self) -> bool:
        """Whether the command ended by itself with 0."""
        return self.exit_code == 0 and not self.timed_out and not self.interrupted and self.trouble is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One invocation of a step that ended well: all that is signed about it.

    ``materials`` holds the tools too. Paths are relative to the port, digests are SHA-256.
    """

    port: str
    step: Step
    command: tuple[str, ...]
    materials: Mapping[str, str]
    products: Mapping[str, str]
    toolchain: Toolchain | None
    executor: str
    builder: str
    guarantees: Guarantees
    outcome: Outcome
    invocation: str
    versions: Mapping[str, str]

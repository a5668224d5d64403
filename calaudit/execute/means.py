"""What steps need to run: an executor, a toolchain, the key of their functionary; each is looked up once."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from securesystemslib.signer import Signer

from calaudit.contract import Schemas
from calaudit.errors import UsageError
from calaudit.execute.executor import Executor, executor_for
from calaudit.execute.links import attestations
from calaudit.execute.nouns import Step, Toolchain
from calaudit.execute.running import Setting
from calaudit.execute.toolchains import resolve
from calaudit.pins.store import state_directory
from calaudit.trust import Trust, TrustSource, establish
from calaudit.trust.isolation import ELSEWHERE
from calaudit.trust.registry import Registry
from calaudit.trust.roles import FUNCTIONARY

__all__ = ["Means", "Told", "Wish"]


class Told(Protocol):
    """Who is told what happens."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...

    def begin(self, step: str, what: str) -> None:
        """A step begins."""
        ...

    def line(self, text: str) -> None:
        """Something to keep."""
        ...

    def end(self) -> None:
        """Nothing runs any more."""
        ...


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What is asked for: one ``step``, or those from the gate ``first`` on, or all; ``kind`` overrules the executor."""

    port: Path
    step: str | None = None
    first: str | None = None
    force: bool = False
    kind: str | None = None
    toolchains: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    logs: Path | None = None
    trust: TrustSource | None = None
    layouts: tuple[Path, ...] = ()
    invocation: Callable[[Step], str] = lambda _: str(uuid.uuid4())


class Means:
    """What the steps of one port need, as a wish says it."""

    def __init__(self, wish: Wish, name: str, schemas: Schemas) -> None:
        """``name`` is the id of the port."""
        self._wish, self._name, self._schemas = wish, name, schemas
        self._executors: dict[str, Executor] = {}
        self._toolchains: dict[str, Toolchain] = {}

    def kind(self, step: Step) -> str:
        """What runs it; the wish's executor is for what it names, and not for all that is built elsewhere."""
        if self._wish.step is None:
            return step.kind if step.kind == ELSEWHERE else self._wish.kind or step.kind
        return self._wish.kind or step.kind if step.name == self._wish.step else step.kind

    def executor(self, kind: str) -> Executor:
        """The executor of a kind.

        Raises:
            UsageError: there is none.
        """
        if kind not in self._executors:
            self._executors[kind] = executor_for(kind, layouts=self._wish.layouts)
        return self._executors[kind]

    def toolchain(self, step: Step) -> Toolchain | None:
        """The toolchain of a step that is run here.

        Raises:
            UsageError: nobody says where it is, or it cannot be read.
        """
        name = step.toolchain
        if name is None or self.kind(step) == ELSEWHERE:
            return None
        if name not in self._toolchains:
            cache = state_directory() / "toolchains"
            self._toolchains[name] = resolve(name, self._wish.toolchains, port=self._wish.port, cache=cache)
        return self._toolchains[name]

    def setting(self, step: Step, signer: Signer | None, told: Told) -> Setting:
        """Everything that a run of the step needs; ``told`` hears when its command begins.

        Raises:
            UsageError: something of it is missing.
        """
        state = state_directory()
        kind = self.kind(step)
        return Setting(
            port=self._wish.port,
            name=self._name,
            executor=self.executor(kind),
            toolchain=self.toolchain(step),
            runs=state / "runs",
            logs=self._wish.logs or state / "logs",
            attest=None if signer is None else lambda record, number: attestations(record, signer, number),
            keyid="" if signer is None else signer.public_key.keyid,
            invocation=self._wish.invocation,
            started=lambda job: told.begin(step.name, f"running ({kind}); logs in {job.stdout.parent}"),
        )

    def signer(self, step: Step, signers: Sequence[Signer]) -> Signer:
        """The key of the step's functionary among those that were given.

        Raises:
            UsageError: there is none.
        """
        registry = self.registry
        if registry is None:
            if len(signers) > 1:
                raise UsageError("Without a trust root nothing says which key is whose; say one --key, or --trust DIR.")
            return signers[0]
        role = registry.role(step.role + FUNCTIONARY)
        keys = {} if role is None else role.keys
        found = next((signer for signer in signers if signer.public_key.keyid in keys), None)
        if found is None:
            gone = [signer.public_key.keyid[:8] for signer in signers if signer.public_key.keyid in registry.revoked]
            told = f"; revoked: {', '.join(gone)}" if gone else ""
            raise UsageError(
                f"None of the keys speaks for {step.role}{FUNCTIONARY}, which attests the step {step.name} "
                f"(registry version {registry.version}{told}). Say --key with one that does."
            )
        return found

    @cached_property
    def _trust(self) -> Trust:
        return establish(self._wish.trust, datetime.now(UTC), self._schemas)

    @property
    def registry(self) -> Registry | None:
        """Who speaks for which role; None where no trust root is named or pinned.

        Raises:
            UsageError: there is a root, and it does not hold.
        """
        registry = self._trust.registry
        if registry is None and self._wish.trust is not None:
            told = " ".join(f"{fault.rule}: {fault.message}" for fault in self._trust.faults)
            raise UsageError(f"The trust root does not hold. {told}")
        return registry

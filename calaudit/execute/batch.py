"""Several steps of a port: which of them, in what order, by whose key, and what is up to date."""

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from securesystemslib.signer import Signer

from calaudit.contract import Schemas
from calaudit.contract.resources import data_root
from calaudit.errors import UsageError
from calaudit.execute import journal
from calaudit.execute.executor import Executor, executor_for
from calaudit.execute.links import attestations
from calaudit.execute.nouns import Record, Step, Toolchain
from calaudit.execute.order import in_order, upstream
from calaudit.execute.record import Tree
from calaudit.execute.running import Setting, run_step
from calaudit.execute.state import Plight, Standing, standing
from calaudit.execute.steps import read_steps
from calaudit.execute.toolchains import resolve
from calaudit.pins.store import state_directory
from calaudit.trust import Trust, TrustSource, establish
from calaudit.trust.registry import FUNCTIONARY, Registry

__all__ = ["Batch", "Told", "Wish"]


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


class Batch:
    """The steps that a wish asks for.

    Raises:
        UsageError: the port has no such steps, or they contradict each other.
    """

    def __init__(self, wish: Wish) -> None:
        """Read the steps; nothing runs yet."""
        self._wish = wish
        self._schemas = Schemas(data_root() / "schemas")
        plan = read_steps(wish.port, self._schemas)
        self._name, self._steps = plan.port, in_order(plan.steps)
        self._above = upstream(self._steps)
        self._tree = Tree(wish.port)
        self._executors: dict[str, Executor] = {}
        self._toolchains: dict[str, Toolchain] = {}
        self.chosen = self._choose()

    def listing(self) -> Iterator[str]:
        """Where each step stands; nothing is written, what was cut off neither completed nor rolled back."""
        if journal.pending(self._wish.port):
            yield "A publication was cut off; the next run completes it or rolls it back."
        width = max(len(step.name) for step in self._steps)
        for step, found in self._standings():
            why = f"  {found.why}" if found.why else ""
            yield f"{step.gate:<3} {step.name:<{width}}  {found.plight:<10}{why}".rstrip()

    def run(self, signers: Sequence[Signer], told: Told) -> list[Record]:
        """Run what is not up to date; with no signers, nothing is signed.

        Raises:
            UsageError: something is missing; a step that ran before it stays published.
            StepFailed: a step failed; those before it stay published.
        """
        keys = {step.name: self._signer(step, signers) for step in self.chosen} if signers else {}
        for kind in dict.fromkeys(map(self._kind, self.chosen)):
            self._executor(kind).probe()
        records = []
        with journal.locked(self._wish.port):
            recovered = journal.recover(self._wish.port)
            if recovered is not None:
                told.line(f"A publication that was cut off is {recovered}.")
            for step in self.chosen:
                told.begin(step.name, "looking whether it is up to date")
                found = self._standing(step)
                if found.plight is Plight.CURRENT and not self._wish.force:
                    told.line(f"{step.name}: up to date")
                    continue
                self._warn(step, told)
                record = run_step(step, self._setting(step, keys.get(step.name), told))
                told.line(_done(record, signed=step.name in keys))
                records.append(record)
        return records

    def prepared(self, signers: Sequence[Signer], told: Told) -> list[tuple[Step, Setting]]:
        """The chosen steps with what each needs, for whoever runs them in a way of their own; nothing runs yet.

        Raises:
            UsageError: something is missing.
        """
        found = []
        for step in self.chosen:
            self._executor(self._kind(step)).probe()
            found.append((step, self._setting(step, self._signer(step, signers) if signers else None, told)))
        return found

    def _choose(self) -> tuple[Step, ...]:
        wish = self._wish
        if wish.step is not None:
            found = tuple(step for step in self._steps if step.name == wish.step)
            if not found:
                names = ", ".join(step.name for step in self._steps)
                raise UsageError(f"The port has no step {wish.step!r}; it has {names}.")
            return found
        if wish.first is None:
            return self._steps
        if not wish.first[:1] == "G" or not wish.first[1:].isdecimal():
            raise UsageError(f"--from {wish.first}: expected a gate, such as G2.")
        found = tuple(step for step in self._steps if int(step.gate[1:]) >= int(wish.first[1:]))
        if not found:
            raise UsageError(f"The port has no step of {wish.first} or a later gate.")
        return found

    # What a step needs ----------------------------------------------------------------------------------------------

    def _kind(self, step: Step) -> str:
        return self._wish.kind or step.kind

    def _executor(self, kind: str) -> Executor:
        if kind not in self._executors:
            self._executors[kind] = executor_for(kind, layouts=self._wish.layouts)
        return self._executors[kind]

    def _toolchain(self, step: Step) -> Toolchain | None:
        name = step.toolchain
        if name is None:
            return None
        if name not in self._toolchains:
            cache = state_directory() / "toolchains"
            self._toolchains[name] = resolve(name, self._wish.toolchains, port=self._wish.port, cache=cache)
        return self._toolchains[name]

    def _setting(self, step: Step, signer: Signer | None, told: Told) -> Setting:
        state = state_directory()
        kind = self._kind(step)
        return Setting(
            port=self._wish.port,
            name=self._name,
            executor=self._executor(kind),
            toolchain=self._toolchain(step),
            runs=state / "runs",
            logs=self._wish.logs or state / "logs",
            attest=None if signer is None else lambda record, number: attestations(record, signer, number),
            keyid="" if signer is None else signer.public_key.keyid,
            invocation=self._wish.invocation,
            started=lambda job: told.begin(step.name, f"running ({kind}); logs in {job.stdout.parent}"),
        )

    def _signer(self, step: Step, signers: Sequence[Signer]) -> Signer:
        """The key of the step's functionary among those that were given."""
        registry = self._registry
        if registry is None:
            if len(signers) > 1:
                raise UsageError("Without a trust root nothing says which key is whose; say one --key, or --trust DIR.")
            return signers[0]
        role = registry.role(step.role + FUNCTIONARY)
        keys = {} if role is None else role.keys
        found = next((signer for signer in signers if signer.public_key.keyid in keys), None)
        if found is None:
            raise UsageError(
                f"None of the keys speaks for {step.role}{FUNCTIONARY}, which attests the step {step.name} "
                f"(registry version {registry.version})."
            )
        if found.public_key.keyid in registry.revoked:
            raise UsageError(f"The key {found.public_key.keyid[:8]} is revoked.")
        return found

    # Where a step stands --------------------------------------------------------------------------------------------

    @cached_property
    def _trust(self) -> Trust:
        return establish(self._wish.trust, datetime.now(UTC), self._schemas)

    @property
    def _registry(self) -> Registry | None:
        registry = self._trust.registry
        if registry is None and self._wish.trust is not None:
            told = " ".join(f"{fault.rule}: {fault.message}" for fault in self._trust.faults)
            raise UsageError(f"The trust root does not hold. {told}")
        return registry

    def _standing(self, step: Step) -> Standing:
        return standing(
            self._wish.port,
            step,
            name=self._name,
            kind=self._kind(step),
            toolchain=self._toolchain(step),
            tree=self._tree,
            registry=self._registry,
            schemas=self._schemas,
            now=datetime.now(UTC),
        )

    def _standings(self) -> Iterator[tuple[Step, Standing]]:
        """Where each step stands: one that reads what a stale step wrote is stale, whatever it read."""
        stale: set[str] = set()
        for step in self._steps:
            found = self._standing(step)
            above = [name for name in self._above[step.name] if name in stale]
            if above and found.plight is Plight.CURRENT:
                found = Standing(plight=Plight.WAITING, why=f"It reads what {', '.join(above)} will write anew.")
            if found.plight is not Plight.CURRENT:
                stale.add(step.name)
            yield step, found

    def _warn(self, step: Step, told: Told) -> None:
        """Say when a step runs on what an earlier one, which is left out, should write anew."""
        chosen = {one.name for one in self.chosen}
        for one in self._steps:
            if one.name in self._above[step.name] and one.name not in chosen:
                found = self._standing(one)
                if found.plight is not Plight.CURRENT:
                    told.line(f"{step.name}: it reads what {one.name} wrote, which is {found.plight}. {found.why}")


def _done(record: Record, *, signed: bool) -> str:
    outcome = record.outcome
    peak = "" if outcome.peak_rss_bytes is None else f", {outcome.peak_rss_bytes >> 20} MiB at most"
    cut = ", its log was cut" if outcome.stdout.truncated or outcome.stderr.truncated else ""
    count = len(record.products)
    files = "1 file" if count == 1 else f"{count} files"
    return (
        f"{record.step.name}: wrote {files} in {outcome.duration_s:.1f} s{peak}{cut}{'' if signed else '; not signed'}"
    )

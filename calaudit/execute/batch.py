"""Several steps of a port: which of them, in what order, by whose key, and what is up to date."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from securesystemslib.signer import Signer

from calaudit.contract import Schemas
from calaudit.contract.resources import data_root
from calaudit.errors import UsageError
from calaudit.execute import journal
from calaudit.execute.lock import locked
from calaudit.execute.means import Means, Told, Wish
from calaudit.execute.nouns import Record, Step, StepAwaited
from calaudit.execute.order import in_order, upstream
from calaudit.execute.record import Tree
from calaudit.execute.running import Setting, run_step
from calaudit.execute.state import Plight, Standing, standing
from calaudit.execute.steps import read_steps
from calaudit.trust.isolation import ELSEWHERE, ISOLATION, Isolation

__all__ = ["Batch"]


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
        self._name, self._steps, self._chain = plan.port, in_order(plan.steps), plan.chain
        self._above = upstream(self._steps)
        self._tree = Tree(wish.port)
        self._means = Means(wish, plan.port, self._schemas)
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
            StepAwaited: a step is built elsewhere and did not come; what does not read it ran.
        """
        own = [step for step in self.chosen if self._means.kind(step) != ELSEWHERE]
        keys = {step.name: self._means.signer(step, signers) for step in own} if signers else {}
        for kind in dict.fromkeys(map(self._means.kind, own)):
            self._means.executor(kind).probe()
        records: list[Record] = []
        awaited: dict[str, str] = {}
        with locked(self._wish.port):
            recovered = journal.recover(self._wish.port)
            if recovered is not None:
                told.line(f"A publication that was cut off is {recovered}.")
            for step in self.chosen:
                told.begin(step.name, "looking whether it is up to date")
                found = self._standing(step)
                why = self._awaits(step, found, awaited)
                if why is not None:
                    awaited[step.name] = why
                    told.line(f"{step.name}: {why}")
                    continue
                if found.plight is Plight.CURRENT and (step not in own or not self._wish.force):
                    told.line(f"{step.name}: up to date")
                    continue
                self._warn(step, told)
                record = run_step(step, self._means.setting(step, keys.get(step.name), told))
                told.line(_done(record, signed=step.name in keys))
                records.append(record)
        if awaited:
            raise StepAwaited(_await(awaited))
        return records

    def prepared(self, signers: Sequence[Signer], told: Told) -> list[tuple[Step, Setting]]:
        """The chosen steps with what each needs, for whoever runs them in a way of their own; nothing runs yet.

        Raises:
            UsageError: something is missing.
        """
        found = []
        for step in self.chosen:
            if self._means.kind(step) == ELSEWHERE:
                raise UsageError(
                    f"port.yaml says that {step.name} is built elsewhere; --executor says what would build it here."
                )
            self._means.executor(self._means.kind(step)).probe()
            signer = self._means.signer(step, signers) if signers else None
            found.append((step, self._means.setting(step, signer, told)))
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

    # Where a step stands --------------------------------------------------------------------------------------------

    def _standing(self, step: Step) -> Standing:
        return standing(
            self._wish.port,
            step,
            name=self._name,
            kind=self._means.kind(step),
            toolchain=self._means.toolchain(step),
            tree=self._tree,
            registry=self._means.registry,
            schemas=self._schemas,
            now=datetime.now(UTC),
            chain=self._chain,
        )

    def _awaits(self, step: Step, found: Standing, awaited: Mapping[str, str]) -> str | None:
        """Why a step cannot be run here now: it is built elsewhere, or reads what is."""
        above = [name for name in self._above[step.name] if name in awaited]
        if above:
            return f"waits for {', '.join(above)}"
        here = self._means.kind(step) != ELSEWHERE or found.plight is Plight.CURRENT
        return None if here else f"{found.plight}. {found.why}"

    def _standings(self) -> Iterator[tuple[Step, Standing]]:
        """Where each step stands: one that reads what a stale step wrote is stale, whatever it read."""
        stale: set[str] = set()
        for step in self._steps:
            try:
                found = self._standing(step)
            except UsageError as error:  # what runs steps is not at hand where they are only looked at
                found = Standing(plight=Plight.UNKNOWN, why=str(error))
            above = [name for name in self._above[step.name] if name in stale]
            if above and found.plight is Plight.CURRENT:
                found = Standing(plight=Plight.WAITING, why=f"It reads what {', '.join(above)} will write anew.")
            if found.plight is not Plight.CURRENT:
                stale.add(step.name)
            yield step, found

    def _warn(self, step: Step, told: Told) -> None:
        """Say when a step runs on what an earlier one, which is left out, should write anew, or less shut in."""
        kind = self._means.kind(step)
        if ISOLATION[kind] < ISOLATION.get(step.kind, Isolation.NONE):
            told.line(
                f"{step.name}: port.yaml says {step.kind}; {kind} shuts it in less, so verification will refuse the "
                "run (isolation-too-weak)."
            )
        chosen = {one.name for one in self.chosen}
        for one in self._steps:
            if one.name in self._above[step.name] and one.name not in chosen:
                found = self._standing(one)
                if found.plight is not Plight.CURRENT:
                    told.line(f"{step.name}: it reads what {one.name} wrote, which is {found.plight}. {found.why}")


def _await(awaited: Mapping[str, str]) -> str:
    first = next(iter(awaited))
    return (
        f"{', '.join(awaited)} {'wait' if len(awaited) > 1 else 'waits'} for a build elsewhere. Have {first} attested "
        f"where it is built (`calaudit attest`), or take in what its vendor sends (`calaudit vendor-kit`, `calaudit "
        f"receive`); `calaudit run {first} --executor bwrap` builds it here."
    )


def _done(record: Record, *, signed: bool) -> str:
    outcome = record.outcome
    peak = "" if outcome.peak_rss_bytes is None else f", peak memory {outcome.peak_rss_bytes >> 20} MiB"
    cut = ", its log was cut" if outcome.stdout.truncated or outcome.stderr.truncated else ""
    count = len(record.products)
    files = "1 file" if count == 1 else f"{count} files"
    return (
        f"{record.step.name}: wrote {files} in {outcome.duration_s:.1f} s{peak}{cut}"
        f"{'' if record.guarantees.inputs else '; nothing was shut in'}{'' if signed else '; not signed'}"
    )

"""Making a run another way: an executor under the conditions of one build."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from shutil import which

from calaudit.execute.executor import HOME, Executor
from calaudit.execute.nouns import Guarantees, Job, Outcome
from calaudit.execute.rebuild.conditions import OLD_RELEASE, OTHER_ORDER
from calaudit.execute.rebuild.nouns import Factor, Traits
from calaudit.execute.rebuild.personality import personality

__all__ = ["Varied", "lists_by_creation", "make_anew"]


class Varied:
    """An executor under the conditions of one build; the step's own variables win over them."""

    def __init__(self, inner: Executor, conditions: Mapping[Factor, str]) -> None:
        """``inner`` runs the command."""
        self._inner, self._conditions = inner, conditions
        self._shift = int(conditions.get(Factor.CLOCK, "0"))
        self.traits = Traits()

    @property
    def kind(self) -> str:
        """That of the executor."""
        return self._inner.kind

    @property
    def guarantees(self) -> Guarantees:
        """Those of the executor."""
        return self._inner.guarantees

    def probe(self) -> None:
        """As the executor does."""
        self._inner.probe()

    def versions(self) -> Mapping[str, str]:
        """Those of the executor."""
        return self._inner.versions()

    def run(self, job: Job) -> Outcome:
        """Run a job under the conditions; ``traits`` then says what they would look like in a product."""
        has = self._conditions
        changed = replace(
            job,
            env={**self._variables(job), **job.env},
            inside=has[Factor.BUILD_PATH] if self.kind != "local" else job.inside,
            hostname=has.get(Factor.HOSTNAME, job.hostname),
            uid=int(has.get(Factor.USER, job.uid)),
            argv=self._clocked(job.argv),
        )
        if has.get(Factor.FILE_ORDER) is not None:
            make_anew(job.workspace, reverse=has[Factor.FILE_ORDER] == OTHER_ORDER)
        with (
            _umask(has.get(Factor.UMASK)),
            _processors(has.get(Factor.CPU_COUNT)),
            personality(
                fixed_addresses=has.get(Factor.ADDRESSES) == "fixed", old_release=has.get(Factor.KERNEL) == OLD_RELEASE
            ),
        ):
            outcome = self._inner.run(changed)
        self.traits = self._seen(changed, outcome)
        return outcome

    def _variables(self, job: Job) -> dict[str, str]:
        made: dict[str, str] = {}
        if Factor.LOCALE in self._conditions:
            made |= {"LC_ALL": self._conditions[Factor.LOCALE], "LANG": self._conditions[Factor.LOCALE]}
        for factor, name in ((Factor.TIME_ZONE, "TZ"), (Factor.HASH_SEED, "PYTHONHASHSEED")):
            if factor in self._conditions:
                made[name] = self._conditions[factor]
        home = self._home(job)
        if home is not None:
            made["HOME"] = home
        return made

    def _home(self, job: Job) -> str | None:
        """Another home than the executor's, made where the command may write; None for the executor's."""
        name = self._conditions[Factor.HOME]
        if name == "home":
            return None
        (job.private / "tmp" / name).mkdir(exist_ok=True)
        return str(job.private / "tmp" / name) if self.kind == "local" else f"/tmp/{name}"  # noqa: S108 - inside

    def _clocked(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        """A command under a clock that is ahead. It goes on: where it stands still, waiting may never end."""
        program = which("faketime")
        if program is None or not self._shift:
            return argv
        return (program, "-f", f"+{self._shift}", *argv)

    def _seen(self, job: Job, outcome: Outcome) -> Traits:
        if self.kind == "local":
            paths = [str(job.workspace), str(job.private / "home"), str(job.private / "tmp"), str(job.workspace.parent)]
        else:
            paths = [job.inside]
        paths.append(job.env.get("HOME", "" if self.kind == "local" else HOME))
        window = (outcome.started.timestamp() + self._shift, outcome.finished.timestamp() + self._shift)
        return Traits(
            paths=tuple(sorted(filter(None, paths), key=len, reverse=True)),
            hostname=os.uname().nodename if self.kind == "local" else job.hostname,
            invocation=job.invocation,
            window=window,
        )


def make_anew(folder: Path, *, reverse: bool) -> None:
    """Put everything in a folder in place again, in the order of the names or in the reverse one."""
    for place, folders, files in os.walk(folder):
        with tempfile.TemporaryDirectory(dir=folder.parent) as aside:
            for name in (*folders, *files):
                Path(place, name).rename(Path(aside, name))
            for name in sorted((*folders, *files), reverse=reverse):
                Path(aside, name).rename(Path(place, name))


def lists_by_creation(folder: Path) -> bool:
    """Whether a file system lists names in an order that depends on the order in which they were made."""
    listings = []
    for reverse in (False, True):
        with tempfile.TemporaryDirectory(dir=folder) as parent:
            inner = Path(parent, "inner")
            inner.mkdir()
            for name in "abcdefgh":
                (inner / name).touch()
            make_anew(inner, reverse=reverse)
            listings.append(os.listdir(inner))  # noqa: PTH208 - names in the order of the system
    return listings[0] != listings[1]


@contextmanager
def _umask(value: str | None) -> Iterator[None]:
    if value is None:
        yield
        return
    before = os.umask(int(value, 8))
    try:
        yield
    finally:
        os.umask(before)


@contextmanager
def _processors(value: str | None) -> Iterator[None]:
    if value is None:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(before)[: int(value)])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)

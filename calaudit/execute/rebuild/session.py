"""All builds of one step: what is built under which conditions, and what is concluded from it.

1. The baseline, and the same again: what differs here differs by chance.
2. Builds in which everything that can vary does. If they are as the baseline, that is all.
3. Otherwise each factor alone: what differs then depends on it.
"""

import os
import shutil
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from calaudit.execute.nouns import Step, StepFailed
from calaudit.execute.rebuild.attribute import attribute
from calaudit.execute.rebuild.conditions import Choice, choices
from calaudit.execute.rebuild.nouns import Build, Factor, Part, Rebuild
from calaudit.execute.rebuild.place import choose_place
from calaudit.execute.rebuild.vary import Varied
from calaudit.execute.record import Tree
from calaudit.execute.running import Setting, execute
from calaudit.execute.workspace import Workspace, workspace

__all__ = ["Session"]

APART = 2.1
"""Seconds: an archive's times are often even numbers of them."""

Conditions = Mapping[Factor, str]


class Session:
    """The builds of one step; their products are kept until the session is left.

    The caller holds the port's lock. ``told`` hears what is built.
    """

    def __init__(
        self, step: Step, setting: Setting, *, builds: int, told: Callable[[str], None], apart_s: float = APART
    ) -> None:
        """``builds`` counts the baseline and the varied builds; the others are for finding out.

        ``apart_s`` are seconds between the beginnings of the first two builds, where no clock can be varied.
        """
        if builds < 2:
            raise ValueError(f"a rebuild is two builds or more, not {builds}")
        self._step, self._setting, self._wanted, self._told = step, setting, builds, told
        self._apart_s = apart_s
        self._id = str(uuid.uuid4())
        self._stack = ExitStack()
        self._number = 0

    def __enter__(self) -> Self:
        """Make the place where products are kept."""
        tree = Tree(self._setting.port)
        known = tree.digests((*self._step.inputs, *self._step.products))
        sizes = [(self._setting.port / path).stat().st_size for path in known]
        self._place, by_creation = choose_place(self._setting.runs, sizes)
        self._choices, self._fixed = choices(self._step, self._setting.executor.kind, by_creation=by_creation)
        self._held = self._stack.enter_context(workspace(self._setting.runs, f"{self._id}.held")).port
        return self

    def __exit__(self, *_: object) -> None:
        """Delete the products."""
        self._stack.close()

    def run(self) -> Rebuild:
        """Build, and find out.

        Raises:
            UsageError: something that the step needs is missing.
            StepFailed: a build failed; the message says which, and under which conditions.
        """
        usual = {factor: choice.baseline for factor, choice in self._choices.items()}
        published = self._published()
        baseline = self._build(Part.BASELINE, usual)
        self._wait(baseline)
        identical = self._build(Part.IDENTICAL, usual)
        varied = [self._vary(number, usual) for number in range(1, self._wanted)]
        builds = [*published, baseline, identical, *varied]
        found = attribute(builds, fixed=self._fixed)
        if any(difference.builds[1] in {build.number for build in varied} for difference in found.differences):
            builds += [self._alone(factor, choice, usual) for factor, choice in self._choices.items()]
            found = attribute(builds, fixed=self._fixed)
        return found

    def _wait(self, baseline: Build) -> None:
        """Let the clock go on: builds of one second would agree on a time that is written into them."""
        if Factor.CLOCK in self._choices or baseline.started is None:
            return
        passed = (datetime.now(UTC) - baseline.started).total_seconds()
        if passed < self._apart_s:
            self._told("waiting until the clock shows another time")
            time.sleep(self._apart_s - passed)

    def _published(self) -> list[Build]:
        port = self._setting.port
        products = Tree(port).digests(self._step.products)
        return [Build(number=0, part=Part.PUBLISHED, folder=port, products=products)] if products else []

    def _vary(self, number: int, usual: Conditions) -> Build:
        """A build in which all that can vary does."""
        try:
            return self._build(Part.VARIED, {f: choice.other(number) for f, choice in self._choices.items()})
        except StepFailed as failed:
            if failed.interrupted:
                raise
            if self._choices.pop(Factor.KERNEL, None) is not None:
                # What was linked for a later kernel does not start under an old one: no fault of its products.
                self._fixed[Factor.KERNEL] = "A build failed under the release 2.6, so it was left as it is."
                return self._vary(number, usual)
            self._told("the build failed; looking which condition it cannot stand")
            for factor, choice in self._choices.items():
                self._alone(factor, choice, usual)  # raises, and names the factor
            raise StepFailed(
                f"The step {self._step.name} works as it is usually run, and fails when all conditions are others at "
                f"once: {_listed(self._choices)}.\n{failed}"
            ) from failed

    def _alone(self, factor: Factor, choice: Choice, usual: Conditions) -> Build:
        try:
            return self._build(Part.FACTOR, {**usual, factor: choice.other(1)}, varied=(factor,))
        except StepFailed as failed:
            if failed.interrupted:
                raise
            raise StepFailed(
                f"The step {self._step.name} works as it is usually run, and fails when its {factor} is "
                f"{choice.other(1)!r} instead of {choice.baseline!r}: it depends on it.\n{failed}"
            ) from failed

    def _build(self, part: Part, conditions: Conditions, varied: Sequence[Factor] | None = None) -> Build:
        if varied is None:
            varied = tuple(self._choices) if part is Part.VARIED else ()
        self._number += 1
        number = self._number
        self._told(f"build {number} ({part}{f': {_listed(varied)}' if part is Part.FACTOR else ''})")
        executor = Varied(self._setting.executor, conditions)
        local = executor.kind == "local"
        name = f"{self._id}.{conditions[Factor.BUILD_PATH] if local else 'build'}"
        with workspace(self._place, name) as space:
            record = execute(self._step, replace(self._setting, executor=executor), space, invocation=str(uuid.uuid4()))
            folder = self._keep(number, record.products, space)
        return Build(
            number=number,
            part=part,
            folder=folder,
            products=record.products,
            conditions=dict(conditions),
            varied=tuple(varied),
            traits=executor.traits,
            record=record,
            started=record.outcome.started,
            finished=record.outcome.finished,
        )

    def _keep(self, number: int, products: Mapping[str, str], space: Workspace) -> Path:
        """Move products out of a workspace that is about to go."""
        folder = self._held / str(number)
        for path in products:
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(space.port / path, target)
            os.chmod(target, 0o600)  # noqa: PTH101 - whatever the step left it with
        return folder


def _listed(factors: Sequence[Factor] | Mapping[Factor, Choice]) -> str:
    return ", ".join(factors)

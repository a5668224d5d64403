"""What ``calaudit run`` tells meanwhile, on standard error: a line a step, and on a terminal what runs right now."""

import time
from types import TracebackType
from typing import Self

import click

from calaudit.report._escape import visible

__all__ = ["Plain", "Terminal"]


class Plain:
    """A line when a step begins and one when it ended."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def begin(self, step: str, what: str) -> None:
        """A step begins."""
        self.line(f"{step}: {what}")

    def line(self, text: str) -> None:
        """Something to keep."""
        click.echo(visible(text), err=True)

    def end(self) -> None:
        """Nothing runs any more."""


class Terminal(Plain):
    """A line a step that ended, and under them the one that runs, with its time."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
        self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self._begun = time.monotonic()

    def begin(self, step: str, what: str) -> None:
        """A step begins."""
        self.end()
        self._progress.start()
        self._progress.add_task(visible(f"{step}: {what}"), total=None)

    def line(self, text: str) -> None:
        """Something to keep."""
        self.end()
        super().line(text)

    def end(self) -> None:
        """Nothing runs any more."""
        for task in self._progress.task_ids:
            self._progress.remove_task(task)
        self._progress.stop()

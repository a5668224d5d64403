"""What verbs that audit a port have in common: the argument, progress, colour, standard output."""

import os
import sys
from pathlib import Path

import click

from calaudit.api import audit
from calaudit.contract import Contract
from calaudit.model import Report

__all__ = ["audited", "emit", "port_argument", "port_root", "wants_colour"]

port_argument = click.argument("port", default=".", type=click.Path(path_type=Path))
"""The port directory, by default the current one."""


def audited(
    port: Path,
    *,
    through: str | None = None,
    jobs: int | None = None,
    quiet: bool = False,
    contract: Contract | None = None,
) -> Report:
    """Audit with progress on standard error, if that is a terminal and ``quiet`` is not set."""
    if quiet or not sys.stderr.isatty():
        return audit(port, through=through, jobs=jobs, contract=contract)
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    # Refreshed by hand: rich's own refreshing is a thread, and an audit may fork.
    with Live(Text("Loading the contract"), console=Console(stderr=True), auto_refresh=False, transient=True) as live:
        return audit(
            port,
            through=through,
            jobs=jobs,
            contract=contract,
            progress=lambda message: live.update(Text(message), refresh=True),
        )


def wants_colour(*, no_color: bool) -> bool:
    """Whether standard output is a terminal that wants colour; ``NO_COLOR`` counts when it is not empty."""
    if no_color or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout.isatty()


def port_root(port: Path) -> str:
    """The port's path below the current directory, which is where annotations of a checkout begin; else empty."""
    try:
        below = port.resolve().relative_to(Path.cwd().resolve())
    except ValueError:
        return ""
    return "" if below == Path() else below.as_posix()


def emit(text: str) -> None:
    """Write a report to standard output; what its encoding lacks becomes an escape."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    sys.stdout.write(text)
    sys.stdout.flush()

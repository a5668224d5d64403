"""What verbs that audit a port have in common: the argument, progress, colour, standard output."""

import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from calaudit.api import audit
from calaudit.checks.cue_rule import Vetter
from calaudit.cli._judging import remember, trust_source
from calaudit.contract import Contract, CuePolicy, load_contract
from calaudit.model import Report
from calaudit.trust import TrustSource

__all__ = [
    "PortPath",
    "ascii_only",
    "audited",
    "contract_for",
    "cue_option",
    "emit",
    "policy_option",
    "port_argument",
    "port_root",
    "terminal_width",
    "vetter_for",
    "wants_colour",
]


class PortPath(click.Path):
    """A directory's path; an empty one, such as an unset variable in a script gives, is not the current directory."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path, unless it is empty."""
        if str(value) == "" or (isinstance(value, str) and not value.strip()):
            self.fail("it is empty; name the directory that holds port.yaml.", param, ctx)
        return super().convert(value, param, ctx)


port_argument = click.argument("port", default=".", type=PortPath(path_type=Path))
"""The port directory, by default the current one."""

policy_option = click.option(
    "--policy",
    "policies",
    metavar="DIR",
    multiple=True,
    type=click.Path(path_type=Path),
    help="An organisation's policies, besides those that calaudit ships: more rules, stricter params. Repeatable.",
)

cue_option = click.option(
    "--cue",
    metavar="PATH",
    type=click.Path(path_type=Path),
    help="The cue command that vets .cue policies; by default $CALAUDIT_CUE, else the one on PATH.",
)


def audited(  # noqa: PLR0913 - the options of the verbs that audit, by name
    port: Path,
    *,
    through: str | None = None,
    jobs: int | None = None,
    quiet: bool = False,
    contract: Contract | None = None,
    cue: Path | None = None,
    trust: Path | None = None,
    at: datetime | None = None,
) -> Report:
    """Audit with progress on standard error, if that is a terminal and ``quiet`` is not set."""
    source = trust_source(trust)
    report = _audited(port, through, jobs, contract, cue, source, at, quiet=quiet)
    remember(source, report.trust)
    return report


def _audited(  # noqa: PLR0913, PLR0917 - as above
    port: Path,
    through: str | None,
    jobs: int | None,
    contract: Contract | None,
    cue: Path | None,
    source: TrustSource | None,
    at: datetime | None,
    *,
    quiet: bool,
) -> Report:
    vetter = vetter_for(() if contract is None else contract.cue, cue, port)
    if quiet or not sys.stderr.isatty():
        return audit(port, through=through, jobs=jobs, contract=contract, vetter=vetter, trust=source, at=at)
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
            vetter=vetter,
            trust=source,
            at=at,
            progress=lambda message: live.update(Text(message), refresh=True),
        )


def contract_for(policies: Sequence[Path], at: datetime | None) -> Contract:
    """The shipped contract with overlays, their dated documents read for the moment that is judged (now if None)."""
    return load_contract(overlays=policies, today=None if at is None else at.astimezone(UTC).date())


def vetter_for(policies: Sequence[CuePolicy], cue: Path | None, port: Path | None = None) -> Vetter | None:
    """What judges policies in CUE; None where there are none, or no cue command is found.

    Raises:
        UsageError: ``cue`` is given and is no cue command, or lies in the port.
    """
    if not policies:
        return None
    from calaudit.cue import find

    return find(cue, port=port)


def wants_colour(*, no_color: bool) -> bool:
    """Whether standard output is a terminal that wants colour; ``NO_COLOR`` counts when it is not empty."""
    if no_color or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout.isatty()


def ascii_only() -> bool:
    """Whether standard output cannot show the marks of a report (``LC_ALL=C``, an old console)."""
    try:
        "✓✗⊘–─·…“”".encode(getattr(sys.stdout, "encoding", None) or "ascii")  # noqa: RUF001 - the marks themselves
    except (UnicodeEncodeError, LookupError):
        return True
    return False


def terminal_width() -> int:
    """How many columns a report on standard output may have: those of a terminal within reason, else 80."""
    if not sys.stdout.isatty():
        return 80
    from shutil import get_terminal_size

    return min(max(get_terminal_size().columns, 60), 120)


def port_root(port: Path) -> str | None:
    """The port's path below the top of the checkout, where annotations begin; None if it is not below it.

    The top is what GitHub Actions says it is (``GITHUB_WORKSPACE``), or else the current directory. Empty where it is
    the port.
    """
    full = port.resolve()
    for top in filter(None, (os.environ.get("GITHUB_WORKSPACE"), ".")):
        if full.is_relative_to(Path(top).resolve()):
            below = full.relative_to(Path(top).resolve())
            return "" if below == Path() else below.as_posix()
    return None


def emit(text: str) -> None:
    """Write a report to standard output; what its encoding lacks becomes an escape."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    sys.stdout.write(text)
    sys.stdout.flush()

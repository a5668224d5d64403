"""``calaudit run``: run steps of a port, and publish what they made with who ran it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from calaudit.cli._judging import trust_option, trust_source
from calaudit.cli._keys import passphrase_options, passphrases, say
from calaudit.cli._steps import named_toolchains, step_options
from calaudit.errors import UsageError

if TYPE_CHECKING:
    from securesystemslib.signer import Signer

    from calaudit.execute.batch import Batch
    from calaudit.execute.means import Told

__all__ = ["command"]

FAILED, AWAITED, INTERRUPTED = 1, 3, 130


@click.command(
    "run",
    epilog="Exit: 0 all steps ran or are up to date, 1 a step failed, 2 it could not begin, 3 a step that is built "
    "elsewhere is awaited, 130 interrupted.",
)
@click.argument("names", nargs=-1, metavar="[STEP] [PORT]")
@click.option("--all", "every", is_flag=True, help="Run every step that is not up to date, each after those it needs.")
@click.option("--from", "first", metavar="Gn", help="Only the steps of this gate and later ones.")
@click.option("--list", "listing", is_flag=True, help="Show where each step stands, and run nothing.")
@click.option("--force", is_flag=True, help="Run steps that are up to date too.")
@click.option(
    "--key",
    "keys",
    metavar="URI",
    multiple=True,
    help="Key of a functionary: a file, or file2:, hsm:, awskms:, gcpkms:, azurekms:, hv:. Repeat it for other roles.",
)
@click.option("--unsigned", is_flag=True, help="Sign nothing: a run that nobody attests, for trying things out.")
@step_options
@trust_option
@passphrase_options()
def command(  # noqa: PLR0913 - one parameter an option
    *,
    names: Sequence[str],
    every: bool,
    first: str | None,
    listing: bool,
    force: bool,
    keys: Sequence[str],
    unsigned: bool,
    executor: str | None,
    toolchains: Sequence[str],
    logs: Path | None,
    layouts: Sequence[Path],
    trust: Path | None,
    variable: str,
) -> int:
    """Run steps of a port, and publish what they made with who ran it.

    STEP is run in a workspace that holds its declared materials and tools only, by the executor that port.yaml names.
    Its products, the in-toto link and the provenance appear in PORT together, or not at all. A step whose inputs,
    command, toolchain and executor are those of its last attested run is up to date, and not run again.
    """
    from calaudit.execute.batch import Batch
    from calaudit.execute.means import Wish
    from calaudit.execute.nouns import StepAwaited, StepFailed

    step, port = _operands(names, several=every or listing or first is not None)
    wish = Wish(
        port=port,
        step=step,
        first=first,
        force=force,
        kind=executor,
        toolchains=named_toolchains(toolchains),
        logs=logs,
        layouts=tuple(layouts),
        trust=trust_source(trust),
    )
    batch = Batch(wish)
    if listing:
        return _list(batch)
    signers = _signers(keys, variable, unsigned=unsigned)
    with _progress() as told:
        try:
            batch.run(signers, told)
        except StepFailed as failed:
            told.end()
            say_error(str(failed))
            return INTERRUPTED if failed.interrupted else FAILED
        except StepAwaited as awaited:
            told.end()
            say_error(str(awaited))
            return AWAITED
    return 0


def _operands(names: Sequence[str], *, several: bool) -> tuple[str | None, Path]:
    if several:
        if len(names) > 1:
            raise UsageError("With --all, --from and --list there is no STEP: say only the PORT.")
        return None, Path(names[0] if names else ".")
    if not 1 <= len(names) <= 2:
        raise UsageError("Say which STEP to run, and the PORT if it is not the current directory; or --all, or --list.")
    if len(names) == 1 and (Path(names[0]) / "port.yaml").is_file():
        raise UsageError(f"{names[0]} is a port: say which STEP of it to run, too; or --all, or --list.")
    return names[0], Path(names[1] if len(names) == 2 else ".")


def _signers(keys: Sequence[str], variable: str, *, unsigned: bool) -> "list[Signer]":
    from calaudit.sign.signers import load_signer

    if unsigned and keys:
        raise UsageError("--unsigned and --key contradict each other.")
    if not unsigned and not keys:
        raise UsageError("--key is missing: who attests the run? (--unsigned runs without attesting it.)")
    return [load_signer(key, passphrases(variable)) for key in keys]


def _list(batch: "Batch") -> int:
    for line in batch.listing():
        say(line)
    return 0


def say_error(text: str) -> None:
    """Lines on standard error, everything in them visible."""
    from calaudit.report._escape import visible

    for number, line in enumerate(text.splitlines()):
        click.echo(visible(line if number else f"calaudit: {line}"), err=True)


def _progress() -> "Told":
    import sys

    from calaudit.cli._run_progress import Plain, Terminal

    return Terminal() if sys.stderr.isatty() else Plain()

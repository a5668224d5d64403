"""``calaudit rebuild``: run a step again and again under other conditions, and explain each difference."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from calaudit.cli._judging import trust_option, trust_source
from calaudit.cli._keys import passphrase_options, passphrases, say
from calaudit.cli._steps import named_toolchains, step_options
from calaudit.errors import UsageError

__all__ = ["command"]

DIFFERS, INTERRUPTED = 1, 130


@click.command(
    "rebuild",
    epilog="Exit: 0 every build gave the same bytes, 1 they differ or a build failed, 2 it could not begin, "
    "130 interrupted.",
)
@click.argument("step", metavar="STEP")
@click.argument("port", metavar="[PORT]", default=".", type=click.Path(path_type=Path))
@click.option(
    "--builds",
    type=click.IntRange(2, 100),
    metavar="N",
    help="How many builds must agree; what port.yaml says (rebuilds), at least 2, if not given.",
)
@click.option(
    "--key",
    "keys",
    metavar="URI",
    multiple=True,
    help="Key of the step's functionary: attests the builds if they agree.",
)
@step_options
@click.option(
    "--report",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write the report here; by default into the port where the step's gate has a place for it, else into the "
    "state directory.",
)
@trust_option
@passphrase_options()
def command(  # noqa: PLR0913 - one parameter an option
    *,
    step: str,
    port: Path,
    builds: int | None,
    keys: Sequence[str],
    executor: str | None,
    toolchains: Sequence[str],
    layouts: Sequence[Path],
    report: Path | None,
    logs: Path | None,
    trust: Path | None,
    variable: str,
) -> int:
    """Run a step again under other conditions, and explain what differs.

    STEP is built in empty workspaces: twice in the same conditions, then with another build path, host name, user,
    locale, time zone, umask, home, hash seed, file order, clock, number of processors, memory layout and kernel
    release, as far as the executor can change them. If the bytes differ, each condition is varied alone to find the
    one that matters. The products of the PORT are compared too, and stay as they are.
    """
    from calaudit.cli._run_progress import Plain
    from calaudit.cli.run import say_error
    from calaudit.contract import load_contract
    from calaudit.execute import journal
    from calaudit.execute.batch import Batch
    from calaudit.execute.lock import locked
    from calaudit.execute.means import Wish
    from calaudit.execute.nouns import StepFailed
    from calaudit.execute.rebuild.report import lines
    from calaudit.execute.rebuild.run import report_place, run_rebuild
    from calaudit.pins.directory import inside_port
    from calaudit.pins.store import state_directory
    from calaudit.sign.signers import load_signer

    if report is not None and inside_port(report) is not None:
        raise UsageError(f"--report {report} lies in a port; leave the option out to have the report in its place.")
    wish = Wish(
        port=port,
        step=step,
        kind=executor,
        toolchains=named_toolchains(toolchains),
        logs=logs,
        layouts=tuple(layouts),
        trust=trust_source(trust),
    )
    batch = Batch(wish)
    contract = load_contract()
    signers = [load_signer(key, passphrases(variable)) for key in keys]
    with Plain() as told, locked(port):
        ((found, prepared),) = batch.prepared(signers, told)
        setting = replace(prepared, started=lambda _: None)
        told.begin(found.name, f"building with {setting.executor.kind}; logs in {setting.logs / setting.name}")
        journal.recover(port)
        try:
            done = run_rebuild(
                found,
                setting,
                builds=builds or max(found.rebuilds, 2),
                place=None if report is not None else report_place(found, contract.gates),
                aside=report or state_directory() / "rebuilds" / setting.name / f"{found.name}.json",
                schemas=contract.schemas,
                told=lambda text: told.begin(found.name, text),
            )
        except StepFailed as failed:
            say_error(str(failed))
            return INTERRUPTED if failed.interrupted else DIFFERS
    for line in lines(done.rebuild):
        say(line)
    say(f"Report: {done.report}")
    for path in done.long_forms:
        say(f"Long form (diffoscope): {path}")
    if done.attestations:
        say(f"Attested: {', '.join(done.attestations)}")
    elif keys:
        say(f"Nothing was signed: {done.unsigned}.")
    return 0 if done.rebuild.reproducible else DIFFERS

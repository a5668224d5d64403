"""``calaudit verify``: audit a port and report what was found."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from calaudit.cli._judging import at_option, moment, trust_option, unsafe_time_option
from calaudit.cli._shared import (
    ascii_only,
    audited,
    contract_for,
    cue_option,
    emit,
    policy_option,
    port_argument,
    port_root,
    terminal_width,
    wants_colour,
)
from calaudit.cli._vsa import key_option, out_option, passphrase_option, signer_of, target_of, write_vsa
from calaudit.errors import UsageError
from calaudit.files import is_stream, write_output
from calaudit.model import Report
from calaudit.report import Options, formats, renderer

__all__ = ["command"]


@dataclass(frozen=True, slots=True)
class Output:
    """One report that was asked for; ``path`` is None for standard output."""

    format: str
    path: Path | None


@click.command("verify", epilog="Exit: 0 passed, 1 failed, 2 usage or contract, 3 incomplete, 4 internal error.")
@port_argument
@click.option("--through", metavar="Gn", help="The last gate to demand, instead of what port.yaml claims.")
@click.option(
    "-o",
    "--output",
    "wanted",
    metavar="FORMAT[=FILE]",
    multiple=True,
    help="Write a report: text, json, sarif, junit, github or markdown; to standard output, or to a file, which is "
    "replaced at once (a device or a pipe is written into). Repeatable.",
)
@policy_option
@cue_option
@trust_option
@at_option
@unsafe_time_option
@key_option
@out_option
@passphrase_option
@click.option("--jobs", metavar="N", type=click.IntRange(min=1), help="Threads and processes; the machine's cores.")
@click.option("--quiet", is_flag=True, help="No progress, and no report but those asked for with -o.")
@click.option("--verbose", is_flag=True, help="List the rules that passed as well, and every finding in full.")
@click.option("--no-color", is_flag=True, help="No colour, as with NO_COLOR in the environment.")
@click.option("--offline", is_flag=True, help="Nothing to do: an audit never uses the network.")
@click.pass_context
def command(  # noqa: PLR0913 - one parameter an option
    ctx: click.Context,
    port: Path,
    *,
    through: str | None,
    wanted: Sequence[str],
    policies: Sequence[Path],
    cue: Path | None,
    trust: Path | None,
    at: str | None,
    unsafe_time: bool,
    vsa_key: str | None,
    vsa_out: Path | None,
    variable: str,
    jobs: int | None,
    quiet: bool,
    verbose: bool,
    no_color: bool,
    offline: bool,
) -> None:
    """Audit a port and report what was found.

    PORT is the directory that holds port.yaml; the current one by default. Every gate up to the claim is judged, and
    every later gate that has files. The report goes to standard output, progress to standard error.
    """
    del offline
    outputs = _outputs(wanted, port, quiet=quiet)
    vsa_path = target_of(vsa_key, vsa_out, port, [output.path for output in outputs])
    when = moment(at, unsafe=unsafe_time)
    signer = signer_of(vsa_key, variable)
    contract = contract_for(policies, when)
    report = audited(
        port,
        through=through,
        jobs=jobs,
        quiet=quiet,
        contract=contract,
        cue=cue,
        trust=trust,
        at=when,
    )
    root = port_root(port)
    # Files first: a reader of standard output that goes away must not cost them.
    for output in (output for output in outputs if output.path is not None):
        _write(output, report, Options(verbose=verbose, root=root))
    if signer is not None:
        written = write_vsa(report, signer, vsa_path, contract.schemas)
        if not quiet:
            click.echo(f"calaudit: the signed summary is {written}", err=True)
    for output in (output for output in outputs if output.path is None):
        colour = output.format == "text" and wants_colour(no_color=no_color)
        width = terminal_width() if output.path is None else 80
        shown = Options(colour=colour, ascii_only=ascii_only(), verbose=verbose, root=root, width=width)
        _write(output, report, shown)
    ctx.exit(report.exit_code)


def _outputs(wanted: Sequence[str], port: Path, *, quiet: bool) -> list[Output]:
    outputs = [_output(value, port) for value in wanted]
    shown = [o.format for o in outputs if o.path is None]
    if len(shown) > 1:
        raise UsageError(
            f"Standard output takes one report, not {' and '.join(shown)}: write the others with -o FORMAT=FILE."
        )
    files = [o.path for o in outputs if o.path is not None]
    twice = next((path for path in files if files.count(path) > 1), None)
    if twice is not None:
        raise UsageError(f"Two reports cannot go to one file, {twice}.")
    if not shown and not quiet:
        outputs.append(Output("text", None))
    return outputs


def _output(value: str, port: Path) -> Output:
    name, equals, file = value.partition("=")
    if name not in formats():
        raise UsageError(f"There is no format {name!r}; formats are {', '.join(formats())}.")
    if not equals or file == "-":
        return Output(name, None)
    if not file:
        raise UsageError(f"-o {value} names no file; write -o {name} for standard output.")
    path = Path(file)
    if is_stream(path) and not path.is_dir():
        return Output(name, path)
    path = path.resolve()
    if path.is_dir() or not path.parent.is_dir():
        what = "is a directory" if path.is_dir() else f"cannot be made, since {path.parent} is no directory"
        raise UsageError(f"-o {value}: {file} {what}.")
    if path.is_relative_to(port.resolve()):
        raise UsageError(f"-o {value}: {file} would be a file of the port that is audited; write it elsewhere.")
    return Output(name, path)


def _write(output: Output, report: Report, options: Options) -> None:
    text = renderer(output.format)(report, options)
    if output.path is None:
        emit(text)
        return
    try:
        write_output(output.path, text.encode())
    except OSError as error:
        raise UsageError(f"{output.path} cannot be written: {error.strerror}.") from error

"""``calaudit status``: the table of the gates."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from calaudit.cli._shared import audited, emit, port_argument, wants_colour
from calaudit.contract import load_contract
from calaudit.model import Report, plain
from calaudit.report import Options
from calaudit.report._gate_table import Row, render, rows
from calaudit.report._sentences import meaning, next_step, unsigned
from calaudit.report.json_report import dumps

__all__ = ["command"]


@click.command("status", epilog="Exit: as `calaudit verify`.")
@port_argument
@click.option("--json", "as_json", is_flag=True, help="Write the table as JSON.")
@click.option("--jobs", metavar="N", type=click.IntRange(min=1), help="Threads and processes; the machine's cores.")
@click.option("--quiet", is_flag=True, help="No progress.")
@click.option("--no-color", is_flag=True, help="No colour, as with NO_COLOR in the environment.")
@click.pass_context
def command(  # noqa: PLR0913 - one parameter an option
    ctx: click.Context, port: Path, jobs: int | None, *, as_json: bool, quiet: bool, no_color: bool
) -> None:
    """Show where each gate of a port stands.

    For each gate: the role that answers for it, its verdict, what is missing, and where to go back to when it fails.
    PORT is the directory that holds port.yaml; the current one by default.
    """
    contract = load_contract()
    report = audited(port, jobs=jobs, quiet=quiet, contract=contract)
    gates = contract.gates.gates
    table = rows(
        report,
        owners={gate.id: (gate.owner, *gate.cosigners) for gate in gates.values()},
        depends={gate.id: gate.depends for gate in gates.values()},
    )
    if as_json:
        emit(dumps(_document(report, table)))
    else:
        emit(render(report, table, Options(colour=wants_colour(no_color=no_color))))
    ctx.exit(report.exit_code)


def _document(report: Report, table: list[Row]) -> dict[str, Any]:
    return {
        "port": asdict(report.port),
        "through": report.through,
        "verdict": str(report.verdict),
        "exit_code": report.exit_code,
        "meaning": meaning(report),
        "unsigned": unsigned(report),
        "next": next_step(report),
        "gates": [plain(asdict(row)) for row in table],
    }

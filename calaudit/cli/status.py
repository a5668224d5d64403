"""``calaudit status``: the table of the gates."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

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
    terminal_width,
    wants_colour,
)
from calaudit.contract import Contract
from calaudit.model import Kind, Report, plain
from calaudit.report import Options
from calaudit.report._gate_table import Row, render, rows
from calaudit.report._sentences import meaning, next_step, unsigned
from calaudit.report.json_report import dumps, trust_document

__all__ = ["command"]


@click.command("status", epilog="Exit: as `calaudit verify`.")
@port_argument
@policy_option
@cue_option
@trust_option
@at_option
@unsafe_time_option
@click.option("--json", "as_json", is_flag=True, help="Write the table as JSON.")
@click.option("--jobs", metavar="N", type=click.IntRange(min=1), help="Threads and processes; the machine's cores.")
@click.option("--quiet", is_flag=True, help="No progress.")
@click.option("--no-color", is_flag=True, help="No colour, as with NO_COLOR in the environment.")
@click.pass_context
def command(  # noqa: PLR0913 - one parameter an option
    ctx: click.Context,
    port: Path,
    *,
    policies: Sequence[Path],
    cue: Path | None,
    trust: Path | None,
    at: str | None,
    jobs: int | None,
    unsafe_time: bool,
    as_json: bool,
    quiet: bool,
    no_color: bool,
) -> None:
    """Show where each gate of a port stands.

    For each gate: the role that answers for it, its verdict, what is missing, where to go back to when it fails, and
    who signed it. PORT is the directory that holds port.yaml; the current one by default.
    """
    when = moment(at, unsafe=unsafe_time)
    contract = contract_for(policies, when)
    report = audited(port, jobs=jobs, quiet=quiet, contract=contract, cue=cue, trust=trust, at=when)
    gates = contract.gates.gates
    table = rows(
        report,
        owners={gate.id: (gate.owner, *gate.cosigners) for gate in gates.values()},
        depends={gate.id: gate.depends for gate in gates.values()},
        duties=duties_of(report, contract),
    )
    if as_json:
        emit(dumps(_document(report, table)))
    else:
        colour = wants_colour(no_color=no_color)
        emit(render(report, table, Options(colour=colour, ascii_only=ascii_only(), width=terminal_width())))
    ctx.exit(report.exit_code)


def duties_of(report: Report, contract: Contract) -> list[str]:
    """The roles that sign files which the port as a whole has."""
    paths = [a.path for gate in report.gates for a in gate.artifacts]
    return [
        duty.role
        for duty in contract.gates.duties
        if any(contract.gates.glob(pattern).matches(path) for pattern in duty.covers for path in paths)
    ]


def _document(report: Report, table: list[Row]) -> dict[str, Any]:
    return {
        "port": asdict(report.port),
        "through": report.through,
        "verdict": str(report.verdict),
        "exit_code": report.exit_code,
        "unsafe": list(report.unsafe),
        "trust": trust_document(report),
        "expires_soon": [r.message for r in report.results if r.rule == "expires-soon" and r.kind is Kind.FAIL],
        "meaning": meaning(report),
        "unsigned": unsigned(report),
        "next": next_step(report),
        "gates": [plain(asdict(row)) for row in table],
    }

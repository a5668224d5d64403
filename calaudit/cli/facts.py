"""``calaudit facts``: the facts of a port as one JSON document, for other policy engines and for people."""

from collections.abc import Sequence
from pathlib import Path

import click

from calaudit.cli._shared import emit, policy_option, port_argument
from calaudit.model import Json
from calaudit.report._escape import visible

__all__ = ["command"]


@click.command("facts", epilog="Exit: 0 printed (what is missing is named on standard error), 2 usage or contract.")
@port_argument
@click.option("--schema", is_flag=True, help="Print the JSON Schema of the document instead; no port is read.")
@click.option("--jobs", metavar="N", type=click.IntRange(min=1), help="Threads and processes; the machine's cores.")
@policy_option
def command(port: Path, jobs: int | None, policies: Sequence[Path], *, schema: bool) -> int:
    """Print what the evidence of a port supports, as JSON.

    It is the document that policies judge. A subject that the evidence does not support is absent, and a number that is
    not finite is null, since JSON has no word for it; standard error names both. The policies of --policy
    are checked against the document's schema, and change nothing in it. PORT is the directory that holds
    port.yaml; the current one by default.
    """
    from calaudit.facts.document import written

    if schema:
        from calaudit.facts.schema import facts_schema

        emit(written(facts_schema()))
        return 0
    document, missing = _facts(port, jobs, policies)
    emit(written(document))
    for reason in missing:
        click.echo(visible(reason), err=True)
    return 0


def _facts(port: Path, jobs: int | None, policies: Sequence[Path]) -> tuple[dict[str, Json], list[str]]:
    """The document, and a sentence for everything that is missing from it."""
    from calaudit.contract import load_contract
    from calaudit.errors import UsageError
    from calaudit.evidence import gather
    from calaudit.evidence.root import demand_port
    from calaudit.facts import Facts
    from calaudit.facts.document import facts_document

    if not port.is_dir():
        raise UsageError(f"{port} is not a directory; name the one that holds port.yaml.")
    contract = load_contract(overlays=policies)
    demand_port(port, contract.gates.folders)
    contract.refuse_inside(port)
    return facts_document(Facts(gather(port, specs=contract.gates, schemas=contract.schemas, jobs=jobs), contract))

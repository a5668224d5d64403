"""``calaudit facts``: the facts of a port as one JSON document, for other policy engines and for people."""

import json
import math
from collections.abc import Iterator
from pathlib import Path

import click

from calaudit.cli._shared import emit, port_argument
from calaudit.report._escape import visible

__all__ = ["command"]


@click.command("facts", epilog="Exit: 0 printed (what is missing is named on standard error), 2 usage or contract.")
@port_argument
@click.option("--schema", is_flag=True, help="Print the JSON Schema of the document instead; no port is read.")
@click.option("--jobs", metavar="N", type=click.IntRange(min=1), help="Threads and processes; the machine's cores.")
def command(port: Path, jobs: int | None, *, schema: bool) -> int:
    """Print what the evidence of a port supports, as JSON.

    It is the document that policies judge. A subject that the evidence does not support is absent, and a number that is
    not finite is null, since JSON has no word for it; standard error names both. PORT is the directory that holds
    port.yaml; the current one by default.
    """
    if schema:
        from calaudit.facts.schema import facts_schema

        _write(facts_schema())
        return 0
    document, missing = _facts(port, jobs)
    _write(document)
    for reason in missing:
        click.echo(visible(reason), err=True)
    return 0


def _facts(port: Path, jobs: int | None) -> tuple[dict[str, object], list[str]]:
    """The document, and a sentence for everything that is missing from it."""
    from calaudit.checks.policy_data import plain_data
    from calaudit.contract import load_contract
    from calaudit.errors import MissingFact, UsageError
    from calaudit.evidence import gather
    from calaudit.facts import Facts, discover_facts, fact_document

    if not port.is_dir():
        raise UsageError(f"{port} is not a directory; name the one that holds port.yaml.")
    contract = load_contract()
    facts = Facts(gather(port, specs=contract.gates, schemas=contract.schemas, jobs=jobs), contract)
    document: dict[str, object] = {}
    missing: list[str] = []
    for kind in discover_facts():
        try:
            found = plain_data(fact_document(facts.get(kind)))
        except MissingFact as error:
            at = "" if error.at is None else f" ({error.at})"
            missing.append(f"facts.{kind.name} is missing: {error.message}{at}")
            continue
        missing += [f"{path} is not a finite number" for path in _infinite(found, f"facts.{kind.name}")]
        document[kind.name] = _finite(found)
    return document, missing


def _infinite(value: object, path: str) -> Iterator[str]:
    if isinstance(value, float) and not math.isfinite(value):
        yield path
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _infinite(item, f"{path}.{name}")
    elif isinstance(value, list):
        for n, item in enumerate(value):
            yield from _infinite(item, f"{path}[{n}]")


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list) else value


def _write(document: dict[str, object]) -> None:
    # ASCII only: control characters, bidirectional overrides and lone surrogates leave as \u escapes.
    text = json.dumps(document, indent=2, sort_keys=True, allow_nan=False)
    emit(text.replace("\x7f", "\\u007f") + "\n")

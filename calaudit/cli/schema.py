"""``calaudit schema``: list and show the schemas, and explain one document by its schema."""

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from calaudit.cli._shared import emit, terminal_width

__all__ = ["command"]


@click.group("schema")
def command() -> None:
    """List the schemas, and explain one document by its schema."""


@command.command("list")
def list_schemas() -> int:
    """List every schema with the tag its documents carry and the files that follow it."""
    from calaudit.contract import load_contract

    contract = load_contract()
    files: dict[str, list[str]] = {}
    for spec in contract.gates.artifacts():
        if spec.schema is not None:
            files.setdefault(spec.schema, []).append(spec.pattern)
    width = max(map(len, contract.schemas))
    for name, schema in contract.schemas.items():
        emit(f"{name:<{width}}  {schema.document['title']}\n")
        emit(f"{'':<{width}}  tag {schema.tag or 'none (records)'}\n")
        for path in files.get(name, []):
            emit(f"{'':<{width}}  {path}\n")
    return 0


@command.command("show")
@click.argument("name")
@click.option("--text", is_flag=True, help="A reference for people instead of the schema itself.")
def show(name: str, *, text: bool) -> int:
    """Print a schema as JSON, for editors and other validators.

    NAME is a schema (`prompt` or `prompt/v1`), or an artifact by its name or path (`prompts`).
    """
    from calaudit.cli._schema_names import named
    from calaudit.contract import load_contract

    schema = named(load_contract(), name)
    if text:
        from calaudit.cli._schema_text import reference

        emit(reference(schema.name, schema.document, tag=schema.tag))
    else:
        import json

        emit(json.dumps(schema.document, indent=2, ensure_ascii=False) + "\n")
    return 0


@command.command("check", epilog="Exit: 0 all follow their schema, 1 one does not, 2 usage.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE|DIR…")
@click.option("--schema", "name", metavar="NAME", help="The schema; by default the one that tag or file name tells.")
def check(files: Sequence[Path], name: str | None) -> int:
    """Read documents (JSON, YAML, JSONL) as strictly as an audit does, and tell every fault with its line.

    Of a port's directory every document is checked that has a schema.
    """
    from calaudit.cli._schema_check import check_file, documents_in, told
    from calaudit.contract import load_contract

    contract = load_contract()
    checked = [
        check_file(found, name, contract)
        for path in files
        for found in (documents_in(path, contract) if path.is_dir() else [path])
    ]
    width = terminal_width() if sys.stdout.isatty() else sys.maxsize  # into a pipe, a line a fault
    for one in checked:
        emit(told(one, width))
    return 0 if all(one.good for one in checked) else 1

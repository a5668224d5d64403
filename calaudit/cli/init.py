"""``calaudit init``: begin a new port directory."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from calaudit.cli._shared import emit, terminal_width
from calaudit.cli._wrapping import hanging

if TYPE_CHECKING:
    from calaudit.intake.begin import Begun

__all__ = ["command"]


@click.command("init", epilog="Exit: 0 begun, 2 the directory is not free, the config will not do, or usage.")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--from-hf",
    "model",
    metavar="CONFIG_DIR",
    required=True,
    type=click.Path(path_type=Path),
    help="Directory of a Hugging Face model: config.json, and what else is there of tokenizer, licence and weights.",
)
@click.option("--profile", default="dense-single-chip", show_default=True, help="Profile the port is judged by.")
@click.option("--id", "port_id", metavar="ID", help="Id of the port; the name of DIR by default.")
@click.option("--copy-weights", is_flag=True, help="Copy safetensors files into the port; else they are listed only.")
def command(directory: Path, model: Path, profile: str, port_id: str | None, *, copy_weights: bool) -> int:
    """Begin a new port directory.

    Writes DIR, with the directories above it: the folders of a port, port.yaml, the model's configuration, and a source
    manifest in which everything is filled in that the model's files say. What a person must decide is marked REQUIRED;
    `calaudit verify DIR` lists it.
    """
    from calaudit.contract import load_contract
    from calaudit.intake.begin import Wishes, begin

    begun = begin(
        directory, model, load_contract(), Wishes(profile=profile, port_id=port_id, copy_weights=copy_weights)
    )
    width = terminal_width()
    emit("".join(f"{part}\n" for line in _told(begun) for part in hanging(line, width)))
    return 0


def _told(begun: "Begun") -> Iterator[str]:
    found = begun.checkpoint.architecture
    yield f"Port {begun.port_id} begun in {begun.path}, judged by profile {begun.profile}."
    counted = f", {begun.checkpoint.counted.parameters:,} parameters" if begun.checkpoint.counted else ""
    sizes = f"{found.layers or '?'} layers, hidden {found.hidden or '?'}, attention {found.attention or '?'}{counted}"
    sizes = f"{found.layers or '?'} layers, hidden {found.hidden or '?'}, attention {found.attention or '?'}{counted}"
    unsaid = " (?: the config does not say it as a number.)" if "?" in sizes else ""
    yield f"Model: type {found.model_type or 'unknown'}, {sizes}.{unsaid}"
    yield "Complexity by the model's files (runbook §4.2):"
    for name, row in begun.rows.items():
        points = "?" if row.score is None else f"{row.score}" if row.settled else f"{row.score} or more"
        yield f"  {name}: {points}. {row.reason}"
    for note in (*begun.notes, *begun.checkpoint.notes):
        yield f"Note: {note}"
    count = sum(map(len, begun.missing.values()))
    if count:
        yield f"To fill in ({count} places, which the rule placeholder-left lists):"
        for path, pointers in begun.missing.items():
            if pointers:
                tops = dict.fromkeys(pointer.split("/")[1] for pointer in pointers)
                yield f"  {path}: {', '.join(tops)}"
    yield "Next:"
    yield f"  1. Fill these places in, then run: calaudit verify {shlex.quote(str(begun.path))}"
    yield "  2. Ask the vendor for what vendor/kickoff.json lists; the score waits for the operator matrix."
    yield "  3. After go: the reference (01-reference), then the export (02-onnx)."

"""``calaudit onnx``: inventory, check and compare an exported graph; what they write is evidence, none judges a port.

Exit codes: 0 done and all well · 1 the model is faulty or differs · 2 usage · 3 something that is needed is missing.
"""

import os
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import ParamSpec

import click

__all__ = ["command"]

P = ParamSpec("P")

FAULTY, USAGE, MISSING = 1, 2, 3

_MODEL = "02-onnx/model.onnx"
_EPILOG = "Exit: 0 done, 1 the model is faulty or differs, 2 usage or contract, 3 something that is needed is missing."


@click.group("onnx")
def command() -> None:
    """Inspect, check and compare an ONNX export."""


def _exits(run: Callable[P, int]) -> Callable[P, None]:
    """Turn an int into the exit code and calaudit's errors into a sentence and theirs."""

    @wraps(run)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        from calaudit.errors import ContractError, Malformed, MissingFact, UsageError

        try:
            code = run(*args, **kwargs)
        except Malformed as error:
            code = _say(error.message, FAULTY)
        except (UsageError, ContractError) as error:
            code = _say(str(error), USAGE)
        except MissingFact as error:
            code = _say(error.message, MISSING)
        except OSError as error:
            code = _say(f"{error.filename} cannot be read: {error.strerror}.", USAGE)
        click.get_current_context().exit(code)

    return wrapped


def _say(sentence: str, code: int) -> int:
    from calaudit.report._escape import visible

    click.echo(f"calaudit: {visible(sentence)}", err=True)
    return code


def _model(path: Path) -> Path:
    return path / _MODEL if path.is_dir() else path


@command.command("ops", epilog=_EPILOG)
@click.argument("model", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write to a file, not to stdout.")
@_exits
def ops(model: Path, output: Path | None) -> int:
    """Print the op inventory of a model.

    MODEL is a file or a port; its external data is not read.
    """
    from calaudit.files import write_output
    from calaudit.harness.documents import json_bytes
    from calaudit.harness.onnx_ops import op_inventory

    document = json_bytes(op_inventory(_model(model)))
    if output is None:
        sys.stdout.buffer.write(document)
    else:
        write_output(output, document)
    return 0


@command.command("check", epilog=_EPILOG)
@click.argument("model", type=click.Path(path_type=Path))
@click.option(
    "--timeout", type=click.FloatRange(min=0, min_open=True), default=300.0, show_default=True, help="Seconds."
)
@_exits
def check(model: Path, timeout: float) -> int:
    """Check that a model is valid ONNX.

    MODEL is a file or a port. Its structure and external data are checked first, then onnx.checker looks at it in a
    process of its own.
    """
    from calaudit.harness.onnx_check import check_model

    path = _model(model)
    result = check_model(path, timeout_s=timeout)
    for problem in result.problems:
        _say(problem, FAULTY)
    if not result.ok:
        return FAULTY
    click.echo(f"{path.name} is valid ONNX (onnx {result.version}, full check); sha256 {result.sha256}.")
    return 0


@command.command("compare", epilog=_EPILOG)
@click.argument("port", type=click.Path(path_type=Path, exists=True, file_okay=False))
@_exits
def compare(port: Path) -> int:
    """Compare a model with its reference.

    Runs the model of PORT through ONNX Runtime over all prompts and golden tensors, and writes the evidence of G2.
    """
    # Before numpy is imported: with more threads OpenBLAS adds in another order, and statistics move a little.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from calaudit.contract import load_contract
    from calaudit.harness.invocation import clock
    from calaudit.harness.onnx_compare import compare as run

    outcome = run(port, load_contract(), clock())
    for difference in outcome.differences:
        _say(difference, FAULTY)
    if not outcome.agrees:
        return FAULTY
    click.echo(f"{outcome.samples} prompts and {len(outcome.deviations)} tensors agree with the reference.")
    return 0

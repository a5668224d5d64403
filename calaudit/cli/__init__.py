"""The command line: one verb a module, and this thin group in front of them.

``calaudit --help`` imports click and nothing else: a verb's module is imported when the verb is used, and the summaries
of the verbs stand in a table here (a test holds it against the verbs' own). Exit codes: 0 passed, 1 failed, 2 usage or
contract, 3 not everything could be verified, 4 internal error, 130 interrupted, 141 nobody reads the output.
"""

import contextlib
import errno
import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn, cast

from calaudit.garbage import uncollected
from calaudit.version import VERSION

with uncollected():  # a module is made of things that stay: it costs a tenth to look for cycles among them
    import click

__all__ = ["VERBS", "cli", "main"]

USAGE, INTERNAL, INTERRUPTED, UNREAD = 2, 4, 130, 141

VERBS = {
    "attest": "Sign for a build of a step that was done elsewhere.",
    "explain": "Tell what a rule demands, why, and how to fix a finding.",
    "facts": "Print what the evidence of a port supports, as JSON.",
    "init": "Begin a new port directory.",
    "layout": "Compile the steps of a port to an in-toto layout, and sign it.",
    "onnx": "Inspect, check and compare an ONNX export.",
    "policy": "List and test the policies.",
    "receive": "Take what a vendor returned into a port, all of it or nothing.",
    "rebuild": "Run a step again under other conditions, and explain what differs.",
    "run": "Run steps of a port, and publish what they made with who ran it.",
    "schema": "List the schemas, and explain one document by its schema.",
    "signoff": "Sign a gate of a port for a role, or reject it.",
    "status": "Show where each gate of a port stands.",
    "trust": "Make, change, sign and pin the root of trust and the role registry.",
    "vendor-kit": "Pack what a vendor has to know to return something that verifies.",
    "verify": "Audit a port and report what was found.",
    "waive": "Let one failed rule on one artifact pass for a while.",
}
"""The verbs and the first lines of their help."""


class Unread(Exception):
    """Nobody reads standard output any more."""


class Verbs(click.Group):
    """Imports a verb when it is used, and turns every error into an exit code and a sentence."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The verbs, sorted."""
        return sorted(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The verb's command, ``command`` in its module."""
        if cmd_name not in VERBS:
            if ctx.resilient_parsing:
                return None
            from difflib import get_close_matches

            near = get_close_matches(cmd_name, VERBS, n=1)
            ctx.fail(f"There is no command {cmd_name!r}. " + (f"Did you mean {near[0]}?" if near else "See --help."))
        return cast("click.Command", import_module(f"calaudit.cli.{cmd_name.replace('-', '_')}").command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - the same
        """List the verbs without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(sorted(VERBS.items()))

    def invoke(self, ctx: click.Context) -> object:
        """Run the verb."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            # click would exit with 1, which here means that the port failed.
            raise Unread from error

    def main(  # type: ignore[override]  # the standalone mode is ours, always
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: object
    ) -> NoReturn:
        """Run and exit."""
        extra.pop("standalone_mode", None)
        try:
            code = _run(self, args, prog_name or "calaudit", extra)
            sys.stdout.flush()
        except (Unread, BrokenPipeError):
            _forget_stdout()
            code = UNREAD
        gc.freeze()  # what lives ends with the process: to look through it for cycles is a tenth of `--help`
        sys.exit(code)


def _run(group: click.Group, args: Sequence[str] | None, prog_name: str, extra: dict[str, object]) -> int:
    try:
        returned: object = click.Group.main(group, args, prog_name, None, False, **extra)  # noqa: FBT003 - its 4th
    except click.ClickException as error:
        error.show()
        return USAGE
    except click.Abort:
        return _say("Interrupted.", INTERRUPTED)
    except Unread:
        raise
    except Exception as error:  # noqa: BLE001 - the last resort: a crash is an exit code and never looks like a verdict
        return _failed(error)
    return returned if isinstance(returned, int) else 0


def _failed(error: Exception) -> int:
    from calaudit.errors import ContractError, UsageError

    if isinstance(error, UsageError | ContractError):
        return _say(str(error), USAGE)
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        where = f" {error.filename}" if error.filename else ""
        return _say(f"There is no space left to write{where}; make some, and run again.", USAGE)
    if os.environ.get("CALAUDIT_DEBUG") == "1":
        import traceback

        traceback.print_exception(error)
    told = f"{type(error).__name__}: {error}"
    return _say(f"Internal error: {told} (CALAUDIT_DEBUG=1 shows the traceback). Please report it.", INTERNAL)


def _say(sentence: str, code: int) -> int:
    from calaudit.report._escape import visible

    click.echo(f"calaudit: {visible(sentence)}", err=True)
    return code


def _forget_stdout() -> None:
    # What is still buffered can reach nobody; without this the interpreter tries again at its end and complains.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


# A fixed width, like that of the reports: asking the terminal imports shutil, which costs as much as a tenth of click.
_SETTINGS = {"help_option_names": ["-h", "--help"], "terminal_width": 80}


@click.group(cls=Verbs, context_settings=_SETTINGS, subcommand_metavar="COMMAND [ARGS]...")
@click.version_option(VERSION, "-V", "--version", prog_name="calaudit", message="%(prog)s %(version)s")
def cli() -> None:
    """Audit the port of a model to the NPU: gate by gate, from its files alone."""


def _open_streams() -> None:
    """Put nothing where the caller closed a standard stream: or the next file that is opened would be taken for it."""
    for descriptor, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            with contextlib.suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_RDWR), descriptor)
                setattr(sys, name, os.fdopen(descriptor, mode))


def main() -> NoReturn:
    """The console script."""
    _open_streams()
    cli.main(prog_name="calaudit")

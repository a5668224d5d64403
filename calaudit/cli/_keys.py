"""What verbs that sign have in common: the options of keys and passphrases, and asking whoever sits at a terminal."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from calaudit.errors import UsageError
from calaudit.report._escape import visible

if TYPE_CHECKING:
    from calaudit.sign.passphrases import Passphrases

__all__ = ["confirm", "need", "passphrase_options", "passphrases", "say", "terminal", "yes_option"]

Decorated = Callable[..., Any]

yes_option = click.option("--yes", is_flag=True, help="Do not ask for a confirmation.")

_env_option = click.option(
    "--passphrase-env",
    "variable",
    metavar="NAME",
    default="CALAUDIT_PASSPHRASE",
    show_default=True,
    help="Environment variable with the passphrase or PIN.",
)
_none_option = click.option(
    "--no-passphrase", "none", is_flag=True, help="Write new keys unencrypted: whoever copies the file can sign."
)


def passphrase_options(*, new: bool = False) -> Callable[[Decorated], Decorated]:
    """The options of passphrases; those of ``new`` keys too."""
    return lambda command: _env_option(_none_option(command) if new else command)


def passphrases(variable: str, *, none: bool = False) -> "Passphrases":
    """Where passphrases come from in this call."""
    from calaudit.sign.passphrases import Passphrases

    return Passphrases(variable=variable, ask=_ask if terminal() else None, none=none)


def terminal() -> bool:
    """Whether a person can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def need(value: str | None, question: str, option: str) -> str:
    """A value that has to be there; asked for on a terminal.

    Raises:
        UsageError: it is not there, and nobody can be asked.
    """
    if value is not None:
        return value
    if not terminal():
        raise UsageError(f"{option} is missing.")
    answer: str = click.prompt(question, err=True)
    return answer


def confirm(question: str, *, yes: bool) -> None:
    """Go on only if whoever runs this says so.

    Raises:
        UsageError: they say no, or nobody can be asked.
    """
    if yes:
        return
    if not terminal():
        raise UsageError("Nothing was written: this needs a confirmation. Run it on a terminal, or say --yes.")
    if not click.confirm(question, err=True):
        raise UsageError("Nothing was written.")


def say(line: str) -> None:
    """One line on standard output, everything in it visible."""
    click.echo(visible(line))


def _ask(what: str, *, confirm: bool) -> str:
    answer: str = click.prompt(visible(what), hide_input=True, confirmation_prompt=confirm, err=True)
    return answer

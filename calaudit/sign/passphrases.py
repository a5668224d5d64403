"""Where a passphrase or PIN comes from: an environment variable or a person at a terminal, never the command line.

What stands on a command line is in the shell's history and in every user's list of processes.
"""

import os
from dataclasses import dataclass, field
from typing import Protocol

from calaudit.errors import UsageError

__all__ = ["VARIABLE", "Ask", "Passphrases"]

VARIABLE = "CALAUDIT_PASSPHRASE"
"""The environment variable that is looked into by default."""

LENGTH_MIN = 8
"""Characters of a new passphrase: a key file may end in a backup."""


class Ask(Protocol):
    """Prompts a person for a secret without showing it."""

    def __call__(self, what: str, *, confirm: bool) -> str:
        """Ask for ``what``; twice, and until both agree, if ``confirm``."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Passphrases:
    """The sources of secrets for one command.

    ``ask`` is None where there is no terminal. ``none`` says that new keys are to be written without a passphrase.
    """

    variable: str = VARIABLE
    ask: Ask | None = field(default=None, repr=False)
    none: bool = False

    def secret(self, what: str) -> str:
        """The secret that opens something which exists.

        Raises:
            UsageError: there is none to be had.
        """
        found = os.environ.get(self.variable)
        if found:
            return found
        if self.ask is not None:
            return self.ask(what, confirm=False)
        raise UsageError(
            f"{what} is needed: set {self.variable} in the environment (--passphrase-env names another variable), or "
            "run this on a terminal."
        )

    def new(self, what: str) -> str | None:
        """The passphrase for a key that is being made; None for a key without one, which somebody asked for.

        Raises:
            UsageError: there is none to be had, or it is too short.
        """
        if self.none:
            return None
        found = os.environ.get(self.variable)
        if not found and self.ask is not None:
            found = self.ask(what, confirm=True)
        if not found:
            raise UsageError(
                f"{what} is needed: set {self.variable} in the environment (--passphrase-env names another variable), "
                "run this on a terminal, or say --no-passphrase for a key that whoever copies the file can use."
            )
        if len(found) < LENGTH_MIN:
            raise UsageError(f"{what}: it has {len(found)} characters; at least {LENGTH_MIN} are needed.")
        return found

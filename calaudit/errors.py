"""The error tree.

::

    CalauditError
    ├── UsageError        the command line or an argument is wrong              exit 2
    ├── ContractError     schemas, gates, profiles or policies are faulty       exit 2
    ├── Malformed         bytes that one strict parser refuses                  becomes a result
    └── MissingFact       evidence does not support a fact that a rule needs    becomes an open result

A faulty *port* never raises out of :func:`calaudit.audit`: what is wrong with it is a result.
Messages are sentences that name the file, the place, what was expected, what was found and what to do.
"""

from calaudit.model import Location


class CalauditError(Exception):
    """Base of every error that calaudit raises on purpose."""


class UsageError(CalauditError):
    """The caller asked for something that does not exist or makes no sense."""


class ContractError(CalauditError):
    """The contract itself is faulty, so nothing can be judged by it."""


class Malformed(CalauditError):
    """A document that its strict parser refuses.

    ``line`` and ``column`` count from 1; ``pointer`` is an RFC 6901 JSON pointer. Each is None where unknown.
    """

    def __init__(
        self, message: str, *, line: int | None = None, column: int | None = None, pointer: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column
        self.pointer = pointer


class MissingFact(CalauditError):
    """A rule asked for a fact that the evidence does not support: the rule stays open."""

    def __init__(self, message: str, *, at: Location | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.at = at

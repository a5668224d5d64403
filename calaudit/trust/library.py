"""Documents as in-toto's own models have them."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, TypeVar

from securesystemslib.exceptions import Error as SecureSystemsError

from calaudit.errors import Malformed

__all__ = ["READ_ERRORS", "first_line", "library_model"]

READ_ERRORS = (SecureSystemsError, ValueError, KeyError, TypeError, AttributeError)
"""What in-toto and securesystemslib raise over a document that is not what it should be."""

M = TypeVar("M")


def library_model(read: Callable[[dict[str, Any]], M], document: Mapping[str, Any], what: str) -> M:
    """What in-toto's ``read`` makes of a copy of the document, since it changes what it reads.

    Raises:
        Malformed: in-toto does not take it for ``what``.
    """
    try:
        return read(deepcopy(dict(document)))
    except READ_ERRORS as error:
        raise Malformed(f"in-toto does not take it for a {what} ({first_line(error)}).") from error


def first_line(error: Exception) -> str:
    """The first line of what an error says, without its full stop; its type where it says nothing."""
    return (str(error) or type(error).__name__).partition("\n")[0].rstrip(".")

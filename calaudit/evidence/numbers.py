"""What a number may be in evidence: an integer of 64 bits (signed or unsigned) or a finite double.

Another reader would round, wrap or refuse anything else, so two readers would see two documents.
"""

import math

from calaudit.errors import Malformed

INT_MIN = -(2**63)
INT_MAX = 2**64 - 1
FLOAT_SUSPECT = float(2**63)
"""A double at least this large may be an integer beyond 64 bits that a fast parser rounded."""

_DIGITS = 20  # digits of 2^64


def integer(literal: str, base: int = 10) -> int:
    """The integer that a literal spells, sign and digits only.

    Raises:
        Malformed: it needs more than 64 bits.
    """
    # The length is looked at first: converting thousands of digits takes quadratic time.
    if len(literal.lstrip("+-").lstrip("0")) <= _DIGITS * 4:
        value = int(literal, base)
        if INT_MIN <= value <= INT_MAX:
            return value
    raise Malformed(f"The integer {shorten(literal)} does not fit into 64 bits; write a smaller one, or a string.")


def real(literal: str) -> float:
    """The finite double that a literal spells.

    Raises:
        Malformed: it overflows to infinity.
    """
    value = float(literal)
    if math.isinf(value):
        raise Malformed(f"The number {shorten(literal)} is too large for a double; write a finite number.")
    return value


def shorten(text: str, limit: int = 40) -> str:
    """A text for a message, cut in the middle where it is long."""
    return text if len(text) <= limit else f"{text[: limit // 2]}…{text[-limit // 4 :]}"

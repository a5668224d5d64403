"""The reference validator (``jsonschema``): slow and thorough, a second opinion on every verdict of the compiled one.

Two things that it leaves to Python are set to what JSON Schema means: ``$`` in a pattern is the end of the text (not
also the place before a last line break), and ``date-time`` is asserted.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker, ValidationError
from jsonschema.exceptions import best_match
from jsonschema.protocols import Validator
from jsonschema.validators import extend

from calaudit.contract.schema_walk import inexact_integers
from calaudit.contract.schemas import Schema
from calaudit.model import Json
from calaudit.pointers import escape

_FORMATS = FormatChecker(formats=("uuid",))


def reference_is_valid(schema: Schema, value: Json) -> bool:
    """Whether a value follows the schema, as the reference validator sees it."""
    if next(_validator(schema).iter_errors(value), None) is not None:
        return False
    return schema.is_for_records or next(inexact_integers(schema.document, value), None) is None


def main_fault(schema: Schema, value: Json) -> tuple[str, str] | None:
    """The fault that most likely explains the others: its JSON pointer and the reference validator's words for it."""
    error = best_match(_validator(schema).iter_errors(value))
    if error is None:
        return None
    return "".join(f"/{escape(str(part))}" for part in error.absolute_path), error.message


@_FORMATS.checks("date", ValueError)
def _is_date(value: object) -> bool:
    return not isinstance(value, str) or date.fromisoformat(value).isoformat() == value


@_FORMATS.checks("date-time", ValueError)
def _is_instant(value: object) -> bool:
    return not isinstance(value, str) or datetime.fromisoformat(value).tzinfo is not None


def _pattern(_: Any, pattern: str, value: object, __: Mapping[str, Any]) -> Iterator[ValidationError]:
    if isinstance(value, str) and _regex(pattern).search(value) is None:
        yield ValidationError(f"{value!r} does not match {pattern!r}")


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    """Our patterns hold ``$`` only at their end or in a class (a test sees to that)."""
    return re.compile(pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern)


_Reference: type[Validator] = extend(Draft202012Validator, {"pattern": _pattern})  # type: ignore[no-untyped-call]


@cache
def _validator(schema: Schema) -> Validator:
    return _Reference(dict(schema.document), format_checker=_FORMATS)

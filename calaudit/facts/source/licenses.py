"""SPDX licence expressions: what is wrong with one, and what its licences forbid."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

REFERENCE = "LicenseRef-"
"""How SPDX names a licence that is not on its list; its text must come along."""

_NOTHING = frozenset({"NONE", "NOASSERTION"})
_NOT_FOR_PRODUCTS = ("-NC-", "NONCOMMERCIAL", "NON-COMMERCIAL", "NCGL-", "BUSL-", "ALADDIN", "POLYFORM-FREE-TRIAL",
                     "POLYFORM-INTERNAL", "POLYFORM-STRICT")  # fmt: skip
_NO_DERIVATIVES = "-ND-"
_ATTRIBUTION = "CC-BY-"


@dataclass(frozen=True, slots=True)
class License:
    """One parsed expression: ``problem`` says why it names no licence; otherwise ``keys`` are its licences.

    ``references`` are those of them that are off the SPDX list.
    """

    text: str
    problem: str | None
    references: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    forbids: str | None = None
    wants_attribution: bool = False


@cache
def read_license(text: str) -> License:
    """Read one SPDX expression.

    ``forbids`` says what the licence rules out for a product; of alternatives (OR) the licensee takes the best one.
    """
    if not text.isascii():
        return License(text, "It is not an SPDX expression (SPDX is ASCII).")
    from license_expression import ExpressionError, ExpressionParseError  # noqa: PLC0415 - 30 ms

    licensing = _licensing()
    try:
        tree = licensing.parse(text, validate=False)
        keys = sorted(set(licensing.license_keys(tree)))
    except (ExpressionError, ExpressionParseError) as error:
        return License(text, f"It is not an SPDX expression ({str(error).splitlines()[0].rstrip('.')}).")
    except Exception as error:  # noqa: BLE001 - the library raises TypeError and worse on odd expressions
        return License(text, f"It is not an SPDX expression ({type(error).__name__}).")
    if tree is None or not keys or any(key.upper() in _NOTHING for key in keys):
        return License(text, "It names no licence.")
    unknown = [key for key in keys if not _is_known(key, licensing.known_symbols)]
    if unknown:
        return License(text, f"{', '.join(unknown)} is not on the SPDX list.")
    alone = sorted({str(leaf.key) for leaf in tree.literals if getattr(leaf, "is_exception", False)})
    if alone:
        return License(text, f"{', '.join(alone)} is an exception to a licence, not a licence.")
    return License(
        text,
        None,
        references=tuple(key for key in keys if key.startswith(REFERENCE)),
        keys=tuple(keys),
        forbids=_forbids(tree),
        wants_attribution=any(key.upper().startswith(_ATTRIBUTION) for key in keys),
    )


def names(expression: License, word: str) -> bool:
    """Whether an expression names the licence that a word of the hub's list stands for, such as apache-2.0 or gpl."""
    plain = word.strip().lower()
    ours = {re.sub(r"(-only|-or-later|\+)$", "", key.lower()) for key in expression.keys}
    rest = ".*" if plain.isalpha() else "[0-9].*"  # gpl stands for every version, odc-by for odc-by-1.0
    return any(re.fullmatch(f"{re.escape(plain)}(-{rest})?", key) for key in ours)


@cache
def _licensing() -> Any:
    from license_expression import get_spdx_licensing  # noqa: PLC0415 - as above

    return get_spdx_licensing()  # it reads and indexes the whole list at every call


def _is_known(key: str, known: dict[str, Any]) -> bool:
    # "+" (or any later version) belongs to the expression, not to the list.
    return key in known or key.removesuffix("+") in known or (key.startswith(REFERENCE) and len(key) > len(REFERENCE))


def _forbids(node: Any) -> str | None:
    branches = tuple(getattr(node, "args", ()))
    if not branches:
        return next(_forbidden(str(getattr(node, "key", node))), None)
    found = [_forbids(branch) for branch in branches]
    forbidden = [reason for reason in found if reason is not None]
    if type(node).__name__ == "OR":
        return forbidden[0] if len(forbidden) == len(found) else None
    return forbidden[0] if forbidden else None


def _forbidden(key: str) -> Iterator[str]:
    name = f"{key.upper()}-"
    if any(part in name for part in _NOT_FOR_PRODUCTS):
        yield f"{key} rules out commercial use"
    if _NO_DERIVATIVES in name:
        yield f"{key} rules out passing on a changed model, and a port is one"

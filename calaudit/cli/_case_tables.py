"""The case tables of checks: which kinds of result they show. They stand in a source tree, never in a wheel."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from calaudit.contract.resources import data_root
from calaudit.errors import ContractError

__all__ = ["kinds_shown"]


def kinds_shown(root: Path | None = None) -> Mapping[str, frozenset[str]] | None:
    """The kinds that the cases of each rule expect, by the rule's key; None where there are no tables to look at.

    Raises:
        ContractError: a table is not TOML, or has no cases.
    """
    folder = (root or data_root()) / "tests" / "cases"
    if not folder.is_dir():
        return None
    return {path.stem: _kinds(path) for path in sorted(folder.glob("*.toml"))}


def _kinds(path: Path) -> frozenset[str]:
    try:
        cases: list[dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))["case"]
        return frozenset(line.partition(":")[0] for case in cases for line in case["expect"])
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise ContractError(f"tests/cases/{path.name}: it is no table of cases: {error}.") from error

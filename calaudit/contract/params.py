"""Params: the numbers that rules judge by, and the profiles that set them.

``policies/params.yaml`` declares each param once, with its unit, what it means, and which way is stricter; a profile
(``policies/profiles/<id>.yaml``) overrides values. An overlay of an organisation may only move a param its stricter
way.
"""

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from calaudit.errors import ContractError

Value = bool | int | float | str | tuple["Value", ...] | None


class Stricter(StrEnum):
    """Which way a param may be moved without lowering the bar."""

    LOWER = "lower"
    HIGHER = "higher"
    SUBSET = "subset"
    SUPERSET = "superset"
    TRUE = "true"
    FALSE = "false"


@dataclass(frozen=True, slots=True, kw_only=True)
class Param:
    """One declared param and its default."""

    name: str
    title: str
    value: Value
    stricter: Stricter
    unit: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One set of values for every param. ``releasable`` says whether ``--release`` accepts it."""

    id: str
    title: str
    releasable: bool
    params: Mapping[str, Value]


def parse_params(document: Mapping[str, Any]) -> Mapping[str, Param]:
    """Turn a schema-valid ``params.yaml`` into params.

    Raises:
        ContractError: a value does not fit its direction, or is not finite.
    """
    params = {
        name: Param(
            name=name,
            title=raw["title"],
            value=freeze(raw["value"]),
            stricter=Stricter(raw["stricter"]),
            unit=raw.get("unit"),
        )
        for name, raw in document["params"].items()
    }
    for param in params.values():
        check_value(param, param.value, "policies/params.yaml")
    return MappingProxyType(params)


def parse_profile(document: Mapping[str, Any], params: Mapping[str, Param], where: str) -> Profile:
    """Turn a schema-valid profile document into a profile with a value for every param.

    ``where`` is the path of the file; its name is the profile's id.

    Raises:
        ContractError: it sets a param that does not exist, or a value that does not fit, or has another file's id.
    """
    if where.rpartition("/")[2] != f"{document['id']}.yaml":
        raise ContractError(f"{where}: its id is {document['id']}; the file is called <id>.yaml.")
    values = {name: param.value for name, param in params.items()}
    for name, raw in document.get("params", {}).items():
        if name not in params:
            raise unknown_param(name, params, where)
        values[name] = freeze(raw)
        check_value(params[name], values[name], where)
    return Profile(
        id=document["id"],
        title=document["title"],
        releasable=document["releasable"],
        params=MappingProxyType(values),
    )


def is_as_strict(param: Param, old: Value, new: Value) -> bool:
    """Whether replacing ``old`` by ``new`` lowers nothing; never for a value that does not fit the param."""
    if not (_fits(param.stricter, old) and _fits(param.stricter, new)):
        return False
    match param.stricter, old, new:
        case Stricter.LOWER, int() | float(), int() | float():
            return new <= old
        case Stricter.HIGHER, int() | float(), int() | float():
            return new >= old
        case Stricter.SUBSET, tuple(), tuple():
            return set(new) <= set(old)
        case Stricter.SUPERSET, tuple(), tuple():
            return set(new) >= set(old)
        case Stricter.TRUE, bool(), bool():
            return new or not old
        case Stricter.FALSE, bool(), bool():
            return old or not new
    return False


def stricter_of(param: Param, one: Value, other: Value) -> Value:
    """The value that demands what both demand; both fit the param.

    Raises:
        ContractError: no value does (two lists that share nothing).
    """
    match param.stricter, one, other:
        case Stricter.SUBSET, tuple(), tuple():
            both = tuple(value for value in one if value in other)
            if not both:
                raise ContractError(f"{param.name}: {show(one)} and {show(other)} have nothing in common.")
            return both
        case Stricter.SUPERSET, tuple(), tuple():
            return (*one, *(value for value in other if value not in one))
    return other if is_as_strict(param, one, other) else one


def show(value: Value) -> str:
    """A value as it would be written."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(show, value))}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def unknown_param(name: str, params: Mapping[str, Param], where: str) -> ContractError:
    """What to say of a param that is not declared."""
    near = difflib.get_close_matches(name, params, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    return ContractError(f"{where}: there is no param {name}; policies/params.yaml declares them.{hint}")


def freeze(value: Any) -> Value:
    """A value as it came from YAML, made immutable."""
    return tuple(freeze(v) for v in value) if isinstance(value, list) else value


_NEEDS: Mapping[Stricter, str] = MappingProxyType(
    {
        Stricter.LOWER: "finite number",
        Stricter.HIGHER: "finite number",
        Stricter.SUBSET: "list of finite numbers or words",
        Stricter.SUPERSET: "list of finite numbers or words",
        Stricter.TRUE: "boolean",
        Stricter.FALSE: "boolean",
    }
)


def _fits(stricter: Stricter, value: Value) -> bool:
    match stricter:
        case Stricter.LOWER | Stricter.HIGHER:
            return _is_number(value)
        case Stricter.SUBSET | Stricter.SUPERSET:
            return isinstance(value, tuple) and all(isinstance(v, str) or _is_number(v) for v in value)
        case _:
            return isinstance(value, bool)


def _is_number(value: Value) -> bool:
    # A bool is an int to Python; to a contract it is not.
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def check_value(param: Param, value: Value, where: str) -> None:
    """Demand a value that fits the param's stricter way.

    Raises:
        ContractError: it does not fit: not a number, not finite, not a list, not a boolean.
    """
    if not _fits(param.stricter, value):
        raise ContractError(
            f"{where}: {param.name} is {value!r}, but a param whose stricter way is {param.stricter} needs a "
            f"{_NEEDS[param.stricter]}."
        )

"""Tightening: params moved their stricter way and levels raised, by ``overlay/v1`` documents.

A value that is looser than the shipped one is an error, never ignored. Documents combine by what is strictest.

A dated document changes nothing before its date: the contract of the day before and that of the day are two contracts
with two digests, as if the organisation had written the document on that day. So a technical verdict depends on no
clock: its digest names the contract.
"""

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import partial, reduce
from types import MappingProxyType
from typing import Any

from calaudit.contract.params import (
    Param,
    Profile,
    Value,
    check_value,
    freeze,
    is_as_strict,
    show,
    stricter_of,
    unknown_param,
)
from calaudit.contract.yaml_place import Source
from calaudit.errors import ContractError
from calaudit.model import Level

__all__ = ["Tightening", "parse_tightening", "tighten"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tightening:
    """One ``overlay/v1`` document: params for every profile, params by profile, and levels by rule key."""

    where: str
    params: Mapping[str, Value]
    profiles: Mapping[str, Mapping[str, Value]]
    levels: Mapping[str, Level]
    effective_on: date | None = None

    def counts(self, today: date) -> bool:
        """Whether it is in force on a day."""
        return self.effective_on is None or self.effective_on <= today

    @property
    def subjects(self) -> tuple[str, ...]:
        """What it tightens: names of params and rule keys, sorted."""
        return tuple(sorted({*self.params, *(name for own in self.profiles.values() for name in own), *self.levels}))


def parse_tightening(
    document: Mapping[str, Any], source: Source, params: Mapping[str, Param], profiles: Mapping[str, Profile]
) -> Tightening:
    """Turn a schema-valid ``overlay/v1`` document into a tightening; ``params`` and ``profiles`` are the shipped ones.

    ``source`` is its file: messages tell the line.

    Raises:
        ContractError: it names what does not exist, or a value that does not fit or is looser than the shipped one.
    """
    defaults = {name: param.value for name, param in params.items()}
    by_profile = {}
    for id_, values in document.get("profiles", {}).items():
        if id_ not in profiles:
            near = difflib.get_close_matches(id_, profiles, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            where = source.place("profiles", id_)
            raise ContractError(f"{where}: there is no profile {id_}; profiles are {', '.join(profiles)}.{hint}")
        place = partial(source.place, "profiles", id_)
        by_profile[id_] = _values(values, place, params, profiles[id_].params, f"the profile {id_}")
    dated = document.get("effective_on")
    return Tightening(
        where=source.name,
        params=_values(
            document.get("params", {}), partial(source.place, "params"), params, defaults, "policies/params.yaml"
        ),
        profiles=MappingProxyType(by_profile),
        levels=MappingProxyType({key: Level(level) for key, level in document.get("levels", {}).items()}),
        effective_on=None if dated is None else date.fromisoformat(dated),
    )


def _values(
    raw: Mapping[str, Any],
    place: Callable[[str], str],
    params: Mapping[str, Param],
    base: Mapping[str, Value],
    whose: str,
) -> Mapping[str, Value]:
    """The values, each as strict as what ``whose`` has; ``place`` tells where one stands that is not."""
    values = {name: freeze(given) for name, given in raw.items()}
    for name, value in values.items():
        if name not in params:
            raise unknown_param(name, params, place(name))
        param, old = params[name], base[name]
        if value == () or not _is_alike(param.value, value) or not is_as_strict(param, old, value):
            raise _fault(param, value, place(name), old, whose)
    return MappingProxyType(values)


def _fault(param: Param, value: Value, where: str, old: Value, whose: str) -> ContractError:
    """What is wrong with a value that does not fit, or is not as strict as the ``old`` one that ``whose`` has."""
    check_value(param, value, where)
    name = param.name
    if value == ():
        return ContractError(f"{where}: {name} is empty, which demands nothing or forbids everything; leave it out.")
    if not _is_alike(param.value, value):
        return ContractError(f"{where}: {name} is {show(value)}, of another kind than {show(param.value)}.")
    return ContractError(
        f"{where}: {name} is {show(value)}, and {whose} has {show(old)}: an overlay may only move it its stricter way "
        f"({param.stricter}). Leave it out, or give a stricter value."
    )


def _is_alike(shipped: Value, value: Value) -> bool:
    """Whether rules that count or index with the shipped value can do so with the other."""
    if isinstance(shipped, tuple) and isinstance(value, tuple):
        return not shipped or all(any(_is_alike(old, new) for old in shipped) for new in value)
    if isinstance(shipped, int) and not isinstance(shipped, bool):
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, str) == isinstance(shipped, str)


def tighten(
    params: Mapping[str, Param], profiles: Mapping[str, Profile], tightenings: Iterable[Tightening]
) -> tuple[Mapping[str, Param], Mapping[str, Profile]]:
    """The params and the profiles, each value the strictest that is asked for.

    Raises:
        ContractError: two documents restrict one list to parts that have nothing in common.
    """
    found = tuple(tightenings)

    def strictest(name: str, base: Value, wanted: Iterable[tuple[str, Mapping[str, Value]]]) -> Value:
        asking = [(where, values[name]) for where, values in wanted if name in values]
        try:
            return reduce(lambda one, other: stricter_of(params[name], one, other[1]), asking, base)
        except ContractError as error:
            raise ContractError(f"{', '.join(where for where, _ in asking)}: {error}") from error

    everywhere = [(t.where, t.params) for t in found]
    own = {id_: [(t.where, t.profiles.get(id_, {})) for t in found] for id_ in profiles}
    return (
        MappingProxyType(
            {name: replace(param, value=strictest(name, param.value, everywhere)) for name, param in params.items()}
        ),
        MappingProxyType(
            {
                id_: replace(
                    profile,
                    params=MappingProxyType(
                        {name: strictest(name, base, [*everywhere, *own[id_]]) for name, base in profile.params.items()}
                    ),
                )
                for id_, profile in profiles.items()
            }
        ),
    )

"""How the manifest's architecture is compared with the config's, member by member."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from calaudit.facts.hf.architecture import Architecture
from calaudit.facts.hf.operators import canonical

_PLAIN = ("layers", "hidden", "q_heads", "kv_heads", "head_dim", "ffn", "vocab", "attention")
_OPERATORS = ("norm", "activation")


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One member that the manifest states otherwise or not at all; ``expected`` None: the config does not say."""

    pointer: str
    message: str
    expected: Any
    actual: Any


def members() -> int:
    """How many members are compared."""
    return len(_PLAIN) + len(_OPERATORS) + 3


def differences(stated: dict[str, Any], config: Architecture, *, code_files: int) -> Iterator[Difference]:
    """Every member on which manifest and config do not agree."""
    for member in _PLAIN:
        expected = getattr(config, member)
        if member == "ffn" and expected is None and config.recurrent and member not in stated:
            continue  # a state-space layer has no FFN beside it
        yield from _compare(member, stated.get(member), expected)
    for member in _OPERATORS:
        actual = stated.get(member)
        yield from _compare(member, canonical(actual) if isinstance(actual, str) else actual, getattr(config, member))
    yield from _rope(stated.get("rope"), config)
    yield from _experts(stated.get("moe"), config)
    yield from _compare("custom_code", stated.get("custom_code"), config.custom_code or code_files > 0)


def _compare(member: str, actual: Any, expected: Any) -> Iterator[Difference]:
    name = member.replace("/", ".")
    if expected is None:
        yield Difference(pointer=f"/{member}", message=f"The config does not say {name}.", expected=None, actual=actual)
    elif actual is None:
        yield Difference(pointer="", message=f"{name} is missing.", expected=expected, actual=None)
    elif actual != expected or isinstance(actual, bool) != isinstance(expected, bool):
        yield Difference(
            pointer=f"/{member}", message=f"{name} is not what the config says.", expected=expected, actual=actual
        )


def _rope(stated: dict[str, Any] | None, config: Architecture) -> Iterator[Difference]:
    if config.rope is None:
        if config.positions == "unknown":
            yield Difference(
                pointer="", message="The config does not say how positions are encoded.", expected=None, actual=stated
            )
        elif stated is not None:
            message = f"The config has no RoPE: positions are {config.positions}."
            yield Difference(pointer="/rope", message=message, expected="no rope", actual=stated)
        return
    stated = stated or {}
    yield from _compare("rope/type", stated.get("type"), config.rope.type)
    yield from _compare("rope/theta", stated.get("theta"), config.rope.theta)


def _experts(stated: dict[str, Any] | None, config: Architecture) -> Iterator[Difference]:
    if config.moe is None:
        if stated is not None:
            message = "The config has no experts."
            yield Difference(pointer="/moe", message=message, expected="null", actual=stated)
        return
    stated = stated or {}
    yield from _compare("moe/experts", stated.get("experts"), config.moe.experts)
    yield from _compare("moe/active", stated.get("active"), config.moe.active)

"""Facts: typed readings of evidence, one file a reading, one folder a subject; unjudged.

A fact is a frozen dataclass with a ``name`` and a classmethod ``derive(facts)``. It reads documents through
``facts.evidence``, which hands out only what was parsed strictly and follows its schema, and raises
:class:`~calaudit.errors.MissingFact` where the evidence does not support it. Facts are derived at first use and once.
A heavy library (onnx, numpy, tokenizers) is imported inside ``derive``.

Fields are what policies (CEL) and ``calaudit facts`` see. A field marked with :func:`internal` stays inside calaudit:
bulk that only checks need.
"""

import dataclasses
import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeVar, cast

from calaudit.errors import ContractError, MissingFact
from calaudit.model import Json, Location, plain

if TYPE_CHECKING:  # whoever reads the bytes of one file alone imports no parsers and policies with it
    from calaudit.contract import Contract
    from calaudit.evidence import Evidence


class Fact(Protocol):
    """What a fact class looks like."""

    name: ClassVar[str]

    @classmethod
    def derive(cls, facts: "Facts") -> Self:
        """Read the fact from evidence, or raise MissingFact."""
        ...


F = TypeVar("F", bound=Fact)


def internal(**kwargs: Any) -> Any:
    """A dataclass field that policies and ``calaudit facts`` do not see."""
    return field(metadata={"internal": True}, **kwargs)


@dataclass(frozen=True)
class Facts:
    """The facts of one port, derived at first use."""

    evidence: "Evidence"
    contract: "Contract"
    _known: dict[type[Any], Any] = field(default_factory=dict, repr=False)

    def get(self, kind: type[F]) -> F:
        """The fact of this kind.

        Raises:
            MissingFact: the evidence does not support it; the same error at every call.
        """
        if kind not in self._known:
            try:
                self._known[kind] = kind.derive(self)
            except MissingFact as missing:
                self._known[kind] = missing
        found = self._known[kind]
        if isinstance(found, MissingFact):
            raise MissingFact(found.message, at=found.at)
        return cast("F", found)


def fact_document(fact: Any) -> dict[str, Json]:
    """The public fields of one fact as JSON data; locations become text."""
    out: dict[str, Json] = {}
    for item in dataclasses.fields(fact):
        if not item.metadata.get("internal"):
            out[item.name] = _jsonable(getattr(fact, item.name))
    return out


def _jsonable(value: Any) -> Any:
    if isinstance(value, Location):
        return str(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return fact_document(value)
    if isinstance(value, list | tuple):
        return [_jsonable(v) for v in value]
    if isinstance(value, Mapping):
        return {str(k): _jsonable(v) for k, v in value.items()}
    return plain(value)


@cache
def discover_facts() -> tuple[type[Fact], ...]:
    """Every fact class in this package, by name; discovered, never listed."""
    kinds: dict[str, type[Fact]] = {}
    for module in _modules():
        for value in vars(module).values():
            if isinstance(value, type) and value.__module__ == module.__name__ and hasattr(value, "derive"):
                kind = cast("type[Fact]", value)
                if kinds.setdefault(kind.name, kind) is not kind:
                    raise ContractError(f"Two facts are called {kind.name}; the second is in {module.__name__}.")
    return tuple(kinds[name] for name in sorted(kinds))


def _modules() -> Iterator[Any]:
    for info in pkgutil.walk_packages(__path__, prefix=f"{__name__}."):
        yield importlib.import_module(info.name)

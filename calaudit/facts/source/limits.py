"""The sizes that the reference must keep to: context, vocabulary, layers, width."""

from dataclasses import dataclass
from typing import ClassVar, Self

from calaudit.errors import MissingFact
from calaudit.facts import Facts
from calaudit.facts.source.hf_config import ModelConfig
from calaudit.facts.source.manifest import CONFIG, SourceManifest
from calaudit.model import Location


@dataclass(frozen=True, kw_only=True)
class LimitsFact:
    """Sizes from ``config.json``, and from the manifest how much of the context the port promises."""

    name: ClassVar[str] = "limits"

    context: int
    """Tokens that a sequence may have: the longest target context, never more than the model's own."""
    vocab: int
    """Number of logits."""
    layers: int
    hidden: int

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Read both documents; MissingFact where one is absent or the config does not name a size."""
        found = facts.get(ModelConfig).architecture
        targets = facts.get(SourceManifest).context
        return cls(
            context=min(_size(found.max_position, "the longest context"), max(targets)),
            vocab=_size(found.vocab, "the size of the vocabulary", most=100_000_000),
            layers=_size(found.layers, "the number of layers", most=10_000),
            hidden=_size(found.hidden, "the hidden size", most=1_000_000),
        )


def _size(value: int | None, what: str, most: int | None = None) -> int:
    if value is None:
        raise MissingFact(f"{CONFIG} does not say {what}; take it from the model again.", at=Location(path=CONFIG))
    if most is not None and value > most:  # as in the manifest's schema; nothing is counted up to such a number
        raise MissingFact(f"{CONFIG} says that {what} is {value}, more than {most}.", at=Location(path=CONFIG))
    return value

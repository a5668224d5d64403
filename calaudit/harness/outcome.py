"""What a comparison allows, and what it found."""

from dataclasses import dataclass, field

from calaudit.harness.tensors import TensorKey

__all__ = ["Outcome", "Tolerance"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """Two tensors agree when everywhere ``|a - b| <= atol + rtol * |b|``, ``b`` being the reference."""

    atol: float
    rtol: float


@dataclass(kw_only=True)
class Outcome:
    """What the comparison found so far. ``differences`` are sentences; there are none when the graph agrees.

    ``samples`` counts the prompts that had to be answered, ``mismatched`` names those that were not answered as the
    reference did, ``deviations`` holds the largest absolute difference of every tensor that could be compared.
    """

    differences: list[str] = field(default_factory=list)
    samples: int = 0
    mismatched: list[str] = field(default_factory=list)
    deviations: dict[TensorKey, float] = field(default_factory=dict)

    @property
    def agrees(self) -> bool:
        """Whether nothing differs and something was compared."""
        return not self.differences and self.samples > 0 and bool(self.deviations)

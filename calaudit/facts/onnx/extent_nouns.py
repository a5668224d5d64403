"""What is said of external data: tensors as the model describes them, extents, and what is wrong with them."""

from dataclasses import dataclass

from calaudit.facts.onnx.types import type_name


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalTensor:
    """A tensor whose values stand in another file; ``entries`` are the model's key-value pairs, unjudged."""

    name: str
    where: str
    dtype: int
    dims: tuple[int, ...]
    entries: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return f"tensor {self.name!r} ({type_name(self.dtype)}{list(self.dims)}, {self.where})"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Extent:
    """The bytes ``[offset, offset + length)`` of ``path``, as one tensor claims them; ``checksum`` is a SHA-1."""

    path: str
    offset: int
    length: int
    tensor: str
    dtype: int
    dims: tuple[int, ...]
    checksum: str | None = None

    @property
    def end(self) -> int:
        """The first byte behind it."""
        return self.offset + self.length


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing wrong with external data, in the words of the rule that reports it."""

    rule: str
    message: str
    expected: str | None = None
    actual: str | None = None
    path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalData:
    """All extents that are sound by themselves, and everything that is not."""

    extents: tuple[Extent, ...]
    faults: tuple[Fault, ...]
    paths: tuple[str, ...]

    def of(self, rule: str) -> tuple[Fault, ...]:
        """The faults against one rule."""
        return tuple(f for f in self.faults if f.rule == rule)

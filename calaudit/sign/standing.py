"""Who signed a file of a trust directory, and who still has to."""

from dataclasses import dataclass

from tuf.api.metadata import Metadata, Root, Targets, VerificationResult

__all__ = ["Standing", "registry_standing", "root_standing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One threshold that a file has to meet: whose, how many, and the key ids that signed and that did not."""

    whose: str
    threshold: int
    signed: tuple[str, ...]
    unsigned: tuple[str, ...]

    @property
    def missing(self) -> int:
        """How many signatures are still needed."""
        return max(0, self.threshold - len(self.signed))


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """All thresholds that a file has to meet."""

    parts: tuple[Part, ...]

    @property
    def complete(self) -> bool:
        """Whether every threshold is met."""
        return all(part.missing == 0 for part in self.parts)

    @property
    def missing(self) -> int:
        """The least number of signatures that can complete the file: one key may count for two thresholds."""
        return max(part.missing for part in self.parts)

    @property
    def signed(self) -> tuple[str, ...]:
        """The key ids whose signatures hold."""
        return tuple(sorted({keyid for part in self.parts for keyid in part.signed}))

    @property
    def wanted(self) -> tuple[str, ...]:
        """The key ids that can still sign for a threshold that is not met."""
        return tuple(sorted({keyid for part in self.parts if part.missing for keyid in part.unsigned}))

    def may_sign(self, keyid: str) -> bool:
        """Whether a signature by this key has a place in the file."""
        return any(keyid in part.signed or keyid in part.unsigned for part in self.parts)


def root_standing(metadata: Metadata[Root], previous: Root | None) -> Standing:
    """A root is signed by the threshold of its own keys and by that of the root before it."""
    own = _part("its own keys", _verified(metadata.signed, "root", metadata))
    if previous is None:
        return Standing(parts=(own,))
    return Standing(parts=(_part(f"the keys of root {previous.version}", _verified(previous, "root", metadata)), own))


def registry_standing(metadata: Metadata[Targets], root: Root) -> Standing:
    """The registry is signed by the threshold of the root's ``targets`` role."""
    return Standing(parts=(_part(f"the keys of root {root.version}", _verified(root, "targets", metadata)),))


def _verified(by: Root, role: str, metadata: Metadata[Root] | Metadata[Targets]) -> VerificationResult:
    return by.get_verification_result(role, metadata.signed_bytes, metadata.signatures)


def _part(whose: str, result: VerificationResult) -> Part:
    return Part(
        whose=whose,
        threshold=result.threshold,
        signed=tuple(sorted(result.signed)),
        unsigned=tuple(sorted(result.unsigned)),
    )

"""What the parts have in common: a port, what it is held against, and its signed files, each parsed once."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from calaudit.contract import Contract
from calaudit.errors import Malformed, MissingFact
from calaudit.evidence import Evidence
from calaudit.model import Kind, Location, Port, Rule, TechnicalVerdict
from calaudit.trust import Refused, Trust
from calaudit.trust.envelope import Envelope, parse_bundle, parse_envelope
from calaudit.trust.registry import Registry

__all__ = ["Grounds"]


@dataclass(frozen=True, kw_only=True)
class Grounds:
    """A port, and everything that its signatures are held against.

    ``unread`` are the members of ``port`` that nobody said: nothing is held against what stands in for them.
    ``technical`` holds the verdict of every gate that was judged; ``rules`` the metadata of the planned rules.
    """

    evidence: Evidence
    contract: Contract
    trust: Trust
    registry: Registry
    port: Port
    unread: frozenset[str]
    technical: Mapping[str, TechnicalVerdict]
    rules: Mapping[str, Rule]

    @property
    def port_id(self) -> str | None:
        """The port's id; None where it cannot be read from the manifest."""
        return self.said("id")

    def said(self, member: str) -> str | None:
        """What the manifest says of the port; None where that cannot be read."""
        return None if member in self.unread else str(getattr(self.port, member))

    @cached_property
    def files(self) -> dict[str, str]:
        """Every file of the port with its SHA-256."""
        return {path: entry.sha256 for path, entry in self.evidence.entries.items()}

    def below(self, folder: str) -> list[str]:
        """The files of a folder; ``folder`` ends in a slash."""
        return [path for path in self.evidence.entries if path.startswith(folder)]

    def envelope(self, path: str, *, bundle: bool = False) -> Envelope:
        """The envelope in a file, or the one in a Sigstore bundle.

        Raises:
            Refused: ``envelope-malformed``.
        """
        at = Location(path=path)
        try:
            data = self.evidence.read(path)
            return parse_bundle(path, data) if bundle else parse_envelope(path, data)
        except Malformed as error:
            at = Location(path=path, pointer=error.pointer or None, line=error.line)
            raise Refused("envelope-malformed", error.message, at=at) from error
        except MissingFact as error:
            raise Refused("envelope-malformed", error.message, at=at, kind=Kind.OPEN) from error

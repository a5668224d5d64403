"""What ``port.yaml`` says of the port."""

from dataclasses import dataclass
from typing import ClassVar, Self

from calaudit.errors import MissingFact
from calaudit.facts import Facts, internal
from calaudit.model import Json, Port

PATH = "port.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class PortFact:
    """The port's own manifest."""

    name: ClassVar[str] = "port"

    id: str
    profile: str
    stage: str
    claim: str
    steps: tuple[str, ...]
    document: dict[str, Json] = internal()

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Read ``port.yaml``; MissingFact where it is absent or faulty."""
        document = facts.evidence.document(PATH)
        assert isinstance(document, dict)  # noqa: S101 - the schema says so
        steps = document.get("steps")
        return cls(
            id=str(document["id"]),
            profile=str(document["profile"]),
            stage=str(document["stage"]),
            claim=str(document["claim"]),
            steps=tuple(steps) if isinstance(steps, dict) else (),
            document=document,
        )


def read_port(facts: Facts) -> Port:
    """The port as its manifest names it; the strictest reading (all gates claimed) where the manifest is faulty."""
    try:
        fact = facts.get(PortFact)
    except MissingFact:
        return Port()
    return Port(id=fact.id, profile=fact.profile, stage=fact.stage, claim=fact.claim)

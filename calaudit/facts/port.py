"""What ``port.yaml`` says of the port."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from calaudit.errors import MissingFact
from calaudit.facts import Facts, internal
from calaudit.model import Json, Location, Port

if TYPE_CHECKING:
    from calaudit.contract import Value

PATH = "port.yaml"

UNKNOWN = "unknown"
"""What a port is called whose manifest does not say it."""

_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
_STAGES = ("development", "candidate", "release")


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


class UnknownParams(Mapping[str, "Value"]):
    """The numbers of a profile that nobody knows: whoever asks for one stays open."""

    def __init__(self, message: str) -> None:
        """``message`` says why they are not known."""
        self.message = message

    def __getitem__(self, name: str) -> "Value":
        """Never a value."""
        del name  # one sentence for every rule: together they are one cause
        raise MissingFact(f"{self.message} This rule compares with numbers of the profile.", at=Location(path=PATH))

    def __iter__(self) -> Iterator[str]:
        """No names."""
        return iter(())

    def __len__(self) -> int:
        """None."""
        return 0


def read_port(facts: Facts) -> Port:
    """The port as its manifest names it.

    Where the manifest cannot be used, what can be read of it stands, the rest is :data:`UNKNOWN`, and the port claims
    the last gate that has files. The manifest's own fault keeps the port from passing.
    """
    try:
        fact = facts.get(PortFact)
    except MissingFact:
        said = _readable(facts)
        return Port(
            id=said.get("id", UNKNOWN),
            profile=said.get("profile", UNKNOWN),
            stage=said.get("stage", UNKNOWN),
            claim=said.get("claim") or last_begun(facts),
        )
    return Port(id=fact.id, profile=fact.profile, stage=fact.stage, claim=fact.claim)


def unread(facts: Facts) -> frozenset[str]:
    """The members of the port that cannot be read from its manifest: what stands in for them was said by nobody."""
    members = {"id", "profile", "stage"}
    try:
        facts.get(PortFact)
    except MissingFact:
        return frozenset(members - _readable(facts).keys())
    return frozenset()


def read_params(facts: Facts, port: Port) -> Mapping[str, "Value"]:
    """The numbers that the port is judged by; where its profile is not known, asking for one raises MissingFact."""
    profile = facts.contract.profiles.get(port.profile)
    if profile is not None:
        return profile.params
    if port.profile == UNKNOWN:
        return UnknownParams(f"{PATH} does not say the profile, or cannot be read.")
    return UnknownParams(f"There is no profile {port.profile!r}.")


def note_on(facts: Facts, port: Port, through: str) -> str | None:
    """What the reader of a report must know where the manifest cannot be used; else None."""
    try:
        facts.get(PortFact)
    except MissingFact as missing:
        stated = _readable(facts)
        known = ", ".join(f"{name} {value}" for name, value in stated.items())
        kept = f" What can be read of it still counts: {known}." if known else ""
        if "claim" not in stated and through == port.claim:
            return f"{missing.message}{kept} The port is judged through {through}, the last gate that has files."
        return f"{missing.message}{kept} The port is judged through {through}."
    return None


def last_begun(facts: Facts) -> str:
    """The last gate that has files; the first gate where none has."""
    gates = list(facts.contract.gates.gates)
    return next((gate for gate in reversed(gates) if facts.evidence.has_gate(gate)), gates[0])


def _readable(facts: Facts) -> dict[str, str]:
    """What can be read of a manifest that cannot be used."""
    try:
        values = [value for _, value in facts.evidence.parsed(PATH)]
    except MissingFact:
        return {}
    document = values[0] if values and isinstance(values[0], dict) else {}
    known = facts.contract.gates.gates
    good: dict[str, Callable[[str], object]] = {
        "id": _NAME.fullmatch,
        "profile": _NAME.fullmatch,
        "stage": _STAGES.__contains__,
        "claim": known.__contains__,
    }
    said = ((name, document.get(name)) for name in good)
    return {name: value for name, value in said if isinstance(value, str) and good[name](value)}

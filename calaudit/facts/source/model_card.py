"""The licence that the model's own card names (the front matter of ``hf-config/README.md``)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from calaudit.errors import Malformed, MissingFact
from calaudit.evidence.strict_yaml import parse_yaml
from calaudit.facts import Facts
from calaudit.facts.source.manifest import FOLDER
from calaudit.model import Json, Location

_CARD = re.compile(rf"{FOLDER}hf-config/readme\.md", re.IGNORECASE)
_FRONT = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_MEMBER = re.compile(r"^(license|license_name)[ \t]*:[ \t]*(['\"]?)([^'\"\[\]{}#|>&*!\s]+)\2[ \t]*\r?$", re.MULTILINE)
_OTHER = "other"
"""What a card says whose licence is not on the hub's list; its name may stand beside it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """The licences that the card names, in its own words; none where it names none."""

    name: ClassVar[str] = "model_card"

    path: str
    licenses: tuple[str, ...]

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Read the front matter; MissingFact where there is no card, or its front matter cannot be read."""
        path = next((path for path in sorted(facts.evidence.entries) if _CARD.fullmatch(path)), None)
        if path is None:
            raise MissingFact("The source has no model card.", at=Location(path=f"{FOLDER}hf-config/README.md"))
        front = _FRONT.match(facts.evidence.text(path))
        members = {} if front is None else _members(front[1], path)
        named = members.get("license")
        if isinstance(named, str) and named.strip().lower() == _OTHER:
            named = members.get("license_name", named)
        return cls(path=path, licenses=tuple(_texts(named)))


def _members(text: str, path: str) -> dict[str, Json]:
    try:
        document = parse_yaml(text.encode())
    except Malformed as error:  # cards are written by hand: what is asked for may be plain all the same
        found: dict[str, Json] = {match[1]: match[3] for match in _MEMBER.finditer(text)}
        if len(_MEMBER.findall(text)) != len(found) or "license" not in found:
            told = f"The front matter of the model card cannot be read: {error.message}"
            raise MissingFact(told, at=Location(path=path)) from error
        return found
    return document if isinstance(document, dict) else {}


def _texts(named: Json) -> Iterator[str]:
    for item in named if isinstance(named, list) else [named]:
        if isinstance(item, str) and item.strip():
            yield item.strip()

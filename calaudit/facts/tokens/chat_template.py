"""The chat templates that the source brings."""

import hashlib
from dataclasses import dataclass
from typing import ClassVar, Self

from calaudit.facts import Facts
from calaudit.facts.tokens.special_tokens import TOKENIZER_CONFIG
from calaudit.model import Json, Location

TEMPLATE_JSON = "00-source/hf-config/chat_template.json"
PROCESSOR = "00-source/hf-config/processor_config.json"
TEMPLATES = "00-source/hf-config/**/*.jinja"


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """One template. ``default`` marks what is used when nobody names another."""

    at: Location
    sha256: str
    default: bool


@dataclass(frozen=True, kw_only=True)
class ChatTemplatesFact:
    """Every template in the source."""

    name: ClassVar[str] = "chat_templates"

    templates: tuple[Template, ...]
    faults: tuple[Location, ...]
    """Places where a template should be and is none."""

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Look in the three JSON files that can hold one, and at *.jinja; MissingFact where one cannot be read."""
        templates: list[Template] = []
        faults: list[Location] = []
        for path in (TOKENIZER_CONFIG, TEMPLATE_JSON, PROCESSOR):
            if path == TOKENIZER_CONFIG or path in facts.evidence.entries:
                document = facts.evidence.document(path)
                value = document.get("chat_template") if isinstance(document, dict) else None
                _collect(value, Location(path=path, pointer="/chat_template"), templates, faults)
        for entry in facts.evidence.matching(TEMPLATES):
            text = facts.evidence.read(entry.path).decode("utf-8", "replace")
            default = entry.path.count("/") == TEMPLATE_JSON.count("/")
            templates.append(_template(text, Location(path=entry.path), default=default))
        return cls(templates=tuple(templates), faults=tuple(faults))


def _collect(value: Json, at: Location, templates: list[Template], faults: list[Location]) -> None:
    if isinstance(value, str) and value.strip():
        templates.append(_template(value, at, default=True))
    elif isinstance(value, list) and value:
        for n, item in enumerate(value):
            here = Location(path=at.path, pointer=f"{at.pointer}/{n}/template")
            text = item.get("template") if isinstance(item, dict) else None
            if isinstance(item, dict) and isinstance(text, str) and text.strip():
                templates.append(_template(text, here, default=item.get("name") == "default"))
            else:
                faults.append(here)
    elif value is not None:
        faults.append(at)


def _template(text: str, at: Location, *, default: bool) -> Template:
    return Template(at=at, sha256=hashlib.sha256(text.encode()).hexdigest(), default=default)

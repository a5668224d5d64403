"""The model's own configuration, ``00-source/hf-config/config.json``."""

from dataclasses import dataclass
from typing import ClassVar, Self

from calaudit.errors import MissingFact
from calaudit.facts import Facts, internal
from calaudit.facts.hf.architecture import Architecture, read_architecture
from calaudit.facts.source.manifest import CONFIG
from calaudit.model import Json, Location


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """The architecture that the config describes, and how many Python files the model brings beside it."""

    name: ClassVar[str] = "model_config"

    architecture: Architecture
    code_files: int
    document: dict[str, Json] = internal()

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Read the config; MissingFact where it is absent, malformed or not an object."""
        document = facts.evidence.document(CONFIG)
        if not isinstance(document, dict) or not document:
            raise MissingFact("The model's config is not a JSON object with members.", at=Location(path=CONFIG))
        return cls(
            architecture=read_architecture(document),
            code_files=len(facts.evidence.matching("00-source/**/*.py")),
            document=document,
        )

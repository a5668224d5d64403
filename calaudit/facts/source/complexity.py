"""The complexity score, from the model's config, the targets, and the vendor's operator matrix if there is one."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from calaudit.errors import MissingFact
from calaudit.facts import Facts
from calaudit.facts.source.hf_config import ModelConfig
from calaudit.facts.source.manifest import SourceManifest
from calaudit.facts.source.scoring import (
    Features,
    Row,
    score_architecture,
    score_attention,
    score_context,
    score_deployment,
    score_operators,
)
from calaudit.facts.vendor.op_matrix import PATH as MATRIX


@dataclass(frozen=True, slots=True, kw_only=True)
class Complexity:
    """The five rows; ``total`` is None while a row has no score, ``settled`` false while a row waits for the vendor."""

    name: ClassVar[str] = "complexity"

    architecture: Row
    attention: Row
    activation_norm: Row
    context: Row
    deployment: Row
    total: int | None
    settled: bool

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Score the port; MissingFact where the config or the manifest cannot be read."""
        config, source = facts.get(ModelConfig), facts.get(SourceManifest)
        features = vendor_features(facts)
        rows = {
            "architecture": score_architecture(config.architecture, code_files=config.code_files),
            "attention": score_attention(config.architecture, features),
            "activation_norm": score_operators(config.architecture, features),
            "context": score_context(source.context),
            "deployment": score_deployment(source.batch, source.chips),
        }
        scores = [row.score for row in rows.values() if row.score is not None]
        return cls(
            **rows,
            total=sum(scores) if len(scores) == len(rows) else None,
            settled=all(row.settled for row in rows.values()),
        )

    def row(self, name: str) -> Row:
        """A row by its name in the manifest."""
        found = getattr(self, name)
        assert isinstance(found, Row)  # noqa: S101 - callers name a row
        return found


def vendor_features(facts: Facts) -> Features | None:
    """What the vendor's matrix says is supported; None without a matrix, or with one that cannot be read."""
    try:
        document: Any = facts.evidence.document(MATRIX)
    except MissingFact:
        return None
    return Features.of(**document["features"])

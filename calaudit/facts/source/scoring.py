"""The complexity table of the runbook (§4.2): five rows of 0, 1 or 3 points, each with the reason for its points.

A row that depends on what the vendor supports is ``settled`` only with the vendor's operator matrix. Without it the
points suppose support: they are the least that the row can have.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from calaudit.facts.hf.architecture import Architecture
from calaudit.facts.hf.operators import canonical

ROWS = ("architecture", "attention", "activation_norm", "context", "deployment")
"""The rows, in the order of the table."""

SHORT_CONTEXT = 8192
LONG_CONTEXT = 40960

_HEADS = ("mha", "gqa", "mqa")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The points of one row, why, and whether that is settled; ``score`` None where nothing can be said."""

    score: int | None
    settled: bool
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """What the vendor's operator matrix says is supported, in canonical names."""

    attention: frozenset[str]
    activations: frozenset[str]
    norms: frozenset[str]

    @classmethod
    def of(cls, attention: Sequence[str], activations: Sequence[str], norms: Sequence[str]) -> "Features":
        """Features by the names that vendors and configs use."""
        return cls(
            attention=frozenset(name.strip().lower() for name in attention),
            activations=frozenset(map(canonical, activations)),
            norms=frozenset(map(canonical, norms)),
        )


def score_architecture(found: Architecture, *, code_files: int = 0) -> Row:
    """Row 1: a standard dense decoder, a small variant, or something else; ``code_files`` counts Python files."""
    if found.custom_code or code_files:
        return _row(3, "The model brings its own code.")
    if found.multimodal:
        return _row(3, "The model is multimodal.")
    if found.moe is not None:
        experts = "" if found.moe.experts is None else f" with {found.moe.experts} experts"
        return _row(3, f"The model is a mixture of experts{experts}.")
    if not found.causal:
        return _row(3, "The model has an encoder or no language-model head: it is no decoder of its own.")
    if not found.known:
        return _row(3, f"{_unknown(found)}, so nothing shows that it is standard.")
    if found.recurrent:
        return _row(3, f"The model keeps a state instead of a KV cache: {'; '.join(found.attention_changes)}.")
    if found.variants:
        return _row(1, f"A small variant: {'; '.join(found.variants)}.")
    return _row(0, "A standard dense decoder.")


def score_attention(found: Architecture, features: Features | None) -> Row:
    """Row 2: heads that the vendor supports, a sliding window, or a new mask."""
    if found.attention_changes:
        return _row(3, f"New attention: {'; '.join(found.attention_changes)}.")
    if not found.known:
        return _row(3, f"{_unknown(found)}, so its mask counts as new.")
    if found.attention == "sliding-window":
        return _row(1, "A sliding window.")
    if found.attention not in _HEADS:
        return Row(score=None, settled=False, reason="The config does not say how many query and KV heads there are.")
    if features is None:
        return Row(score=0, settled=False, reason=f"Whether {found.attention} is supported is for the vendor to say.")
    # Multi-head and multi-query attention are grouped attention with as many groups as heads, or one.
    if features.attention & {found.attention, "gqa"}:
        return _row(0, f"The vendor supports {found.attention}.")
    return _row(3, f"The vendor's matrix does not name {found.attention}.")


def score_operators(found: Architecture, features: Features | None) -> Row:
    """Row 3: activation and norm that the vendor supports, changed parameters, or a custom operator."""
    if not found.known:
        return _row(3, f"{_unknown(found)}, so its operators count as custom.")
    if found.activation is None or found.norm is None:
        missing = " and ".join(n for n in ("activation", "norm") if getattr(found, n) is None)
        return _row(3, f"The config does not say the {missing}, which so counts as a custom operator.")
    changes = f" Changed: {'; '.join(found.operator_changes)}." if found.operator_changes else ""
    score = 1 if found.operator_changes else 0
    both = f"{found.activation} and {found.norm}"
    if features is None:
        return Row(
            score=score, settled=False, reason=f"Whether {both} are supported is for the vendor to say.{changes}"
        )
    absent = [
        name
        for name, known in ((found.activation, features.activations), (found.norm, features.norms))
        if name not in known
    ]
    if absent:
        return _row(3, f"The vendor's matrix does not name {' and '.join(absent)}: a custom operator.")
    return _row(score, f"The vendor supports {both}.{changes}")


def score_context(contexts: Sequence[int]) -> Row:
    """Row 4: the longest target context."""
    if not contexts:
        return Row(score=None, settled=False, reason="The targets name no context.")
    longest = max(contexts)
    points = 0 if longest <= SHORT_CONTEXT else 1 if longest <= LONG_CONTEXT else 3
    return _row(points, f"The longest target context is {longest} tokens.")


def score_deployment(batches: Sequence[int], chips: Sequence[int]) -> Row:
    """Row 5: batch 1 on one chip, two chips, or more of either."""
    if not batches or not chips:
        return Row(score=None, settled=False, reason="The targets name no batch or no number of chips.")
    batch, chip = max(batches), max(chips)
    points = 3 if batch > 1 or chip > 2 else 1 if chip == 2 else 0
    return _row(points, f"The targets go up to batch {batch} on {chip} chip(s).")


def _unknown(found: Architecture) -> str:
    if found.model_type is None:
        return "The config names no model type"
    return f"Model type {found.model_type!r} is unknown to calaudit"


def _row(score: int, reason: str) -> Row:
    return Row(score=score, settled=True, reason=reason)

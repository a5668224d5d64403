"""How the model was exported (``02-onnx/export-config.yaml``) and the shapes that the source demands of it."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast

from calaudit.facts import Facts, internal
from calaudit.model import Location

CONFIG = "02-onnx/export-config.yaml"
MANIFEST = "00-source/source-manifest.json"
PROFILES = ("prefill", "decode")
"""The two logical profiles of one model (runbook §6.1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportProfile:
    """One profile: the largest shapes it is fed; ``lengths`` the prompt lengths that are valid in it (prefill)."""

    name: str
    input_ids: tuple[int, ...] | None
    position_ids: tuple[int, ...] | None
    lengths: tuple[int, ...] | None
    past_max: int | None

    @property
    def at(self) -> Location:
        """Its place in the configuration."""
        return Location(path=CONFIG, pointer=f"/profiles/{self.name}")


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxExport:
    """The export configuration; None where it does not say. ``context`` is the longest prompt, in tokens."""

    name: ClassVar[str] = "onnx_export"

    opset: int | None
    external_data: bool | None
    constant_folding: bool | None
    context: int | None
    past_sequence_max: int | None
    profile_names: tuple[str, ...]
    logits: tuple[int, ...] | None
    profiles: tuple[ExportProfile, ...] = internal()
    boundaries: dict[str, str] = internal()

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Read the configuration; MissingFact where it is absent or does not follow its schema."""
        document = cast("dict[str, Any]", facts.evidence.document(CONFIG))
        raw = document.get("profiles") or {}
        profiles = tuple(_profile(name, raw[name]) for name in PROFILES if name in raw)
        shape = next((p.input_ids for p in profiles if p.name == "prefill"), None)
        opset = document.get("opset")
        return cls(
            opset=opset if isinstance(opset, int) else None,
            external_data=document.get("external_data"),
            constant_folding=document.get("constant_folding"),
            context=shape[-1] if shape else None,
            past_sequence_max=next((p.past_max for p in profiles if p.name == "decode"), None),
            profile_names=tuple(p.name for p in profiles),
            logits=_ints((document.get("output") or {}).get("logits")),
            profiles=profiles,
            boundaries=dict(document.get("boundaries") or {}),
        )


def _profile(name: str, raw: dict[str, Any]) -> ExportProfile:
    return ExportProfile(
        name=name,
        input_ids=_ints(raw.get("input_ids")),
        position_ids=_ints(raw.get("position_ids")),
        lengths=_ints(raw.get("valid_sequence_lengths")),
        past_max=raw.get("past_sequence_max"),
    )


def _ints(value: object) -> tuple[int, ...] | None:
    """A list of integers; None for anything else, such as a shape with a placeholder left in."""
    if not isinstance(value, list) or not all(isinstance(n, int) for n in value):
        return None
    return tuple(cast("list[int]", value))


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceShape:
    """The numbers of the source manifest that fix the shapes of inputs and outputs."""

    name: ClassVar[str] = "source_shape"

    layers: int
    kv_heads: int
    head_dim: int
    vocab: int | None
    context: int | None
    """The longest target context."""
    tokenizer_sha256: str
    tokenizer_vocab: int
    rope_type: str | None = internal()
    rope_theta: float | None = internal()
    rope: dict[str, Any] = internal()

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Read the manifest; MissingFact where it is absent or does not follow its schema."""
        document = cast("dict[str, Any]", facts.evidence.document(MANIFEST))
        architecture, tokenizer = document["architecture"], document["tokenizer"]
        rope = architecture.get("rope") or {}
        contexts = (document.get("targets") or {}).get("context") or []
        return cls(
            layers=architecture["layers"],
            kv_heads=architecture["kv_heads"],
            head_dim=architecture["head_dim"],
            vocab=architecture.get("vocab"),
            context=max(contexts, default=None),
            tokenizer_sha256=tokenizer["sha256"],
            tokenizer_vocab=tokenizer["vocab_size"],
            rope_type=rope.get("type"),
            rope_theta=rope.get("theta"),
            rope=rope,
        )

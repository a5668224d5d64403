"""How a model knows where a token stands: RoPE in the writings of transformers 4 and 5, or something else."""

from collections.abc import Iterator
from dataclasses import dataclass

from calaudit.facts.hf.families import Family, Positions
from calaudit.facts.hf.section import Section

_DEFAULT_BASE = 10000.0  # what transformers takes for a RoPE model whose config names no base
_STRETCHED = frozenset({"linear", "dynamic"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Rope:
    """The rotary embedding: its type in transformers' words and its base; None where the config does not say."""

    type: str
    theta: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Positions, the longest context in tokens they serve, and what departs from plain RoPE over the whole head.

    ``disputed`` names what the config says of RoPE at two places in two ways.
    """

    positions: Positions
    rope: Rope | None
    max_position: int | None
    variants: tuple[str, ...]
    disputed: tuple[str, ...] = ()


def read_placement(config: Section, family: Family | None, *, nested: bool) -> Placement:
    """Read everything about positions; in a ``nested`` config an absent base may be a class default."""
    longest = config.integer(
        "max_position_embeddings", "n_positions", "max_seq_len", "max_sequence_length", "max_seq_length", "seq_length",
        "n_ctx", "context_length", "model_max_length",
    )  # fmt: skip
    positions = _positions(config, family)
    if positions != "rope":
        return Placement(positions=positions, rope=None, max_position=longest, variants=_unroped(positions, family))
    parameters, bases = _parameters(config)
    kind = _kind(parameters)
    if parameters.has("mrope_section"):
        kind = "mrope"
    theta = _first(parameters.number("rope_theta"), config.number("rope_theta", "rotary_emb_base"))
    if theta is None and family is not None and not nested:
        theta = _DEFAULT_BASE
    variants = [f"RoPE of type {kind}"] if kind != "default" else []
    if bases > 1:
        variants.append(f"{bases} RoPE bases")
    if _is_partial(config, parameters):
        variants.append("RoPE turns a part of the head")
    if any(flag in (0, False) for flag in config.items("no_rope_layers")):
        variants.append("some layers go without RoPE")
    if parameters.has("llama_4_scaling_beta"):
        variants.append("queries are scaled by position")
    return Placement(
        positions=positions,
        rope=Rope(type=kind, theta=theta),
        max_position=_stretched(longest, kind, parameters),
        variants=tuple(variants),
        disputed=tuple(_disputed(config, parameters)),
    )


def _positions(config: Section, family: Family | None) -> Positions:
    if config.flag("alibi") or config.section("attn_config").flag("alibi"):
        return "alibi"
    if family is not None and not (family.positions == "alibi" and _alibi_off(config)):
        return family.positions
    roped = config.has("rope_parameters", "rope_theta", "rope_scaling", "rotary_emb_base", "rotary_dim", "rotary_pct")
    if family is not None:
        return "learned"  # MPT without ALiBi
    return "rope" if roped else "unknown"


def _alibi_off(config: Section) -> bool:
    return config.section("attn_config").raw.get("alibi") is False or config.raw.get("alibi") is False


def _unroped(positions: Positions, family: Family | None) -> tuple[str, ...]:
    if positions == "learned" and family is not None and not any("positions" in v for v in family.variants):
        return ("learned absolute positions instead of RoPE",)
    if positions == "alibi":
        return ("ALiBi instead of RoPE",)
    return ("no positions",) if positions == "none" else ()


def _parameters(config: Section) -> tuple[Section, int]:
    """The parameters of the main RoPE, and how many different ones the layers use."""
    written = config.section("rope_parameters", "rope_scaling")
    if written.has("rope_type", "type", "rope_theta", "factor"):
        bases = 2 if config.has("rope_local_base_freq") else 1
        return written, bases
    nested = [(name, section) for name, section in written.sections() if section.has("rope_type", "rope_theta", "type")]
    if nested:
        main = next((section for name, section in nested if name == "full_attention"), nested[0][1])
        return main, len({(s.text("rope_type", "type"), s.number("rope_theta")) for _, s in nested})
    return written, 2 if config.has("rope_local_base_freq") else 1


def _disputed(config: Section, parameters: Section) -> Iterator[str]:
    """What the parameters of RoPE say otherwise than the members beside them: loaders differ in which one they take."""
    for inner, outer in (
        ("rope_theta", "rope_theta"),
        ("rope_theta", "rotary_emb_base"),
        ("partial_rotary_factor", "partial_rotary_factor"),
    ):
        inside, beside = parameters.number(inner), config.number(outer)
        if inside is not None and beside is not None and inside != beside:
            yield f"{inner} is {inside:g} among the parameters of RoPE, and {outer} is {beside:g} beside them"
    older = config.section("rope_scaling")
    if older and older.raw is not parameters.raw and config.section("rope_parameters"):
        ours, theirs = _kind(parameters), _kind(older)
        if ours != theirs:
            yield f"rope_parameters say the type {ours}, and rope_scaling says {theirs}"
        for name in ("factor", "rope_theta", "original_max_position_embeddings"):
            inside, beside = parameters.number(name), older.number(name)
            if beside is not None and inside != beside:
                told = "nothing" if inside is None else f"{inside:g}"
                yield f"rope_parameters say {told} of {name}, and rope_scaling says {beside:g}"
    stated = {parameters.text("rope_type"), parameters.text("type")} - {None}
    if len(stated) > 1 and not parameters.has("mrope_section"):
        yield f"its parameters say the types {' and '.join(sorted(map(str, stated)))}"


def _kind(parameters: Section) -> str:
    return parameters.text("rope_type", "type") or "default"


def _is_partial(config: Section, parameters: Section) -> bool:
    share = _first(
        parameters.number("partial_rotary_factor"),
        config.number("partial_rotary_factor", "rotary_pct", "rotary_percentage"),
    )
    return (share is not None and share != 1.0) or config.has("rotary_dim")


def _stretched(longest: int | None, kind: str, parameters: Section) -> int | None:
    """The longest context after RoPE scaling; a config that scales from an original length names that length or not."""
    factor, original = parameters.number("factor"), parameters.integer("original_max_position_embeddings")
    if longest is None or factor is None or not 1.0 <= factor <= 1e6:
        return longest
    if original is not None:
        return max(longest, int(original * factor))
    return int(longest * factor) if kind in _STRETCHED else longest


def _first(*values: float | None) -> float | None:
    return next((value for value in values if value is not None), None)

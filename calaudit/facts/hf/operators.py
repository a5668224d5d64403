"""Activation and norm of a model under one name each, and what of them differs from the plain operator."""

from calaudit.facts.hf.families import Family
from calaudit.facts.hf.section import Section

_ALIASES = {
    "swish": "silu",
    "swiglu": "silu",
    "gelu_new": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_python_tanh": "gelu_tanh",
    "gelu_accurate": "gelu_tanh",
    "geglu": "gelu",
    "gelu_python": "gelu",
    "relu_squared": "relu2",
    "rms_norm": "rmsnorm",
    "rms": "rmsnorm",
    "layer_norm": "layernorm",
}


def canonical(name: str) -> str:
    """The one name of an activation or norm; its own in lower case where no alias is known."""
    name = name.strip().lower().replace("-", "_")
    return _ALIASES.get(name, name)


def read_activation(text: Section, family: Family | None) -> str | None:
    """The activation of the FFN."""
    stated = text.text("hidden_activation", "hidden_act", "activation_function", "activation", "mlp_hidden_act")
    stated = stated or text.section("ffn_config").section("ffn_act_fn").text("name")
    if family is not None and family.headless and family.activation is not None:
        return family.activation if stated is None else canonical(stated)
    return canonical(stated) if stated else (family.activation if family is not None else None)


def read_norm(text: Section, family: Family | None) -> str | None:
    """The norm: what the family is known for, else what the config says by name or by the name of its epsilon."""
    if family is not None:
        return family.norm
    if isinstance(text.raw.get("rmsnorm"), bool):
        return "rmsnorm" if text.flag("rmsnorm") else "layernorm"
    if text.has("rms_norm_eps", "rms_norm_epsilon"):
        return "rmsnorm"
    return "layernorm" if text.has("layer_norm_eps", "layer_norm_epsilon", "layernorm_epsilon") else None


def read_epsilon(text: Section) -> float | None:
    """What is added under the root of a norm."""
    return text.number(
        "rms_norm_eps", "rms_norm_epsilon", "layer_norm_eps", "layer_norm_epsilon", "layernorm_epsilon",
        "layernorm_eps", "norm_epsilon", "norm_eps",
    )  # fmt: skip


def read_operator_changes(text: Section, family: Family | None) -> tuple[str, ...]:
    """Changed parameters of norms and activations."""
    found = list(family.norm_changes) if family is not None else []
    if text.raw.get("layer_norm_elementwise_affine") is False:
        found.append("LayerNorm without weight and bias")
    if text.flag("no_bias") and family is not None and family.norm == "layernorm":
        found.append("LayerNorm without bias")
    if text.has("swiglu_limit", "swiglu_alpha") and "clamped SwiGLU" not in found:
        found.append("clamped SwiGLU")
    if any(share != 0 for share in text.items("activation_sparsity_pattern")):
        found.append("sparse activations")
    return tuple(found)

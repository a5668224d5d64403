"""Adding up a checkpoint: buffers are no parameters, and one matrix is the embedding."""

from calaudit.facts.source.safetensors_header import Tensor
from calaudit.facts.source.weights import is_weight, tally


def tensor(name: str, *shape: int, dtype: str = "F32") -> Tensor:
    return Tensor(name=name, dtype=dtype, shape=shape, begin=0, end=0)


def test_tally() -> None:
    found = tally(
        [tensor("model.embed_tokens.weight", 10, 4), tensor("model.norm.weight", 4), tensor("lm_head.weight", 10, 4)]
    )
    assert (found.parameters, found.embedding, found.head) == (84, (10, 4), (10, 4))


def test_buffers_are_no_parameters() -> None:
    buffers = [
        tensor("h.0.attn.bias", 1, 1, 8, 8, dtype="BOOL"),
        tensor("h.0.attn.masked_bias"),
        tensor("h.0.attn.bias", 1, 1, 8, 8),
        tensor("layers.0.rotary_emb.inv_freq", 16),
    ]
    assert tally(buffers).parameters == 0
    assert tally([tensor("h.0.attn.c_attn.bias", 12)]).parameters == 12


def test_an_image_tower_has_another_embedding() -> None:
    found = tally(
        [tensor("vision_model.embed_tokens.weight", 7, 2), tensor("language_model.model.embed_tokens.weight", 9, 4)]
    )
    assert found.embedding == (9, 4)


def test_two_embeddings_are_none() -> None:
    assert tally([tensor("wte.weight", 9, 4), tensor("model.embed_tokens.weight", 8, 4)]).embedding is None


def test_names() -> None:
    assert is_weight("00-source/weights/MODEL.SAFETENSORS")
    assert is_weight("a/pytorch_model.bin")
    assert not is_weight("a/config.json")

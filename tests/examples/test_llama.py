"""The numpy model, on a tiny one with random weights: its caches, its positions, its bfloat16."""

import ml_dtypes
import numpy as np
import pytest

from examples.toolchain.checkpoint import Config, boundaries
from examples.toolchain.llama import Llama
from tests.examples.tiny import CONFIG, WEIGHTS

TOKENS = [3, 1, 4, 1, 5, 9, 2, 6]


@pytest.fixture(params=["float32", "bfloat16"])
def model(request):
    return Llama(CONFIG, WEIGHTS, request.param)


def test_decoding_one_by_one_is_prefilling(model):
    whole = model.begin().feed(TOKENS)
    sequence = model.begin()
    steps = [sequence.feed([t]) for t in TOKENS]
    tolerance = 1e-5 if model.round(np.float32(1 / 3)) == np.float32(1 / 3) else 0.05
    np.testing.assert_allclose(steps[-1], whole, atol=tolerance)


def test_blocks_of_queries_do_not_change_the_result(monkeypatch):
    model = Llama(CONFIG, WEIGHTS, "float32")
    whole = model.begin().feed(TOKENS)
    monkeypatch.setattr("examples.toolchain.llama.QUERY_BLOCK", 3)
    np.testing.assert_allclose(model.begin().feed(TOKENS), whole, atol=1e-5)


def test_a_later_token_changes_nothing_before_it():
    model = Llama(CONFIG, WEIGHTS, "float32")
    traced = [dict(model.begin().trace([*TOKENS, last])) for last in (7, 8)]
    for name in boundaries(CONFIG)[:-1]:
        np.testing.assert_array_equal(traced[0][name][:, :-1], traced[1][name][:, :-1])
    assert not np.array_equal(traced[0]["logits"], traced[1]["logits"])


def test_the_order_of_tokens_matters():
    model = Llama(CONFIG, WEIGHTS, "float32")
    assert not np.allclose(model.begin().feed([1, 2, 3]), model.begin().feed([2, 1, 3]), atol=1e-4)


def test_every_boundary_is_traced_in_order():
    traced = list(Llama(CONFIG, WEIGHTS, "float32").begin().trace(TOKENS))
    assert [name for name, _ in traced] == boundaries(CONFIG)
    assert traced[0][1].shape == (1, len(TOKENS), CONFIG.hidden)
    assert traced[-1][1].shape == (1, 1, CONFIG.vocab)


def test_bfloat16_values_are_bfloat16():
    for _, values in Llama(CONFIG, WEIGHTS, "bfloat16").begin().trace(TOKENS):
        np.testing.assert_array_equal(values, values.astype(ml_dtypes.bfloat16).astype(np.float32))


def test_the_config_of_the_example():
    from tests.casebook import PORT

    config = Config.load(PORT / "00-source")
    assert (config.layers, config.heads, config.kv_heads, config.head_dim) == (4, 4, 2, 32)
    assert (config.context, config.vocab, config.eos) == (2048, 1024, 2)

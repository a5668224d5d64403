"""The ONNX graph against the numpy model, both on a tiny one with random weights."""

import numpy as np
import onnx
import pytest

from calaudit.harness.generation import Limits, generate
from calaudit.harness.onnx_session import OnnxDecoder
from examples.toolchain.checkpoint import boundaries
from examples.toolchain.decoder_graph import decoder_graph
from examples.toolchain.llama import Llama
from tests.examples.tiny import CONFIG, WEIGHTS

TOKENS = [3, 1, 4, 1, 5, 9, 2, 6]
TAPS = {name: name for name in boundaries(CONFIG)[:-1]}


@pytest.fixture(scope="module")
def model():
    return decoder_graph(CONFIG, WEIGHTS, 20)


@pytest.fixture(scope="module")
def decoder(model, tmp_path_factory):
    return OnnxDecoder(model.SerializeToString(), tmp_path_factory.mktemp("empty"), TAPS)


def test_it_is_valid_and_static_where_it_can_be(model):
    onnx.checker.check_model(model, full_check=True)
    assert [i.name for i in model.graph.input][:3] == ["input_ids", "position_ids", "past_key_0"]
    assert len(model.graph.input) == 2 + 2 * CONFIG.layers
    assert len(model.graph.output) == 1 + 2 * CONFIG.layers


def test_it_is_the_same_bytes_again(model):
    assert decoder_graph(CONFIG, WEIGHTS, 20).SerializeToString() == model.SerializeToString()


def test_every_boundary_is_the_reference_s(decoder):
    names = boundaries(CONFIG)
    reference, graph = Llama(CONFIG, WEIGHTS, "float32").begin(), decoder.begin()
    for call in (TOKENS, [7], [8, 9]):
        expected = dict(reference.trace(call))
        found = graph.trace(call, names)
        for name in names:
            np.testing.assert_allclose(found[name], expected[name], atol=1e-5, err_msg=name)


def test_greedy_tokens_are_the_reference_s(decoder):
    limits = Limits(context=CONFIG.context, max_new_tokens=12, eos=None)
    reference = Llama(CONFIG, WEIGHTS, "float32")
    for prompt in ([1], TOKENS, list(range(20))):
        expected, found = (generate(d, prompt, limits) for d in (reference, decoder))
        assert [s.argmax() for s in found] == [s.argmax() for s in expected]


def test_it_runs_up_to_the_last_position(decoder):
    sequence = decoder.begin()
    sequence.feed([1] * (CONFIG.context - 1))
    assert np.isfinite(sequence.feed([1])).all()


def test_positions_move_the_result(decoder):
    inputs = {"input_ids": np.array([[1, 2, 3]]), **{n: np.zeros(s, np.float32) for n, s in decoder.states.items()}}
    near, far = (
        decoder.session.run(["logits"], inputs | {"position_ids": np.array([positions])})[0]
        for positions in ([0, 1, 2], [0, 1, 9])
    )
    assert not np.allclose(near, far, atol=1e-4)


def test_the_mask_hides_the_future(decoder):
    names = ["layers.1.output"]
    first, second = (decoder.begin().trace([1, 2, last], names)[names[0]] for last in (3, 4))
    np.testing.assert_array_equal(first[:, :2], second[:, :2])

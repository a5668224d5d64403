"""Checkpoints that are not the model of the config, in ports whose manifest counts their parameters right."""

from collections.abc import Callable
from pathlib import Path

import pytest

from calaudit.contract import Contract
from tests.attacks import forge

Changed = tuple[list[int], bytes] | None


def without_last_layer(name: str, shape: list[int], data: bytes) -> Changed:
    return None if ".layers.3." in name else (shape, data)


def narrow_ffn(name: str, shape: list[int], data: bytes) -> Changed:
    if not name.endswith("up_proj.weight"):
        return shape, data
    rows = shape[0] // 2
    return [rows, shape[1]], data[: rows * shape[1] * 2]


def fewer_query_heads(name: str, shape: list[int], data: bytes) -> Changed:
    if not name.endswith(".1.self_attn.q_proj.weight"):
        return shape, data
    rows = shape[0] // 4
    return [rows, shape[1]], data[: rows * shape[1] * 2]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (without_last_layer, "fail: The checkpoint has no tensor of 1 of its layers, such as layer 3."),
        (narrow_ffn, "fail: The checkpoint has another number of rows of up_proj.weight than the manifest says."),
        (fewer_query_heads, "fail: The checkpoint has another number of rows of q_proj.weight than the manifest says."),
    ],
)
def test_it_is_not_the_model_of_the_config(
    tmp_path: Path, contract: Contract, change: Callable[[str, list[int], bytes], Changed], expected: str
) -> None:
    def apply(port: Path) -> None:
        parameters = forge.rewrite_checkpoint(port, change)
        forge.edit(port / forge.MANIFEST, lambda m: m["architecture"].update(parameters=parameters))

    report = forge.judge(tmp_path, contract, apply)
    assert forge.answers(report, "G0.architecture-inconsistent") == [expected]
    assert forge.answers(report, "G2.weights-differ-from-source") != ["pass: "]


def tie(port: Path, tied: bool) -> None:
    forge.edit(port / "00-source/hf-config/config.json", lambda config: config.update(tie_word_embeddings=tied))


def test_a_tied_head_that_is_stored_again_is_no_other_head(tmp_path: Path, contract: Contract) -> None:
    def apply(port: Path) -> None:
        seen: dict[str, bytes] = {}
        forge.rewrite_checkpoint(port, lambda name, shape, data: seen.update({name: data}) or (shape, data))
        embedding = seen["model.embed_tokens.weight"]
        forge.rewrite_checkpoint(
            port, lambda name, shape, data: (shape, embedding if name == "lm_head.weight" else data)
        )
        tie(port, tied=True)

    report = forge.judge(tmp_path, contract, apply)
    assert forge.answers(report, "G0.architecture-inconsistent") == ["pass: "]


def test_a_head_of_its_own_that_is_not_there(tmp_path: Path, contract: Contract) -> None:
    def apply(port: Path) -> None:
        parameters = forge.rewrite_checkpoint(
            port, lambda name, shape, data: None if name == "lm_head.weight" else (shape, data)
        )
        forge.edit(port / forge.MANIFEST, lambda m: m["architecture"].update(parameters=parameters))

    report = forge.judge(tmp_path, contract, apply)
    assert forge.answers(report, "G0.architecture-inconsistent") == [
        "fail: The config gives the output head weights of its own, and the checkpoint has none."
    ]


def test_a_bias_that_the_config_denies(tmp_path: Path, contract: Contract) -> None:
    def apply(port: Path) -> None:
        path = port / forge.CHECKPOINT
        old, new = b'"model.layers.0.input_layernorm.weight":', b'"model.layers.0.self_attn.q_proj.bias" :'
        path.write_bytes(path.read_bytes().replace(old, new))

    report = forge.judge(tmp_path, contract, apply)
    (answer,) = forge.answers(report, "G0.architecture-inconsistent")
    assert answer.startswith("fail: The config says attention_bias = false, and 1 of the checkpoint's 4 matrices")

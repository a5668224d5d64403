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

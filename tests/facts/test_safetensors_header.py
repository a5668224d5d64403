"""Strict headers: every way to be wrong, and that nothing is accepted which the safetensors library refuses."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import SafetensorError, deserialize

from calaudit.errors import Malformed
from calaudit.facts.source.safetensors_header import BITS, LARGEST, parse_header

F32 = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


def file(header: object, data: int = 8, *, length: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + bytes(data)


def read(content: bytes) -> list[str]:
    return [tensor.name for tensor in parse_header(content, len(content))]


def test_a_sound_file() -> None:
    header = {"__metadata__": {"format": "pt"}, "b": F32 | {"data_offsets": [8, 16]}, "a": F32}
    tensors = parse_header(file(header, 16), len(file(header, 16)))
    assert [(t.name, t.shape, t.begin, t.end, t.elements) for t in tensors] == [
        ("a", (2,), 0, 8, 2),
        ("b", (2,), 8, 16, 2),
    ]


@pytest.mark.parametrize(
    "header",
    [
        {},
        {"empty": F32 | {"shape": [0], "data_offsets": [0, 0]}},
        {"scalar": F32 | {"shape": [], "data_offsets": [0, 4]}},
        {"half": {"dtype": "F4", "shape": [16], "data_offsets": [0, 8]}},
    ],
)
def test_odd_and_sound(header: dict[str, Any]) -> None:
    size = max((t["data_offsets"][1] for t in header.values()), default=0)
    assert read(file(header, size)) == list(header)


def test_spaces_pad_a_header() -> None:
    assert read(file(json.dumps({"a": F32}).encode() + b"   ")) == ["a"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "shorter than"),
        (b"\0" * 7, "shorter than"),
        (file({}, length=0), "header says"),
        (file({}, length=2**63), "header says"),
        (file({}, 0, length=LARGEST + 1), "header says"),
        (file({}, 0, length=3), "header says"),
        (file(b"[]"), "begin with an object"),
        (file(b" {}"), "begin with an object"),
        (file(b"{}x"), "Not JSON"),
        (file(b'{"a": 1, "a": 1}'), "twice"),
        (file({"a": 1}), "other members"),
        (file({"a": F32 | {"more": 1}}), "other members"),
        (file({"a": {"dtype": "F32", "shape": [2]}}), "other members"),
        (file({"a": F32 | {"dtype": "F33"}}), "unknown dtype"),
        (file({"a": F32 | {"dtype": ["F32"]}}), "unknown dtype"),
        (file({"a": F32 | {"shape": [-2]}}), "natural numbers"),
        (file({"a": F32 | {"shape": [2.0]}}), "natural numbers"),
        (file({"a": F32 | {"shape": [True, 2]}}), "natural numbers"),
        (file({"a": F32 | {"shape": "2"}}), "natural numbers"),
        (file({"a": F32 | {"data_offsets": [8, 0]}}), "begin and an end"),
        (file({"a": F32 | {"data_offsets": [0, 8, 8]}}), "begin and an end"),
        (file({"a": F32 | {"data_offsets": [-8, 0]}}), "begin and an end"),
        (file({"a": F32 | {"shape": [3]}}), "takes 8 bytes"),
        (file({"a": F32 | {"shape": [2**62, 2**62]}}), "takes 8 bytes"),
        (file({"a": F32 | {"data_offsets": [4, 12]}}, 12), "leaves a gap"),
        (file({"a": F32, "b": F32}), "overlaps"),
        (file({"a": F32, "b": F32 | {"data_offsets": [4, 12]}}, 12), "overlaps"),
        (file({"a": F32}, 9), "end at byte 8"),
        (file({"a": F32}, 7), "end at byte 8"),
        (file({"__metadata__": {"a": 1}}, 0), "text to text"),
        (file({"__metadata__": None}, 0), "text to text"),
    ],
)
def test_refused(content: bytes, message: str) -> None:
    with pytest.raises(Malformed, match=message):
        read(content)


NEWER = {"F6_E2M3", "F6_E3M2", "F8_E4M3FNUZ", "F8_E5M2FNUZ"}
"""Dtypes of the format that an installed library may not know yet."""

OFFSETS = st.lists(st.integers(-1, 24), min_size=1, max_size=3)
TENSORS = st.fixed_dictionaries(
    {"dtype": st.sampled_from([*BITS, "X"]), "shape": st.lists(st.integers(-1, 4), max_size=2), "data_offsets": OFFSETS}
)


@settings(deadline=None)  # a loaded machine is no failure
@given(st.dictionaries(st.sampled_from(["a", "b", "c", "__metadata__"]), TENSORS, max_size=3), st.integers(0, 24))
def test_what_is_accepted_the_library_accepts(header: dict[str, Any], data: int) -> None:
    content = file(header, data)
    try:
        names = read(content)
    except Malformed:
        return
    try:
        loaded = deserialize(content)
    except SafetensorError:
        refused = {tensor["dtype"] for tensor in header.values()} & NEWER
    else:
        refused = {""}
        assert sorted(name for name, _ in loaded) == sorted(names)
    assert refused


@settings(deadline=None)  # a loaded machine is no failure
@given(st.binary(max_size=64))
def test_any_bytes_give_tensors_or_malformed(content: bytes) -> None:
    with contextlib.suppress(Malformed):
        read(content)

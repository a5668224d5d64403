"""Where two files differ: every format by its members, and garbage in any of them never raises."""

import bz2
import gzip
import io
import json
import lzma
import struct
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from calaudit.execute.rebuild.collector import Collector, Limits
from calaudit.execute.rebuild.compare import compare_blobs, compare_files
from calaudit.execute.rebuild.nouns import Change, Kind

VARIED = b"".join(b"%d %d\n" % (n * n, n * 7919 % 1009) for n in range(500))
TIME = (2020, 1, 1, 0, 0, 0)


def compared(old: bytes, new: bytes, name: str = "made.bin", **limits: int) -> Collector:
    collector = Collector(limits=Limits(**limits))
    compare_blobs(collector, (), old, new, name)
    return collector


def changes(old: bytes, new: bytes, name: str = "made.bin") -> list[Change]:
    found = compared(old, new, name)
    assert found.complete
    return found.changes


def places(old: bytes, new: bytes, name: str = "made.bin") -> list[tuple[str, Kind]]:
    return [("/".join((*change.members, change.place)), change.kind) for change in changes(old, new, name)]


def zipped(files: Mapping[str, bytes], time: tuple[int, ...] = TIME, mode: int = 0o644, method: int = 8) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo(name, time)  # type: ignore[arg-type]
            info.external_attr, info.compress_type = mode << 16, method
            archive.writestr(info, data)
    return held.getvalue()


def tarred(files: Mapping[str, bytes], form: int = tarfile.GNU_FORMAT, **about: Any) -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w", format=form) as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            for key, value in about.items():
                setattr(info, key, value)
            archive.addfile(info, io.BytesIO(data))
    return held.getvalue()


def model(**about: Any) -> onnx.ModelProto:
    weight = helper.make_tensor("w", TensorProto.FLOAT, [128], np.arange(128, dtype="<f4").tobytes(), raw=True)
    nodes = [
        helper.make_node("Add", ["x", "w"], ["y"], name="add"),
        helper.make_node("Relu", ["y"], ["z"], name="relu"),
    ]
    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [128]) for name in "xz"]
    graph = helper.make_graph(nodes, "g", value[:1], value[1:], [weight])
    return helper.make_model(graph, producer_name=about.pop("producer_name", "exporter"), **about)


def test_equal_files() -> None:
    assert changes(b"same", b"same") == []


# Text and bytes -----------------------------------------------------------------------------------------------------


def test_lines() -> None:
    (one,) = changes(b"a\nb 1\nc\n", b"a\nb 2\nc\n")
    assert (one.place, one.offset, one.old, one.new) == ("line 2", 4, b"b 1\n", b"b 2\n")
    assert places(b"a\nb\nc\n", b"a\nc\nb\n") == [("line 2", Kind.ORDER)]
    (one,) = changes(b"a\nb\nc\n", b"a\nb\nx\ny\nc\n")
    assert (one.place, one.old, one.new) == ("line 3", None, b"x\ny\n")


def test_ranges_of_bytes() -> None:
    old = bytes(1000)
    new = bytearray(old)
    new[100:104] = b"\1\2\3\4"
    new[500] = 9
    first, second = changes(old, bytes(new))
    assert (first.place, first.offset, second.place, second.offset) == ("byte 100", 100, "byte 500", 500)
    assert first.old == bytes(20)
    (one,) = changes(b"\0\1" + b"x" * 50, b"\0\1" + b"x" * 49)
    assert (one.place, one.offset, one.whole) == ("bytes", 51, False)


def test_text_in_bytes_is_shown_as_text() -> None:
    (one,) = changes(b"\0\0/a/build/one/x.c\0\0", b"\0\0/a/build/two/x.c\0\0")
    assert (one.old, one.new, one.offset, one.text) == (b"/a/build/one/x.c", b"/a/build/two/x.c", 11, True)


def test_too_many_ranges_are_not_all_listed() -> None:
    new = bytearray(64 * 200)
    new[::64] = b"\1" * 200
    assert not compared(bytes(64 * 200), bytes(new)).complete


def test_long_files_are_streamed(tmp_path: Path) -> None:
    data = bytearray(3 << 20)
    (tmp_path / "a").write_bytes(data)
    data[2 << 20] = 1
    (tmp_path / "b").write_bytes(data)
    found = compare_files(tmp_path / "a", tmp_path / "b", "x.bin", Limits(structural=1 << 20))
    assert [change.offset for change in found.changes] == [2 << 20]
    assert not found.changes[0].whole


# JSON ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"a": {"b": [1, 2, {"c": "x"}]}}, {"a": {"b": [1, 2, {"c": "y"}]}}, [("/a/b/2/c", Kind.VALUE)]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, [("", Kind.ORDER)]),
        ({"k": ["x", "y"]}, {"k": ["y", "x"]}, [("/k/0", Kind.ORDER)]),
        ({"a": 1}, {"a": 1, "b/c": 2}, [("/b~1c", Kind.PRESENCE)]),
        ({"a": [1]}, {"a": [1, 2]}, [("/a/1", Kind.PRESENCE)]),
        ({"a": 1}, {"a": 1.0}, [("/a", Kind.VALUE)]),
        ({"a": 1}, {"a": True}, [("/a", Kind.VALUE)]),
        ([{"a": "1"}], [{"a": 1}], [("/0/a", Kind.VALUE)]),
    ],
)
def test_json(old: Any, new: Any, expected: list[tuple[str, Kind]]) -> None:
    assert places(json.dumps(old).encode(), json.dumps(new).encode()) == expected
    assert places(json.dumps(old, indent=1).encode(), json.dumps(new, indent=1).encode(), "made.json") == expected


def test_the_form_of_json_is_not_overlooked() -> None:
    assert places(b'{"a": 1}', b'{"a":1}') == [("(form)", Kind.FORM)]
    assert places(b'{"a": 1, "t": "x"}', b'{"a":1, "t": "y"}') == [("/t", Kind.VALUE), ("(form)", Kind.FORM)]
    assert places(b'{"a": "/", "t": "x"}', b'{"a": "\\/", "t": "y"}') == [("/t", Kind.VALUE), ("(form)", Kind.FORM)]


def test_jsonl() -> None:
    assert places(b'{"a":1}\n{"a":2}\n', b'{"a":1}\n{"a":3}\n', "x.jsonl") == [("/1/a", Kind.VALUE)]
    assert places(b'{"a":1}\n{"a":2}\n', b'{"a":2}\n{"a":1}\n', "x.jsonl") == [("/0", Kind.ORDER)]
    assert places(b'{"a":1}\n', b'{"a":1}\n{"a":2}\n') == [("/1", Kind.PRESENCE)]
    assert places(b'{"a":1}\n{bad\n', b'{"a":1}\n{worse\n', "x.jsonl") == [("line 2", Kind.VALUE)]


def test_deep_json_is_text() -> None:
    old, new = (b"[" * 5000 + leaf + b"]" * 5000 for leaf in (b"1", b"2"))
    assert [change.place for change in changes(old, new)] == ["line 1"]


# Archives -----------------------------------------------------------------------------------------------------------


def test_zip() -> None:
    old = {"a.txt": b"one\n", "d/b.json": b'{"x": 1}'}
    new = {"a.txt": b"one\n", "d/b.json": b'{"x": 2}'}
    assert places(zipped(old), zipped(new)) == [("d/b.json//x", Kind.VALUE)]
    later = zipped(old, (2021, 1, 1, 0, 0, 2))
    assert places(zipped(old), later) == [(f"{name}/modification time", Kind.TIME) for name in old]
    assert places(zipped(old), zipped(old, mode=0o600))[0] == ("a.txt/mode", Kind.OWNER)
    assert places(zipped(old), zipped(dict(reversed(old.items())))) == [("order of members", Kind.ORDER)]
    assert places(zipped(old), zipped({**old, "c": b""})) == [("member c", Kind.PRESENCE)]
    assert places(zipped(old), zipped(old) + b"x" * 0 + b"") == []


def test_what_no_member_of_a_zip_shows_is_not_overlooked() -> None:
    old, new = zipped({"a": b"text\n"}), zipped({"a": b"text\n"}, (2021, 1, 1, 0, 0, 2))
    assert places(old, b"PKhidden" + new)[-1] == ("encoding", Kind.FORM)
    changed = zipped({"a": b"text 2\n"}, (2021, 1, 1, 0, 0, 2))
    assert places(old, changed) == [("a/modification time", Kind.TIME), ("a/line 1", Kind.VALUE)]
    assert places(old, b"PKhidden" + changed)[-1] == ("encoding", Kind.FORM)
    local = bytearray(new)
    local[30:31] = b"b"  # the name in the local header only
    assert places(old, bytes(local)) != [("a/modification time", Kind.TIME)]


@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT])
def test_tar(form: int) -> None:
    files = {"a.txt": b"one\n", "b": b"two\n" * 300}
    old = tarred(files, form, mtime=1_600_000_000)
    assert places(old, tarred(files, form, mtime=1_700_000_000)) == [
        ("a.txt/modification time", Kind.TIME),
        ("b/modification time", Kind.TIME),
    ]
    assert places(old, tarred(files, form, mtime=1_600_000_000, uname="who")) == [
        ("a.txt/owner", Kind.OWNER),
        ("b/owner", Kind.OWNER),
    ]
    other = {**files, "a.txt": b"uno\n" * 400}
    found = places(old, tarred(other, form, mtime=1_600_000_000))
    assert [place for place, _ in found] == ["a.txt/line 1"]
    late = bytearray(tarred(files, form, mtime=1_700_000_000))
    late[-1] = 7
    assert places(old, bytes(late))[-1] == ("encoding", Kind.FORM)


def test_times_in_pax_headers() -> None:
    old, new = (tarred({"a": b"x"}, tarfile.PAX_FORMAT, mtime=1_600_000_000.5 + n) for n in range(2))
    assert {kind for _, kind in places(old, new)} == {Kind.TIME}


def test_gzip() -> None:
    old, new = gzip.compress(b"text\n", mtime=1), gzip.compress(b"text\n", mtime=2)
    assert places(old, new) == [("(uncompressed)/modification time", Kind.TIME)]
    assert places(old, gzip.compress(b"test\n", mtime=1)) == [("(uncompressed)/line 1", Kind.VALUE)]
    a, b = gzip.compress(VARIED, 1, mtime=1), gzip.compress(VARIED, 9, mtime=2)
    assert places(a, b)[-1] == ("encoding", Kind.FORM)


@pytest.mark.parametrize("compress", [bz2.compress, lzma.compress, gzip.compress])
def test_nested(compress: Callable[[bytes], bytes]) -> None:
    old, new = (compress(tarred({"in.zip": zipped({"a.json": text})})) for text in (b'{"k": 1}', b'{"k": 2}'))
    found = [one for one in places(old, new) if one[1] is Kind.VALUE]
    assert found == [("(uncompressed)/in.zip/a.json//k", Kind.VALUE)]


def test_another_compression_of_the_same() -> None:
    assert places(bz2.compress(VARIED, 1), bz2.compress(VARIED, 9)) == [("encoding", Kind.FORM)]
    assert {kind for _, kind in places(zipped({"a": VARIED}), zipped({"a": VARIED}, method=0))} == {Kind.VALUE}


def test_bombs_are_capped() -> None:
    old, new = (gzip.compress(gzip.compress(bytes(10 << 20) + tail)) for tail in (b"1", b"2"))
    found = compared(old, new, unpacked=1 << 20)
    assert found.changes
    assert found.unpacked <= 2 << 20
    bombs = [zipped({"a": bytes(10 << 20) + tail, "b": bytes(10 << 20) + tail}) for tail in (b"1", b"2")]
    found = compared(*bombs, unpacked=1 << 20)
    assert found.changes
    assert found.changes[0].members == ()
    many = [zipped({str(n): tail for n in range(300)}) for tail in (b"1", b"2")]
    assert compared(*many, members=100).changes[0].members == ()
    assert not compared(*many, changes=100).complete


def test_nesting_is_capped() -> None:
    old, new = b"1", b"2"
    for _ in range(40):
        old, new = zipped({"a": old}, method=0), zipped({"a": new}, method=0)
    assert max(len(change.members) for change in compared(old, new).changes) <= Limits().depth


# Tensors and models -------------------------------------------------------------------------------------------------


def npy(values: Any) -> bytes:
    held = io.BytesIO()
    np.save(held, values)
    return held.getvalue()


def test_npy() -> None:
    old = np.arange(100, dtype="<f4")
    new = old.copy()
    new[50] = -1
    (one,) = changes(npy(old), npy(new))
    assert one.place.startswith("values byte 2")
    assert one.offset is not None
    assert one.offset >= 128 + 200
    assert [place for place, _ in places(npy(old), npy(old.astype("<f8")))] == ["header dtype"]
    assert [place for place, _ in places(npy(old), npy(old.reshape(10, 10)))] == ["header shape"]
    assert places(zipped({"x.npy": npy(old)}), zipped({"x.npy": npy(new)}))[0][0].startswith("x.npy/values byte 2")


def safetensors(header: Any, data: bytes) -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def test_safetensors() -> None:
    header = {"__metadata__": {"made": "x"}, "w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}
    old = safetensors(header, bytes(8))
    assert [p for p, _ in places(old, safetensors(header, b"\1" + bytes(7)))] == ["tensor w byte 0"]
    other = {**header, "__metadata__": {"made": "y"}}
    assert places(old, safetensors(other, bytes(8))) == [("header /__metadata__/made", Kind.VALUE)]


def test_onnx() -> None:
    old = model(doc_string="one").SerializeToString()
    assert places(old, model(doc_string="two").SerializeToString(), "m.onnx") == [("doc_string", Kind.VALUE)]
    assert places(old, model(doc_string="one", producer_name="x").SerializeToString(), "m.onnx") == [
        ("producer_name", Kind.VALUE)
    ]
    assert places(old, model().SerializeToString(), "m.onnx") == [("doc_string", Kind.PRESENCE)]
    changed = model(doc_string="one")
    changed.graph.node[1].doc_string = "File /x/y.py"
    assert places(old, changed.SerializeToString(), "m.onnx") == [("graph.node[1].doc_string", Kind.PRESENCE)]
    order = model(doc_string="one")
    order.graph.node.sort(key=lambda node: node.name, reverse=True)
    assert places(old, order.SerializeToString(), "m.onnx") == [("graph.node[0]", Kind.ORDER)]
    weights = model(doc_string="one")
    weights.graph.initializer[0].raw_data = weights.graph.initializer[0].raw_data[:-1] + b"\1"
    (one,) = changes(old, weights.SerializeToString(), "m.onnx")
    assert (one.place, one.offset) == ("graph.initializer[0].raw_data byte 511", 511)


def test_what_no_field_of_a_model_shows_is_not_overlooked() -> None:
    old, new = model(doc_string="one").SerializeToString(), model(doc_string="two").SerializeToString()
    hidden = new + b"\x98\x06\x07"  # field 99, which ONNX does not have
    assert {kind for _, kind in places(old, hidden, "m.onnx")} == {Kind.VALUE, Kind.FORM}
    twice = new + b"\x08" + new[1:2]  # ir_version once more
    assert ("encoding", Kind.FORM) in places(old, twice, "m.onnx")


# Anything -----------------------------------------------------------------------------------------------------------

SEEDS = [
    zipped({"a": b"text", "b.json": b"[1]"}),
    tarred({"a": b"text"}),
    tarred({"a" * 200: b"text"}, tarfile.PAX_FORMAT, mtime=1.5),
    gzip.compress(tarred({"a": b"x"}), mtime=0),
    bz2.compress(b"text"),
    lzma.compress(b"text"),
    npy(np.arange(3)),
    safetensors({"w": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]}}, b"ab"),
    model().SerializeToString(),
    b'{"a": [1, 2, {"b": "c"}]}\n{"a": 1}\n',
    b"line 1\nline 2\n",
]
NAMES = st.sampled_from(["x", "x.onnx", "x.jsonl", "x.json"])


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    data = bytearray(draw(st.sampled_from(SEEDS)))
    for _ in range(draw(st.integers(0, 6))):
        at = draw(st.integers(0, len(data) - 1)) if data else 0
        what = draw(st.integers(0, 3))
        if what == 0 and data:
            data[at] = draw(st.integers(0, 255))
        elif what == 1:
            del data[at : at + draw(st.integers(1, 40))]
        elif what == 2:
            data[at:at] = draw(st.binary(max_size=20))
        else:
            data += data[at:]
    return bytes(data)


@settings(max_examples=300, deadline=None)
@given(damaged(), damaged(), NAMES)
def test_garbage_is_compared_too(old: bytes, new: bytes, name: str) -> None:
    found = compared(old, new, name, unpacked=1 << 20, depth=3)
    assert bool(found.changes) == (old != new)


@settings(max_examples=200, deadline=None)
@given(damaged(), st.integers(0, 10_000), st.integers(1, 255), NAMES)
def test_no_changed_byte_is_overlooked(data: bytes, at: int, flip: int, name: str) -> None:
    if not data:
        return
    new = bytearray(data)
    new[at % len(data)] ^= flip
    assert compared(data, bytes(new), name).changes


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300), st.binary(max_size=300))
@example(b"", b"\0")
def test_any_bytes(old: bytes, new: bytes) -> None:
    assert bool(compared(old, new).changes) == (old != new)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=200, deadline=None)
@given(VALUES, VALUES)
def test_any_json(old: Any, new: Any) -> None:
    a, b = (json.dumps({"x": value}).encode() for value in (old, new))
    assert bool(compared(a, b, "x.json").changes) == (a != b)

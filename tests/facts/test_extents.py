"""External data: which extents are refused, by example and by property."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calaudit.facts.onnx.extents import Extent, ExternalTensor, check_external_data, gaps

FILE = "02-onnx/model.onnx.data"


def tensor(name: str = "w", dims: tuple[int, ...] = (4,), dtype: int = 1, **entries: str) -> ExternalTensor:
    pairs = {"location": "model.onnx.data", "offset": "0", "length": "16"} | entries
    kept = tuple((k, v) for k, v in pairs.items() if v != "-")
    return ExternalTensor(name=name, where="the graph", dtype=dtype, dims=dims, entries=kept)


def rules(*tensors: ExternalTensor, size: int = 4096) -> list[str]:
    return [f.rule for f in check_external_data(tensors, {FILE: size}, "02-onnx").faults]


def test_a_sound_extent() -> None:
    found = check_external_data([tensor()], {FILE: 16}, "02-onnx")
    assert found.faults == ()
    assert [(e.path, e.offset, e.length) for e in found.extents] == [(FILE, 0, 16)]


@pytest.mark.parametrize(
    "location",
    ["../a", "/etc/passwd", "a/../b", "./a", "a//b", "a\\b", "c:a", "a\0b", "a/", "..", "sub/../model.onnx.data"],
)
def test_locations_that_escape(location: str) -> None:
    assert rules(tensor(location=location)) == ["external-data-escapes"]


@pytest.mark.parametrize("location", ["-", "", "other.data", "MODEL.ONNX.DATA"])
def test_locations_that_are_missing(location: str) -> None:
    assert rules(tensor(location=location)) == ["external-data-missing"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("offset", "-1"),
        ("offset", "+1"),
        ("offset", " 0"),
        ("offset", "0x10"),
        ("offset", "1e3"),
        ("offset", "1_0"),
        ("offset", "00"),
        ("offset", "4081"),
        ("offset", "9" * 19),
        ("offset", "9" * 5000),
        ("length", "15"),
        ("length", "17"),
        ("length", "-16"),
        ("length", "4097"),
        ("length", "-"),
    ],
)
def test_extents_that_do_not_fit(key: str, value: str) -> None:
    assert rules(tensor(**{key: value})) == ["external-data-out-of-range"]


@pytest.mark.parametrize("dims", [(-4,), (-2, -2), (1 << 62, 1 << 62), (5,), (2**63 - 1,) * 9])
def test_dims_that_do_not_fit(dims: tuple[int, ...]) -> None:
    assert rules(tensor(dims=dims)) == ["external-data-out-of-range"]


@pytest.mark.parametrize("dtype", [0, 8, 27, 99, -1])
def test_types_without_bytes(dtype: int) -> None:
    assert rules(tensor(dtype=dtype)) == ["external-data-out-of-range"]


def test_no_length_means_the_rest_of_the_file() -> None:
    assert rules(tensor(length="-"), size=16) == []
    assert rules(tensor(length="-", offset="16"), size=32) == []


def test_packed_types_round_up() -> None:
    assert rules(tensor(dtype=22, dims=(3,), length="2")) == []


@pytest.mark.parametrize("extra", [("offset", "0"), ("location", "x"), ("colour", "red")])
def test_keys_that_have_two_readings(extra: tuple[str, str]) -> None:
    base = tensor()
    odd = ExternalTensor(name="w", where="", dtype=1, dims=(4,), entries=(*base.entries, extra))
    assert rules(odd) == ["onnx-invalid"]


def test_ties_are_allowed_and_overlaps_are_not() -> None:
    assert rules(tensor("a"), tensor("b")) == []
    assert rules(tensor("a"), tensor("b", offset="4")) == ["external-data-overlaps"]
    assert rules(tensor("a"), tensor("b", offset="16")) == []
    assert rules(tensor("a", dims=(16,), length="64"), tensor("b"), tensor("c", offset="32")) == [
        "external-data-overlaps",
        "external-data-overlaps",
    ]
    assert rules(tensor("a"), tensor("b", dtype=6)) == ["external-data-overlaps"]


def test_empty_tensors_overlap_nothing() -> None:
    assert rules(tensor("a"), tensor("b", dims=(0,), offset="4", length="0")) == []


def test_a_gap_is_padding_up_to_64_kib() -> None:
    assert rules(tensor(), size=16 + 65535) == []
    assert rules(tensor(), size=16 + 65536) == ["external-data-unlisted"]


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 9)), max_size=12))
def test_faults_and_gaps_agree_with_counting_bytes(spans: list[tuple[int, int]]) -> None:
    made = [tensor(f"t{n}", dims=(w,), dtype=2, offset=str(o), length=str(w)) for n, (o, w) in enumerate(spans)]
    found = check_external_data(made, {FILE: 64}, "02-onnx")
    kept = [(o, w) for o, w in spans if o + w <= 64]
    assert sorted((e.offset, e.length) for e in found.extents) == sorted(kept)
    owners: dict[int, set[tuple[int, int]]] = {}
    for o, w in kept:
        for at in range(o, o + w):
            owners.setdefault(at, set()).add((o, w))
    assert bool(found.of("external-data-overlaps")) == any(len(who) > 1 for who in owners.values())
    if kept:
        free = {at for _, start, length in gaps(found.extents, {FILE: 64}) for at in range(start, start + length)}
        assert free == set(range(64)) - owners.keys()


@given(st.text(max_size=20))
def test_no_location_leads_outside(location: str) -> None:
    found = check_external_data([tensor(location=location)], {FILE: 16, "secret": 16}, "02-onnx")
    assert all(e.path == FILE for e in found.extents)


def test_extents_sort_by_place() -> None:
    one = Extent(path="a", offset=0, length=1, tensor="x", dtype=2, dims=(1,))
    assert one.end == 1

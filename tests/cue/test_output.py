"""Reading what cue prints."""

from hypothesis import given
from hypothesis import strategies as st

from calaudit.cue.output import Complaint, Place, complaints, faults, places_first, pointer_of
from calaudit.cue.probes import probes, supplied

FILES = ("policy.cue", "document.json")
DOCUMENT = {"a": {"b-c": [{"x": 1}, "t"], "d~/e": None}, "1": 2}


def test_errors_and_their_places() -> None:
    printed = (
        b"a.b: conflicting:\n    ./document.json:2:7\n    ./policy.cue:1:3\n"
        b"incomplete value\n"
        b"last:\n    \n    ./policy.cue:9:9\n"
    )
    assert list(complaints(printed)) == [
        Complaint("a.b: conflicting", (Place("document.json", 2, 7), Place("policy.cue", 1, 3))),
        Complaint("incomplete value", ()),
        Complaint("last", (Place("policy.cue", 9, 9),)),
    ]


def test_text_that_looks_like_nothing_is_kept() -> None:
    assert list(complaints(b"one\n  two\n")) == [Complaint("one two", ())]
    assert list(complaints(b"    ./policy.cue:1:1\n")) == [
        Complaint("cue named a place without a reason", (Place("policy.cue", 1, 1),))
    ]
    assert list(complaints(b"\n  \n")) == []


@given(st.binary(max_size=200))
def test_whatever_is_printed_gives_a_fault_unless_it_is_white_space(printed: bytes) -> None:
    found = faults(printed, DOCUMENT, files=FILES, name="p.cue")
    assert bool(found) == bool(printed.decode("utf-8", "replace").strip())


@given(st.text(max_size=60))
def test_a_pointer_always_resolves(text: str) -> None:
    pointer = pointer_of(text, DOCUMENT)
    assert pointer is None or not pointer or pointer.startswith("/")


def test_pointers() -> None:
    for text, pointer in {
        'a."b-c".0.x: no': "/a/b-c/0/x",
        'a."b-c".1: no': "/a/b-c/1",
        'a."b-c".7.x: no': "/a/b-c",
        'a."d~/e": no': "/a/d~0~1e",
        'a."\\x": no': "/a",
        '"1": no': "/1",
        "z: field is required": "",
        "import failed: no": None,
        "no path at all": None,
    }.items():
        assert pointer_of(text, DOCUMENT) == pointer, text


def test_a_policy_of_its_own_is_named_by_line() -> None:
    found = (Complaint("x", (Place("other", 1, 1), Place("policy.cue", 4, 2))), Complaint("y", ()))
    assert places_first(found, file="policy.cue", name="house.cue") == "house.cue:4:2: x\nhouse.cue: y"


def test_what_a_policy_supplied() -> None:
    assert list(supplied({"a": [{}]}, {"a": [{"b": 1}, 2], "c/d": 3})) == ["/a/0/b", "/a/1", "/c~1d"]
    assert list(supplied({"a": 1.0}, {"a": 1})) == []


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(max_size=3), json_values, min_size=1, max_size=4))
def test_probes_differ_from_the_document(document: dict[str, object]) -> None:
    made = list(probes(document))  # type: ignore[arg-type]
    assert any(probe != document for probe in made)
    assert all(isinstance(probe, dict) for probe in made)

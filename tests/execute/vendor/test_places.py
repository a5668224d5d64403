"""Names from outside: whatever is let in lies below the port, under one name on every system."""

import os
import unicodedata
from dataclasses import replace
from pathlib import PurePosixPath, PureWindowsPath

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from calaudit.contract import Contract
from calaudit.errors import Malformed
from calaudit.execute.commit import PATH as PUBLISHED
from calaudit.execute.vendor.admission import Kind, admit
from calaudit.execute.vendor.places import DEPTH_MAX, NAME_MAX, Places, read_name
from calaudit.trust.steps import SIGNED, read_chain
from tests.execute.vendor.trade import STEPS

CHAIN = read_chain({"steps": STEPS})  # type: ignore[dict-item]
WORDS = (
    "vendor Vendor attestations a A kickoff.json op-matrix.yaml responses matrix.01234567.link root.layout .calaudit"
)
ODD = ("..", ".", "/", "\\", "\0", "\n", "C:", " ", "", "port.yaml", "é", "e\u0301", "ß", "x" * 260)
UNSEEN = ("\u202e", "\u200b", "\ufeff", "\u2025", "\uff0e", "\uff0f")
PIECES = st.sampled_from([*WORDS.split(), *ODD, *UNSEEN])
NAMES = st.one_of(st.lists(PIECES, max_size=8).map("".join), st.lists(PIECES, max_size=8).map("/".join), st.text())


@given(NAMES)
@example("./vendor/x")
@example("././x")
@example("./")
@example("")
def test_a_name_that_is_read_goes_straight_down(name: str) -> None:
    try:
        path = read_name(name.encode("utf-8", "surrogatepass"))
    except Malformed:
        return
    if not path:
        assert name in (".", "./")
        return
    assert os.path.normpath(path) == path
    assert not PurePosixPath(path).is_absolute()
    assert not PureWindowsPath(path).drive
    assert "\\" not in path
    assert not {"..", "."} & set(path.split("/"))
    assert unicodedata.normalize("NFC", path) == path
    assert len(path.encode()) <= NAME_MAX
    assert not any(unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp") for character in path)


@given(st.binary(max_size=60))
def test_bytes_that_are_no_name_are_refused(raw: bytes) -> None:
    try:
        path = read_name(raw)
    except Malformed:
        return
    assert path.encode() in (raw, raw.removeprefix(b"./").removesuffix(b"/"), b"")


@given(NAMES)
def test_nothing_is_let_in_but_what_may_come(contract: Contract, name: str) -> None:
    try:
        path = read_name(name.encode("utf-8", "surrogatepass"))
        ticket = admit(path, CHAIN, contract.gates)
    except Malformed:
        return
    assert PUBLISHED.fullmatch(path)
    assert path.startswith(("attestations/", "vendor/")) or ticket.kind is Kind.PRODUCT
    assert path.startswith("attestations/") is ticket.kind.is_attestation
    assert not path.startswith(SIGNED[1:])
    assert path != "attestations/root.layout"


PATHS = st.lists(st.sampled_from(["a", "A", "b", "ß", "ss", "SS", "é", "É", "Σ", "ς"]), min_size=1, max_size=3).map(
    "/".join
)


@given(st.lists(PATHS, max_size=6), st.lists(PATHS, max_size=6))
def test_what_lies_side_by_side_is_apart_on_every_system(there: list[str], fresh: list[str]) -> None:
    try:
        places = Places(there)
        for path in fresh:
            places.add_file(path)
    except Malformed:
        return

    def folded(path: str) -> str:
        return unicodedata.normalize("NFC", unicodedata.normalize("NFD", path).casefold())

    files = {*there, *fresh}
    folders = {str(parent) for path in files for parent in PurePosixPath(path).parents} - {"."}
    assert len({folded(path) for path in files | folders}) == len(files | folders)
    assert not files & folders
    assert len(set(fresh)) == len(fresh)


def test_folders_are_met_many_times() -> None:
    places = Places(["vendor/x"])
    for _ in range(2):
        places.add_folder("vendor")
        places.add_folder("vendor/deep/er")
    places.add_file("vendor/x")
    places.add_file("vendor/deep/er/y")
    with pytest.raises(Malformed, match="and a folder"):
        places.add_folder("vendor/x")
    with pytest.raises(Malformed, match="letter case"):
        places.add_folder("VENDOR")


def test_a_name_has_so_many_segments_and_no_more() -> None:
    assert read_name(b"a/" * (DEPTH_MAX - 1) + b"a")
    for raw in (b"a/" * DEPTH_MAX + b"a", b"a/" * DEPTH_MAX + b"a/"):
        with pytest.raises(Malformed, match=rf"a/a/a.* has {DEPTH_MAX + 1} segments"):
            read_name(raw)


@pytest.mark.parametrize("glob", ["**", "*/**", "?ignoffs/*", "SIGNOFFS/*", "*.yaml", "?ttestations/*", ".*/*", "*/x"])
@pytest.mark.parametrize(
    "path",
    [
        *("signoffs/G0.model.dsse.json", "SIGNOFFS/x", "Waivers/x", "waivers/a/x", "port.yaml", "Port.YAML"),
        *(".calaudit/commit.json", ".Calaudit/x", "attestations/root.layout", "Attestations/x", "\u017fignoffs/x"),
    ],
)
def test_no_step_makes_what_decides_about_a_port(glob: str, path: str, contract: Contract) -> None:
    """No manifest may declare such a step any more; what is received does not rest on that."""
    (step,) = read_chain({"steps": {"matrix": STEPS["matrix"]}})
    with pytest.raises(Malformed, match="is not received"):
        admit(path, (replace(step, products=(glob,)),), contract.gates)

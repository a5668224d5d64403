import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calaudit.report._escape import INVISIBLE, inert, visible


@pytest.mark.parametrize(
    ("given_text", "shown"),
    [
        ("plain text 参考 é", "plain text 参考 é"),
        ("a\nb\r\tc", r"a\nb\r\tc"),
        ("\x1b[31m", r"\x1b[31m"),
        ("\x9b31m\x7f", r"\x9b31m\x7f"),
        ("\u202egnp", r"\u202egnp"),
        ("\ud800", r"\ud800"),
        ("\U000e0041", r"\U000e0041"),
        ("\ufffe", r"\ufffe"),
    ],
)
def test_visible(given_text: str, shown: str) -> None:
    assert visible(given_text) == shown


@given(st.text(st.characters(exclude_categories=())))
def test_visible_is_stable_and_encodable(text: str) -> None:
    once = visible(text)
    assert visible(once) == once
    assert once.encode().decode() == once


REORDERS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI", "BN"}


def test_every_control_surrogate_and_bidi_control_is_invisible() -> None:
    for code in range(0x110000):
        character = chr(code)
        hides = unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"}
        # The noncharacters of the supplementary planes: XML and JSON allow them, terminals show a box.
        is_box = code > 0xFFFF and code & 0xFFFE == 0xFFFE
        if (hides or unicodedata.bidirectional(character) in REORDERS) and not is_box:
            assert INVISIBLE.fullmatch(character), f"U+{code:04X}"


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("::error::x", r"\x3a:error::x"),
        ("   ::add-mask::x", r"   \x3a:add-mask::x"),
        ("a ::error::x", "a ::error::x"),
        ("a ##[error]x", r"a \x23#[error]x"),
        ("##vso[task]", r"\x23#vso[task]"),
        ("## heading", "## heading"),
    ],
)
def test_inert(line: str, shown: str) -> None:
    assert inert(line) == shown

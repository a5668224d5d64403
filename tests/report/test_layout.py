import pytest
from hypothesis import given
from hypothesis import strategies as st

from calaudit.report._layout import cells, wrap


@pytest.mark.parametrize(("text", "width"), [("", 0), ("abc", 3), ("参考", 4), ("e\u0301", 1), ("ｶ", 2 - 1)])
def test_cells(text: str, width: int) -> None:
    assert cells(text) == width


def test_wrap_breaks_at_spaces() -> None:
    assert wrap("one two three", 8) == ["one two", "three"]


def test_wrap_breaks_a_long_word_behind_a_separator() -> None:
    assert wrap("reference-not-reproducible", 15) == ["reference-not-", "reproducible"]


def test_wrap_of_nothing_is_one_line() -> None:
    assert wrap("", 10) == [""]


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])), st.integers(min_value=2, max_value=80))
def test_wrap_loses_nothing_and_fits(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(cells(line) <= width for line in lines)

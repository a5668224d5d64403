"""Globs against an oracle that tries everything."""

from functools import cache
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calaudit.contract.globs import Glob

SEGMENTS = st.one_of(st.just("**"), st.text("ab*?", min_size=1, max_size=2).filter(lambda s: s != "**"))
PATTERNS = st.lists(SEGMENTS, min_size=1, max_size=3).map("/".join)
PATHS = st.lists(st.text("ab.", min_size=1, max_size=3), min_size=1, max_size=4).map("/".join)


def in_segment(pattern: str, text: str) -> bool:
    if not pattern:
        return not text
    if pattern[0] == "*":
        return any(in_segment(pattern[1:], text[n:]) for n in range(len(text) + 1))
    return bool(text) and pattern[0] in ("?", text[0]) and in_segment(pattern[1:], text[1:])


def oracle(pattern: list[str], path: list[str]) -> bool:
    if not pattern:
        return not path
    if pattern[0] == "**":
        least = 1 if len(pattern) == 1 else 0
        return any(oracle(pattern[1:], path[n:]) for n in range(least, len(path) + 1))
    return bool(path) and in_segment(pattern[0], path[0]) and oracle(pattern[1:], path[1:])


@given(PATTERNS, PATHS)
def test_a_glob_matches_what_the_oracle_matches(pattern: str, path: str) -> None:
    assert Glob(pattern).matches(path) == oracle(pattern.split("/"), path.split("/"))


@given(PATTERNS)
def test_the_example_fits(pattern: str) -> None:
    assert Glob(pattern).matches(Glob(pattern).example())


@cache
def small_paths() -> list[str]:
    words = ["".join(letters) for size in (1, 2, 3) for letters in product("ab", repeat=size)]
    return ["/".join(parts) for size in (1, 2) for parts in product(words, repeat=size)]


SHORT = st.lists(
    st.one_of(st.just("**"), st.text("ab*?", min_size=1, max_size=2).filter(lambda s: s != "**")),
    min_size=1,
    max_size=2,
).map("/".join)


@given(SHORT, SHORT)
def test_patterns_overlap_exactly_where_some_path_fits_both(left: str, right: str) -> None:
    witness = any(Glob(left).matches(path) and Glob(right).matches(path) for path in small_paths())
    assert Glob(left).overlaps(Glob(right)) == Glob(right).overlaps(Glob(left))
    if witness:
        assert Glob(left).overlaps(Glob(right))
    # Two segments of at most two characters and one `**` need no witness longer than three segments of three letters.
    elif "**" not in left + right:
        assert not Glob(left).overlaps(Glob(right))


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("a/**", "**/b", True),
        ("a/**", "a", False),
        ("**", "a", True),
        ("**/x", "x", True),
        ("**/x", "**/y", False),
        ("**/a/**", "b/*", False),
        ("**/a/**", "b/*/c", True),
        ("*.json", "config.json", True),
        ("*.json", "*.yaml", False),
        ("a?c", "ab*", True),
        ("hf-config/**/*.py", "hf-config/*.json", False),
        ("02-onnx/repros/**", "02-onnx/tensors/*.npy", False),
    ],
)
def test_overlaps(left: str, right: str, *, expected: bool) -> None:
    assert Glob(left).overlaps(Glob(right)) is expected
    assert Glob(right).overlaps(Glob(left)) is expected


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("a/*", "a/b/c", False),
        ("a/**", "a", False),
        ("a/**", "a/b/c", True),
        ("a/**/b", "a/b", True),
        ("a/[b].txt", "a/[b].txt", True),
        ("a/[b].txt", "a/b.txt", False),
        ("a/*", "a/line\nbreak", True),
        ("a", "a\n", False),
    ],
)
def test_matches(pattern: str, path: str, *, expected: bool) -> None:
    assert Glob(pattern).matches(path) is expected

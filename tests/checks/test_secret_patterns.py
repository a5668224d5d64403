"""The quick look that decides whether a text is searched for secrets misses nothing that a search would find."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calaudit.checks.common._scan import Pattern, may_match
from calaudit.checks.common.secret_found import PATTERNS

TOKENS = {
    "a private key": b"-----BEGIN EC PRIVATE KEY-----",
    "an AWS access key id": b"AKIA0123456789ABCDEF",
    "a GitHub token": b"ghp_" + b"a1" * 18,
    "a GitLab token": b"glpat-" + b"a1" * 10,
    "a Hugging Face token": b"hf_" + b"a1" * 15,
    "an API key": b"sk-live-" + b"a1" * 16,
    "a Slack token": b"xoxb-0123456789",
    "a Google API key": b"AIza" + b"0a-_9" * 7,
    "a JSON web token": b"eyJ0123456789.eyJ0123456789.0123456789",
    "a URL with a password": b"https://me:secret1@host",
    "a licence-server address": b"27000@licences.example",
    "a credential": b"API_KEY = 0123456789abcdef",
}


def test_every_pattern_has_a_token() -> None:
    assert {pattern.what for pattern in PATTERNS} == TOKENS.keys()


@pytest.mark.parametrize("what", TOKENS)
@settings(max_examples=20)
@given(before=st.binary(max_size=4), after=st.binary(max_size=4))
def test_a_token_is_searched_for_whatever_stands_around_it(what: str, before: bytes, after: bytes) -> None:
    patterns = [p for p in PATTERNS if p.what == what]
    assert any(p.compiled.search(TOKENS[what]) for p in patterns)
    text = before + TOKENS[what] + after
    assert all(may_match(p, text) or p.compiled.search(text) is None for p in patterns)


@given(st.binary(max_size=3) | st.from_regex(rb"[\w -]?gh[pq]", fullmatch=True), st.integers(34, 38))
def test_a_github_token_stands_at_the_beginning_of_a_word(before: bytes, length: int) -> None:
    text = before + b"ghp_" + b"a" * length
    plain = re.compile(rb"\bgh[pousr]_[A-Za-z0-9]{36,}\b")
    ours = next(p.compiled for p in PATTERNS if p.hints == (b"gh",))
    assert [m.span() for m in ours.finditer(text)] == [m.span() for m in plain.finditer(text)]


def test_a_hint_must_not_hold_what_is_left_out() -> None:
    with pytest.raises(ValueError, match="left out"):
        Pattern("a number", (b"a1",), rb"a1")

"""Whether prompts show what their labels say."""

import pytest

from calaudit.facts.reference.coverage import SHOWS, scripts_of
from calaudit.facts.reference.prompts import Prompt
from calaudit.facts.tokens.retokenized import Retokenized
from calaudit.facts.tokens.tokenizer import TokenizerFact
from calaudit.model import Location


def tokenizer() -> TokenizerFact:
    return TokenizerFact(
        sha256="", kind="BPE", vocab_size=10, max_id=9, special={"<s>": 1, "</s>": 2}, prefix=(1,), suffix=(),
        vocab={}, definition={}, native=None,  # type: ignore[arg-type]
    )  # fmt: skip


def sample(text: str, ids: tuple[int, ...] = (1, 5, 6)) -> Retokenized:
    prompt = Prompt(
        at=Location(path="p"), sample_id="s", category="c", text=text, text_sha256=None, token_ids=ids,
        attention_mask=(), position_ids=(), expected=(), refusal=None,
    )  # fmt: skip
    return Retokenized(prompt=prompt, text=text, token_ids=ids, bare=ids[1:], decoded="", decoded_bare="")


@pytest.mark.parametrize(
    ("category", "text", "shows"),
    [
        ("multilingual", "Привет", True),
        ("multilingual", "naïve café ½ µ ª", False),
        ("multilingual", "1234 !?", False),
        ("code", "for i in range(10):\n    print(i)", True),
        ("code", "A sentence, which has commas; and (one) aside.", True),
        ("code", "The quick brown fox jumps over the lazy dog and then sleeps", False),
        ("code", "", False),
        ("numbers", "3.14159265", True),
        ("numbers", "١٢٣٤٥", True),
        ("numbers", "In 2026 there were many words about nothing", False),
        ("numbers", "123", False),
        ("repetition", "ab " * 8, True),
        ("repetition", "a" * 8, True),
        ("repetition", "a" * 7, False),
        ("repetition", "no " * 8 + "and then a long text that says something else altogether, again and again", False),
        ("repetition", "", False),
    ],
)
def test_look(category: str, text: str, shows: bool) -> None:
    assert SHOWS[category](sample(text), tokenizer()) is shows


@pytest.mark.parametrize(
    ("category", "ids", "shows"),
    [
        ("shortest", (1,), True),
        ("shortest", (1, 5), False),
        ("special-tokens", (1, 5), False),
        ("special-tokens", (1, 1), True),
        ("special-tokens", (1, 5, 2), True),
    ],
)
def test_tokens(category: str, ids: tuple[int, ...], shows: bool) -> None:
    assert SHOWS[category](sample("x", ids), tokenizer()) is shows


def test_scripts() -> None:
    assert scripts_of("aя你ひ٣🙂 \n") == {"LATIN", "CYRILLIC", "CJK", "HIRAGANA"}


def test_a_long_text_is_looked_at_quickly() -> None:
    assert not SHOWS["repetition"](sample("ab" * 3 + "x" * 5), tokenizer())
    SHOWS["repetition"](sample("".join(chr(65 + n * n % 57) for n in range(100_000))), tokenizer())


@pytest.mark.parametrize(
    "text", ["\uff28\uff45\uff4c\uff4c\uff4f", "\U0001d407ello \U0001d6fc", "\u2115\u211d\u2102", "5 \u00b5m"]
)
def test_letters_in_another_dress_are_no_other_script(text: str) -> None:
    assert scripts_of(text) <= {"LATIN"}


def test_half_width_letters_are_of_their_script() -> None:
    assert scripts_of("\uff71") == {"KATAKANA"}

"""Vocabulary files that stand beside ``tokenizer.json``: whether they define the same tokens.

Models are often shipped with the older forms of their tokenizer. Each is another definition that some program loads.
"""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from calaudit.errors import Malformed, MissingFact
from calaudit.evidence import Entry, Evidence
from calaudit.facts import Facts
from calaudit.facts.tokens.sentencepiece import read_pieces
from calaudit.facts.tokens.special_tokens import TOKENIZER_CONFIG
from calaudit.facts.tokens.tokenizer import TOKENIZER, TokenizerFact
from calaudit.model import Json, Location


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherVocabulary:
    """One further file. ``agrees`` is None where it could not be compared; ``difference`` says what differs or why."""

    at: Location
    agrees: bool | None
    difference: str


@dataclass(frozen=True, kw_only=True)
class VocabulariesFact:
    """Every further definition of the tokenizer in the port."""

    name: ClassVar[str] = "vocabularies"

    others: tuple[OtherVocabulary, ...]

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Find and compare them; MissingFact where the tokenizer itself is missing."""
        tokenizer = facts.get(TokenizerFact)
        others = []
        for path, entry in facts.evidence.entries.items():
            if path != TOKENIZER and is_vocabulary(path):
                others.append(_compared(facts.evidence, entry, tokenizer))
        others += _decoder(facts.evidence, tokenizer)
        return cls(others=tuple(others))


_WHOLE = frozenset({"vocab.json", "encoder.json"})
_JSON = frozenset({"added_tokens.json", "special_tokens_map.json", "tekken.json"}) | _WHOLE
_MERGES = frozenset({"merges.txt", "vocab.bpe"})
_TEXT = frozenset({"vocab.txt"}) | _MERGES
_MODEL = re.compile(r".*(?:\.tiktoken|\.spm|\.model(?:\.v\d+\w*)?)")


def is_vocabulary(path: str) -> bool:
    """Whether a file, by its name, defines a tokenizer or a part of one."""
    name = path.rpartition("/")[2].lower()
    return name == "tokenizer.json" or name in _JSON | _TEXT or _MODEL.fullmatch(name) is not None


def _compared(evidence: Evidence, entry: Entry, tokenizer: TokenizerFact) -> OtherVocabulary:
    at = Location(path=entry.path)
    if entry.path.rpartition("/")[2].lower() == "tokenizer.json":
        same = entry.sha256 == tokenizer.sha256
        return OtherVocabulary(at=at, agrees=same, difference="" if same else f"It is another file than {TOKENIZER}.")
    try:
        difference = _difference(evidence, entry.path, tokenizer)
    except (MissingFact, Malformed) as error:
        return OtherVocabulary(at=at, agrees=None, difference=error.message)
    return OtherVocabulary(at=at, agrees=difference is None, difference=difference or "")


def _decoder(evidence: Evidence, tokenizer: TokenizerFact) -> Iterator[OtherVocabulary]:
    """``added_tokens_decoder`` of tokenizer_config.json: transformers takes its ids over those of tokenizer.json."""
    if TOKENIZER_CONFIG not in evidence.entries:
        return
    document = evidence.document(TOKENIZER_CONFIG)
    decoder = document.get("added_tokens_decoder") if isinstance(document, dict) else None
    if not isinstance(decoder, dict):
        return
    at = Location(path=TOKENIZER_CONFIG, pointer="/added_tokens_decoder")
    for number, token in decoder.items():
        content = token.get("content") if isinstance(token, dict) else None
        if not isinstance(content, str) or str(tokenizer.vocab.get(content)) != number:
            known = tokenizer.vocab.get(content) if isinstance(content, str) else None
            difference = f"It gives {content!r} the id {number}, tokenizer.json {known}."
            yield OtherVocabulary(at=at, agrees=False, difference=difference)
            return
    yield OtherVocabulary(at=at, agrees=True, difference="")


def _difference(evidence: Evidence, path: str, tokenizer: TokenizerFact) -> str | None:
    name = path.rpartition("/")[2].lower()
    if name == "special_tokens_map.json":
        return _unknown_tokens(evidence.document(path), tokenizer)
    if name == "tekken.json":
        raise Malformed("calaudit does not read this form; delete it, or have it compared by hand.")
    if name in _JSON:
        return _other_ids(_ids(evidence.document(path)), tokenizer, whole=name in _WHOLE)
    data = evidence.read(path)
    if name in _MERGES:
        return _other_merges(_lines(data), tokenizer)
    if name == "vocab.txt":
        return _other_ids({line: n for n, line in enumerate(_lines(data))}, tokenizer, whole=True)
    if name.endswith(".tiktoken"):
        return _other_ids(dict(_tiktoken(_lines(data))), tokenizer, whole=True)
    return _other_ids({piece: n for n, piece in enumerate(read_pieces(data))}, tokenizer, whole=True)


def _other_ids(ids: Mapping[str, int], tokenizer: TokenizerFact, *, whole: bool) -> str | None:
    """``whole``: it must name every token that is not an added one."""
    for token, number in ids.items():
        if tokenizer.vocab.get(token) != number:
            return f"It gives {token!r} the id {number}, tokenizer.json {tokenizer.vocab.get(token)}."
    if whole:
        missing = sorted(_model_tokens(tokenizer).difference(ids))
        if missing:
            return f"It lacks {len(missing)} token(s) of tokenizer.json, such as {missing[0]!r}."
    return None


def _model_tokens(tokenizer: TokenizerFact) -> set[str]:
    added = tokenizer.definition.get("added_tokens")
    names = {t.get("content") for t in added if isinstance(t, dict)} if isinstance(added, list) else set()
    return {token for token in tokenizer.vocab if token not in names}


def _other_merges(lines: list[str], tokenizer: TokenizerFact) -> str | None:
    model = tokenizer.definition.get("model")
    raw: Any = model.get("merges") if isinstance(model, dict) else None
    expected = [" ".join(m) if isinstance(m, list) else m for m in raw] if isinstance(raw, list) else []
    found = [line for n, line in enumerate(lines) if line and not (n == 0 and line.startswith("#version"))]
    if found == expected:
        return None
    first = next((n for n, pair in enumerate(zip(found, expected, strict=False)) if pair[0] != pair[1]), None)
    where = f"from merge {first}" if first is not None else f"in number: {len(found)} instead of {len(expected)}"
    return f"Its merges differ from those of tokenizer.json {where}."


def _unknown_tokens(document: Json, tokenizer: TokenizerFact) -> str | None:
    if not isinstance(document, dict):
        raise Malformed("It is not a JSON object.")
    values = [v for value in document.values() for v in (value if isinstance(value, list) else [value])]
    for value in values:
        token = value.get("content") if isinstance(value, dict) else value
        if not isinstance(token, str) or token not in tokenizer.vocab:
            return f"It names {token!r}, which is no token of tokenizer.json."
    return None


def _ids(document: Json) -> dict[str, int]:
    if not isinstance(document, dict):
        raise Malformed("It is not a JSON object.")
    ids = {token: value for token, value in document.items() if isinstance(value, int)}
    if len(ids) != len(document):
        raise Malformed("It does not map tokens to ids.")
    return ids


def _lines(data: bytes) -> list[str]:
    try:
        return data.decode().removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise Malformed("It is not UTF-8 text.") from error


def _tiktoken(lines: list[str]) -> Iterator[tuple[str, int]]:
    letters = _byte_letters()
    for line in lines:
        token, _, rank = line.partition(" ")
        try:
            raw = base64.b64decode(token, validate=True)
        except binascii.Error as error:
            raise Malformed("It is not a list of base64 tokens and ranks.") from error
        if not rank.isdecimal():
            raise Malformed("It is not a list of base64 tokens and ranks.")
        yield "".join(letters[b] for b in raw), int(rank)


def _byte_letters() -> list[str]:
    """How byte-level BPE writes bytes: printable Latin-1 as itself, the others as the letters from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = iter(range(0x100, 0x200))
    return [chr(b) if b in printable else chr(next(others)) for b in range(256)]

"""The tokenizer of the source (``00-source/hf-config/tokenizer.json``), loaded by the ``tokenizers`` library.

The file comes from outside. The library is native code: what it refuses is an ``Exception``, where it fails it raises
a ``PanicException``, which is none. Both become MissingFact here. Truncation and padding are switched off: a reference
tokenizes whole prompts.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self, TypeVar

from calaudit.errors import MissingFact
from calaudit.facts import Facts, internal
from calaudit.facts.tokens.unsafe import TOKENIZER, refuse_unsafe
from calaudit.model import Location

__all__ = ["TEXT_MAX", "TOKENIZER", "TokenizerFact"]

TEXT_MAX = 1 << 20
"""Characters of the longest text that is tokenized: far beyond any context, and a second's work at worst."""

T = TypeVar("T")
_AT = Location(path=TOKENIZER)


class _Encoding(Protocol):
    ids: list[int]
    special_tokens_mask: list[int]


class _Native(Protocol):
    """What is used of ``tokenizers.Tokenizer``."""

    def encode(self, sequence: str, *, add_special_tokens: bool = True) -> _Encoding: ...
    def decode(self, ids: list[int], *, skip_special_tokens: bool = True) -> str: ...
    def get_vocab(self, *, with_added_tokens: bool = True) -> dict[str, int]: ...


@dataclass(frozen=True, kw_only=True)
class TokenizerFact:
    """The one tokenizer: how large it is, what it adds to a text, and the loaded thing itself."""

    name: ClassVar[str] = "tokenizer"

    sha256: str
    kind: str
    """The model inside: BPE, Unigram, WordPiece or WordLevel."""
    vocab_size: int
    """Number of tokens, added ones included."""
    max_id: int
    special: dict[str, int]
    """The special tokens and their ids."""
    prefix: tuple[int, ...]
    """The ids that are added before every text."""
    suffix: tuple[int, ...]
    """The ids that are added after every text."""
    vocab: Mapping[str, int] = internal()
    definition: Mapping[str, Any] = internal()
    native: _Native = internal(repr=False)

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Load the tokenizer.

        Raises:
            MissingFact: the file is absent, the library is not installed or refuses it, or it is not safe to run.
        """
        definition = facts.evidence.document(TOKENIZER)
        if not isinstance(definition, dict):
            raise MissingFact("tokenizer.json is not a JSON object; take it from the model again.", at=_AT)
        refuse_unsafe(definition)
        native = _load(facts.evidence.read(TOKENIZER).decode())
        vocab: dict[str, int] = _guarded(lambda: native.get_vocab(with_added_tokens=True))
        if not vocab:
            raise MissingFact("tokenizer.json defines no token; take it from the model again.", at=_AT)
        prefix, suffix = _added(native)
        return cls(
            sha256=facts.evidence.entry(TOKENIZER).sha256,
            kind=_kind(definition),
            vocab_size=len(vocab),
            max_id=max(vocab.values()),
            special=dict(sorted(_special(definition, vocab))),
            prefix=prefix,
            suffix=suffix,
            vocab=vocab,
            definition=definition,
            native=native,
        )

    def encode(self, text: str) -> tuple[int, ...]:
        """The ids of a text, with what the tokenizer adds to it; MissingFact where the library fails."""
        _refuse_long(text)
        return _guarded(lambda: tuple(self.native.encode(text).ids))

    def encode_bare(self, text: str) -> tuple[int, ...]:
        """The ids of a text alone; MissingFact where the library fails."""
        _refuse_long(text)
        return _guarded(lambda: tuple(self.native.encode(text, add_special_tokens=False).ids))

    def decode(self, ids: tuple[int, ...]) -> str:
        """The text of ids, special tokens shown; MissingFact where the library fails or an id is out of range."""
        if ids and not 0 <= min(ids) <= max(ids) <= self.max_id:
            raise MissingFact(f"Token ids reach beyond the tokenizer's last id {self.max_id}.", at=_AT)
        return _guarded(lambda: str(self.native.decode(list(ids), skip_special_tokens=False)))


def _refuse_long(text: str) -> None:
    if len(text) > TEXT_MAX:
        raise MissingFact(f"A text has {len(text)} characters; more than {TEXT_MAX} are not tokenized.", at=_AT)


def _load(text: str) -> _Native:
    try:
        from tokenizers import Tokenizer  # noqa: PLC0415 - an optional extra, and heavy
    except ImportError as error:
        raise MissingFact(
            "Retokenizing needs the tokenizers library, which is not installed: pip install 'calaudit[tokenizers]'.",
            at=_AT,
        ) from error

    def load() -> _Native:
        native: Any = Tokenizer.from_str(text)
        native.no_truncation()
        native.no_padding()
        loaded: _Native = native
        return loaded

    return _guarded(load)


def _guarded(call: Callable[[], T]) -> T:
    try:
        return call()
    except MissingFact:
        raise
    except Exception as error:
        raise MissingFact(f"The tokenizers library refuses tokenizer.json: {_short(error)}", at=_AT) from error
    except BaseException as error:
        # A Rust panic is a BaseException so that nobody swallows it by accident; here a panic is the file's fault.
        if type(error).__module__ != "pyo3_runtime":
            raise
        raise MissingFact(f"The tokenizers library fails on tokenizer.json: {_short(error)}", at=_AT) from error


def _short(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]


def _added(native: _Native) -> tuple[tuple[int, ...], tuple[int, ...]]:
    def around() -> tuple[tuple[int, ...], tuple[int, ...]]:
        probe = native.encode("a")
        mask = list(probe.special_tokens_mask)
        if 0 not in mask:
            return tuple(native.encode("").ids), ()
        first, last = mask.index(0), len(mask) - mask[::-1].index(0)
        return tuple(probe.ids[:first]), tuple(probe.ids[last:])

    return _guarded(around)


def _kind(definition: dict[str, Any]) -> str:
    model = definition.get("model")
    kind = model.get("type") if isinstance(model, dict) else None
    return kind if isinstance(kind, str) else "unknown"


def _special(definition: dict[str, Any], vocab: dict[str, int]) -> Iterator[tuple[str, int]]:
    tokens = definition.get("added_tokens")
    for token in tokens if isinstance(tokens, list) else ():
        content = token.get("content") if isinstance(token, dict) else None
        if isinstance(content, str) and token.get("special") is True and content in vocab:
            yield content, vocab[content]

"""What the good port's own files say, worked out once in a process instead of once in each of a thousand audits.

A case edits one file or two; the others are, byte for byte, those of the example. What is remembered here are answers
of pure functions to all the bytes that they are given (and to whatever else they are given), and only where these are a
file of the example: one that a case changes is parsed, tokenised and searched like any other. Models and tensors, of
which cases make few, are remembered whatever they hold. ``test_cases.py`` holds audits with and without against each
other.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import orjson
import pytest
from onnx import ModelProto

from calaudit.checks.common import _scan
from calaudit.contract import Schemas
from calaudit.contract.placeholders import Placeholders
from calaudit.evidence import Record, gathering
from calaudit.evidence.documents import Parsed, examine, manner
from calaudit.evidence.reader import HEAD
from calaudit.facts.onnx import origin, results, signature, values
from calaudit.facts.onnx.extents import Extent
from calaudit.facts.onnx.stream import Streamed, stream
from calaudit.facts.reference import runs
from calaudit.facts.reference.output_records import Output, read_outputs
from calaudit.facts.tokens import tokenizer
from calaudit.model import ArtifactSpec

GOOD = Path(__file__).parents[1] / "examples" / "model-port" / "tiny-dense"
TOKENIZER = tokenizer.TOKENIZER


@contextmanager
def remembered() -> Iterator[None]:
    """Remember, while the block runs, what the files of the example say."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gathering, "examine", _examine)
        patch.setattr(tokenizer, "_load", _load)
        patch.setattr(runs, "read_outputs", _read_outputs)
        patch.setattr(results, "read_outputs", _read_outputs)
        patch.setattr(_scan, "_Quick", _quick)
        patch.setattr(Placeholders, "may_be_written_in", _may_be_written_in)
        patch.setattr(signature, "check_copy", _check_copy)
        patch.setattr(signature, "infer_values", _infer_values)
        patch.setattr(values, "stream", _stream)
        patch.setattr(origin, "_digests", _digests)
        yield


@cache
def _good() -> frozenset[bytes]:
    """The bytes of every file of the example, and of each the beginning that an audit searches where it is long."""
    files = [path.read_bytes() for path in GOOD.rglob("*") if path.is_file()]
    return frozenset(files + [data[:HEAD] for data in files])


# Documents -----------------------------------------------------------------------------------------------------------

_parsed: dict[tuple[bytes, tuple[object, ...], bytes, Placeholders], Parsed] = {}


def _examine(data: bytes, spec: ArtifactSpec, schemas: Schemas, words: Placeholders) -> Parsed:
    if data not in _good():
        return examine(data, spec, schemas, words)
    schema = b"" if spec.schema is None else orjson.dumps(schemas[spec.schema].document)
    key = data, manner(spec), schema, words
    if key not in _parsed:
        _parsed[key] = examine(data, spec, schemas, words)
    found = _parsed[key]
    return Parsed(found.faults, found.reason, found.value, found.well_formed, found.count)


_outputs: dict[tuple[int, str], tuple[Output, ...]] = {}


def _read_outputs(records: Sequence[Record], path: str) -> tuple[Output, ...]:
    if not any(found.value is records for found in _parsed.values()):
        return read_outputs(records, path)
    key = id(records), path  # of records that are kept above
    if key not in _outputs:
        _outputs[key] = read_outputs(records, path)
    return _outputs[key]


@cache
def _may_be_written_in_good(words: Placeholders, text: bytes) -> bool:
    return _look_plainly(words, text)


def _may_be_written_in(words: Placeholders, text: bytes) -> bool:
    return _may_be_written_in_good(words, text) if text in _good() else _look_plainly(words, text)


_look_plainly = Placeholders.may_be_written_in

# The tokenizer -------------------------------------------------------------------------------------------------------


class _Remembering:
    """A tokenizer that makes of a text what it made of it before."""

    def __init__(self, native: Any) -> None:
        self.encode, self.get_vocab = cache(native.encode), cache(native.get_vocab)
        self._decode = cache(lambda ids, **how: native.decode(list(ids), **how))

    def decode(self, ids: list[int], **how: bool) -> str:
        return str(self._decode(tuple(ids), **how))


def _load(text: str) -> Any:
    return _load_good(text) if text.encode() in _good() else _load_plainly(text)


@cache
def _load_good(text: str) -> _Remembering:
    return _Remembering(_load_plainly(text))


_load_plainly = tokenizer._load

# Models --------------------------------------------------------------------------------------------------------------

_native: dict[tuple[object, bytes], Any] = {}


def _of_copy(ask: Callable[[ModelProto], Any], copy: ModelProto) -> Any:
    """What native code says of a model: of the example's or of an edited one, by all that is in it."""
    key = ask, copy.SerializeToString()
    if key not in _native:
        _native[key] = ask(copy)
    return _native[key]


_check_copy = partial(_of_copy, signature.check_copy)
_infer_values = partial(_of_copy, signature.infer_values)


def _stream(chunks: Iterable[bytes | memoryview], size: int, extents: Sequence[Extent]) -> Streamed:
    # Each is valid until the next; to the end, where a file that was read again is found to have changed.
    data = b"".join(map(bytes, chunks))
    return _stream_good(data, size, tuple(extents)) if data in _good() else stream([data], size, extents)


@cache
def _stream_good(data: bytes, size: int, extents: tuple[Extent, ...]) -> Streamed:
    return stream([data], size, extents)


_digests = cache(origin._digests)

# Searching -----------------------------------------------------------------------------------------------------------


def _quick(text: bytes) -> _scan._Quick:
    return _quick_good(text) if text in _good() else _Plain(text)


@cache
def _quick_good(text: bytes) -> _scan._Quick:
    quick = _Plain(text)
    quick.may_hold = cache(quick.may_hold)  # type: ignore[method-assign]
    return quick


_Plain = _scan._Quick

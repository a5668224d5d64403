"""There is one tokenizer, and everything names that one.

Why: Two vocabulary files that disagree are two models: which one runs depends on which program loads them. A size
that does not fit the embedding means tokens without a row, or rows that belong to another tokenizer.
Fix: Keep the tokenizer.json that the model was trained with, without truncation and padding, delete or regenerate the
others, and run the steps that recorded another digest or size again.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.g01_reference._parts import in_parts
from calaudit.facts.reference.runs import REPORT, SECOND_REPORT, ReportFact, SecondReportFact
from calaudit.facts.source.limits import LimitsFact
from calaudit.facts.source.manifest import CONFIG, SourceManifest
from calaudit.facts.source.manifest import PATH as MANIFEST
from calaudit.facts.source.weights import Weights
from calaudit.facts.tokens.conformance import CONFORMANCE, ConformanceFact
from calaudit.facts.tokens.loading import LoadingFact
from calaudit.facts.tokens.special_tokens import TOKENIZER_CONFIG
from calaudit.facts.tokens.tokenizer import TOKENIZER, TokenizerFact
from calaudit.facts.tokens.vocabularies import VocabulariesFact
from calaudit.model import Location, Result

_MIXED = "The Quick BROWN Fox"


@check("tokenizer-not-unique", gate="G1", unwaivable=True)
def tokenizer_not_unique(view: View) -> Iterator[Result]:
    """Look for other definitions, then compare every digest and every size."""
    yield from in_parts(view, _files, _loading, _manifest, _report, _second, _conformance, _config, _embedding)


def _files(view: View) -> Iterator[Result]:
    view.fact(TokenizerFact)
    view.saw()
    for other in view.each(view.fact(VocabulariesFact).others):
        if other.agrees is None:
            yield view.open(f"It cannot be said whether this is the same tokenizer: {other.difference}", at=other.at)
        elif not other.agrees:
            yield view.fail(f"This file defines another tokenizer. {other.difference}", at=other.at)


def _loading(view: View) -> Iterator[Result]:
    """Nothing in the files has a text cut, padded or lowered that the tokenizer alone would leave as it is."""
    loading, context = view.fact(LoadingFact), view.fact(LimitsFact).context
    view.saw(3)
    if loading.truncated_to is not None and loading.truncated_to <= context:
        yield view.fail(
            "tokenizer.json cuts texts that the context would hold, for loaders that let it.",
            at=Location(path=TOKENIZER, pointer="/truncation"),
            expected=f"null, or more than {context} tokens",
            actual=loading.truncated_to,
        )
    if loading.pads_alone:
        yield view.fail(
            "tokenizer.json adds padding to every text, for loaders that let it.",
            at=Location(path=TOKENIZER, pointer="/padding"),
            expected="null",
        )
    tokenizer = view.fact(TokenizerFact)
    if loading.lower_case and tokenizer.encode_bare(_MIXED) != tokenizer.encode_bare(_MIXED.lower()):
        yield view.fail(
            "tokenizer_config.json has texts lowered, which tokenizer.json does not do.",
            at=Location(path=TOKENIZER_CONFIG, pointer="/do_lower_case"),
            expected="false",
            actual="true",
        )


def _manifest(view: View) -> Iterator[Result]:
    manifest = view.fact(SourceManifest)
    yield from _digest(view, MANIFEST, "/tokenizer/sha256", manifest.document["tokenizer"]["sha256"])
    yield from _size(view, MANIFEST, "/tokenizer/vocab_size", manifest.tokenizer_vocab)


def _report(view: View) -> Iterator[Result]:
    yield from _digest(view, REPORT, "/tokenizer_sha256", view.fact(ReportFact).document["tokenizer_sha256"])


def _second(view: View) -> Iterator[Result]:
    sha256 = view.fact(SecondReportFact).document["tokenizer_sha256"]
    yield from _digest(view, SECOND_REPORT, "/tokenizer_sha256", sha256)


def _conformance(view: View) -> Iterator[Result]:
    conformance = view.fact(ConformanceFact)
    yield from _digest(view, CONFORMANCE, "/tokenizer_sha256", conformance.document["tokenizer_sha256"])
    yield from _size(view, CONFORMANCE, "/vocab_size", conformance.vocab_size)


def _digest(view: View, path: str, pointer: str, sha256: str) -> Iterator[Result]:
    expected = view.evidence.entry(TOKENIZER).sha256
    view.saw()
    if sha256 != expected:
        at = Location(path=path, pointer=pointer)
        yield view.fail("This document is about another tokenizer.", at=at, expected=expected, actual=sha256)


def _size(view: View, path: str, pointer: str, size: int) -> Iterator[Result]:
    expected = view.fact(TokenizerFact).vocab_size
    view.saw()
    if size != expected:
        at = Location(path=path, pointer=pointer)
        yield view.fail("The vocabulary size is not that of tokenizer.json.", at=at, expected=expected, actual=size)


def _config(view: View) -> Iterator[Result]:
    vocab, last = view.fact(LimitsFact).vocab, view.fact(TokenizerFact).max_id
    view.saw()
    if last >= vocab:
        yield view.fail(
            "tokenizer.json has ids beyond the model's vocabulary.",
            at=CONFIG,
            expected=f"vocab_size above {last}",
            actual=vocab,
        )
    stated = view.fact(SourceManifest).architecture.get("vocab")
    if stated is not None and stated != vocab:
        at = Location(path=MANIFEST, pointer="/architecture/vocab")
        yield view.fail(
            "The manifest states another vocabulary size than config.json.", at=at, expected=vocab, actual=stated
        )


def _embedding(view: View) -> Iterator[Result]:
    vocab, weights = view.fact(LimitsFact).vocab, view.fact(Weights)
    for what, rows in view.each((("embedding", weights.embedding_rows), ("output head", weights.head_rows))):
        if rows is not None and rows != vocab:
            yield view.fail(
                f"The {what} has not one row for each token id of config.json.",
                at=", ".join(weights.files[:1]) or MANIFEST,
                expected=f"{vocab} rows",
                actual=rows,
            )
    if weights.embedding_rows is None:
        yield view.open("The embedding is not in the port, so its rows cannot be counted.", at=MANIFEST)

"""Decoding what was encoded gives every prompt back, and the conformance report says so truly.

Why: A tokenizer that loses characters gives the model another question than the user asked, and the user another
answer than the model gave. A report of it is believed only as far as it can be recomputed.
Fix: Recompute tokenizer-conformance.json with 00-source/hf-config/tokenizer.json over all legal prompts. Where a text
does not survive, find out why (a normalizer, a missing byte fallback) before anything is built on this tokenizer.
"""

from collections import Counter
from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.g01_reference._parts import few, in_parts
from calaudit.facts.reference.prompts import PromptsFact
from calaudit.facts.tokens.conformance import CONFORMANCE, ConformanceFact, ConformanceSample
from calaudit.facts.tokens.retokenized import Retokenized, RetokenizedFact
from calaudit.model import Result


@check("tokenizer-round-trip", gate="G1")
def tokenizer_round_trip(view: View) -> Iterator[Result]:
    """Encode and decode every legal prompt, and compare with what the report says."""
    yield from in_parts(view, _texts, _claims)


def _texts(view: View) -> Iterator[Result]:
    for sample in view.each(view.fact(RetokenizedFact).by_id.values()):
        if sample.prompt.legal and sample.text is not None and not sample.round_trip:
            yield view.fail(
                f"The text of {sample.prompt.sample_id} does not survive encoding and decoding.",
                at=sample.prompt.at,
                expected=_around(sample.text, sample.decoded_bare),
                actual=_around(sample.decoded_bare, sample.text),
            )


def _claims(view: View) -> Iterator[Result]:
    claims, again = view.fact(ConformanceFact).samples, view.fact(RetokenizedFact).by_id
    counts = Counter(claim.sample_id for claim in claims)
    missing = [p.sample_id for p in view.fact(PromptsFact).legal if p.sample_id not in counts]
    if missing:
        yield view.fail(f"{len(missing)} legal prompt(s) are not in the report: {few(missing)}.", at=CONFORMANCE)
    for claim in view.each(claims):
        sample = again.get(claim.sample_id)
        if sample is None:
            yield view.fail(f"No prompt has the sample id {claim.sample_id}.", at=claim.at)
        elif counts[claim.sample_id] > 1:
            yield view.fail(f"{claim.sample_id} stands in the report {counts[claim.sample_id]} times.", at=claim.at)
        elif sample.text is None:
            yield view.open(
                f"The text of {claim.sample_id} is not known, so its round trip cannot be recomputed.", at=claim.at
            )
        else:
            yield from _compare(view, claim, sample)


def _compare(view: View, claim: ConformanceSample, sample: Retokenized) -> Iterator[Result]:
    if claim.token_ids != sample.token_ids:
        yield view.fail(
            f"The report has other tokens for {claim.sample_id} than the tokenizer gives.",
            at=claim.at,
            expected=list(sample.token_ids[:16]),
            actual=list(claim.token_ids[:16]),
        )
    elif claim.decoded != sample.decoded:
        yield view.fail(
            f"The report has another decoded text for {claim.sample_id} than the tokenizer gives.",
            at=claim.at,
            expected=_around(sample.decoded, claim.decoded),
            actual=_around(claim.decoded, sample.decoded),
        )
    if claim.round_trip != sample.round_trip:
        yield view.fail(
            f"The report is wrong about the round trip of {claim.sample_id}.",
            at=claim.at,
            expected=str(sample.round_trip).lower(),
            actual=str(claim.round_trip).lower(),
        )


def _around(text: str, other: str) -> str:
    first = next((n for n, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), min(len(text), len(other)))
    return f"{text[first : first + 24]!r} at character {first}"

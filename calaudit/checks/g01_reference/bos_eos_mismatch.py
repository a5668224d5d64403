"""All files mean the same tokens by BOS and EOS, and say truly which of them are added.

Why: A port that stops at another token than the reference never stops, or stops in mid-sentence; and one BOS more or
less at the front changes every logit.
Fix: Correct the file that is wrong (config.json, generation_config.json, tokenizer_config.json, tokenizer.json or the
conformance report) and run the reference again where the tokens change.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.g01_reference._parts import in_parts
from calaudit.facts.source.limits import LimitsFact
from calaudit.facts.source.manifest import CONFIG
from calaudit.facts.tokens.conformance import CONFORMANCE, ConformanceFact
from calaudit.facts.tokens.special_tokens import TOKENIZER_CONFIG, SpecialTokensFact
from calaudit.facts.tokens.tokenizer import TokenizerFact
from calaudit.model import Location, Result

KINDS = ("bos", "eos")


@check("bos-eos-mismatch", gate="G1")
def bos_eos_mismatch(view: View) -> Iterator[Result]:
    """Compare the configurations with each other, with the tokenizer and with the report."""
    yield from in_parts(view, _faults, _configs, _tokenizer, _report)


def _faults(view: View) -> Iterator[Result]:
    special = view.fact(SpecialTokensFact)
    for at, fault in special.faults:
        yield view.fail(fault, at=at)
    view.saw()
    if not special.stop_ids:
        yield view.fail("No file names an end token: greedy generation would never stop by itself.", at=CONFIG)


def _configs(view: View) -> Iterator[Result]:
    special, vocab = view.fact(SpecialTokensFact), view.fact(LimitsFact).vocab
    for kind in KINDS:
        named = special.ids[kind]
        for where in view.each(named):
            if any(i >= vocab for i in where.ids):
                yield view.fail(
                    f"The {kind.upper()} id is outside the vocabulary.",
                    at=where.at,
                    expected=f"below {vocab}",
                    actual=max(where.ids),
                )
        if len(named) > 1 and not set(named[0].ids) <= set(named[1].ids):
            yield view.fail(
                f"generation_config.json has another {kind.upper()} than config.json.",
                at=named[1].at,
                expected=f"with {list(named[0].ids)}",
                actual=list(named[1].ids),
            )


def _tokenizer(view: View) -> Iterator[Result]:
    special, tokenizer = view.fact(SpecialTokensFact), view.fact(TokenizerFact)
    for kind, added in zip(KINDS, (tokenizer.prefix, tokenizer.suffix), strict=True):
        named = special.tokens[kind]
        claim = special.adds[kind]
        token_id = None if named is None else tokenizer.vocab.get(named.token)
        if named is not None and token_id is None:
            yield view.fail(f"{named.token!r} is no token of tokenizer.json.", at=named.at)
        if claim is not None and claim != (token_id in added):
            yield view.fail(
                f"tokenizer.json {'adds' if token_id in added else 'does not add'} {kind.upper()} to a text.",
                at=Location(path=TOKENIZER_CONFIG, pointer=f"/add_{kind}_token"),
                expected=str(token_id in added).lower(),
                actual=str(claim).lower(),
            )
        for where in special.ids[kind] if token_id is not None else ():
            view.saw()
            if token_id not in where.ids:
                yield view.fail(
                    f"The {kind.upper()} of tokenizer_config.json has another id.",
                    at=where.at,
                    expected=token_id,
                    actual=list(where.ids),
                )


def _report(view: View) -> Iterator[Result]:
    report = view.fact(ConformanceFact).document
    special, tokenizer = view.fact(SpecialTokensFact), view.fact(TokenizerFact)
    for kind, added in zip(KINDS, (tokenizer.prefix, tokenizer.suffix), strict=True):
        named = special.tokens[kind]
        expected = None
        if named is not None:
            token_id = tokenizer.vocab.get(named.token)
            expected = {"token": named.token, "id": token_id, "added": token_id in added}
        view.saw()
        if report[kind] != expected:
            yield view.fail(
                f"The report is wrong about {kind.upper()}.",
                at=Location(path=CONFORMANCE, pointer=f"/{kind}"),
                expected=expected or "null",
                actual=report[kind] or "null",
            )

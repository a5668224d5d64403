"""The prompts really cover what they must: lengths, special tokens, scripts, code, digits, repetition.

Why: A model that answers a hundred easy sentences may still fail at the first Chinese one, at a special token or at
the last position of its context. A label does not exercise anything: texts and tokens are looked at.
Fix: Add prompts that show what is missing, tokenize their texts with 00-source/hf-config/tokenizer.json, and run the
reference again.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.g01_reference._parts import in_parts
from calaudit.facts.reference.coverage import CoverageFact
from calaudit.facts.reference.prompts import OVER_LENGTH, PROMPTS, PromptsFact
from calaudit.facts.source.limits import LimitsFact
from calaudit.facts.tokens.retokenized import RetokenizedFact
from calaudit.model import Result


@check("prompt-coverage", gate="G1")
def prompt_coverage(view: View) -> Iterator[Result]:
    """Count distinct prompts, compare tokens with texts, and look for each category."""
    yield from in_parts(view, _number, _lengths, _tokens, _categories)


def _number(view: View) -> Iterator[Result]:
    prompts = view.fact(PromptsFact)
    wanted = int(view.number("prompts_min"))
    view.saw(prompts.total)
    if prompts.distinct_legal < wanted:
        yield view.fail(
            "There are too few different legal prompts; a copy under another id does not count.",
            at=PROMPTS,
            expected=f"at least {wanted}",
            actual=prompts.distinct_legal,
        )


def _tokens(view: View) -> Iterator[Result]:
    for sample in view.fact(RetokenizedFact).samples:
        prompt = sample.prompt
        if sample.text is None:
            yield view.open(
                f"The text of {prompt.sample_id} is kept elsewhere, and its tokens do not spell a text of its digest.",
                at=prompt.at,
            )
        elif sample.token_ids != prompt.token_ids:
            yield view.fail(
                f"The tokenizer gives other tokens for the text of {prompt.sample_id}.",
                at=prompt.at,
                expected=_around(sample.token_ids, prompt.token_ids),
                actual=_around(prompt.token_ids, sample.token_ids),
            )


def _lengths(view: View) -> Iterator[Result]:
    prompts, context = view.fact(PromptsFact).by_id_in_order, view.fact(LimitsFact).context
    ratio, wanted = view.number("near_max_context_ratio"), view.number("prompts_per_category_min")
    near = sum(
        p.legal and p.category == "near-max-context" and ratio * context <= len(p.token_ids) <= context for p in prompts
    )
    if near < wanted:
        yield view.fail(
            "Too few prompts nearly fill the context.",
            at=PROMPTS,
            expected=f"at least {wanted:g} labelled near-max-context, of {ratio * context:g} to {context} tokens",
            actual=near,
        )
    over = sum(not p.legal and p.category == OVER_LENGTH and len(p.token_ids) > context for p in prompts)
    if over < wanted:
        yield view.fail(
            "Too few prompts really exceed the context.",
            at=PROMPTS,
            expected=f"at least {wanted:g} labelled over-length, of more than {context} tokens",
            actual=over,
        )


def _categories(view: View) -> Iterator[Result]:
    coverage = view.fact(CoverageFact)
    wanted = view.number("prompts_per_category_min")
    for category, shown in coverage.shown.items():
        if shown < wanted:
            yield view.fail(
                f"Too few prompts labelled {category} really show it.",
                at=PROMPTS,
                expected=f"at least {wanted:g}",
                actual=shown,
            )
    scripts = view.number("prompt_scripts_min")
    if len(coverage.scripts) < scripts:
        yield view.fail(
            "The multilingual prompts have letters of too few scripts.",
            at=PROMPTS,
            expected=f"at least {scripts:g}",
            actual=", ".join(coverage.scripts) or "none",
        )


def _around(left: tuple[int, ...], right: tuple[int, ...]) -> str:
    pairs = zip(left, right, strict=False)
    first = next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))
    return f"{len(left)} tokens, from token {first}: {list(left[first : first + 4])}"

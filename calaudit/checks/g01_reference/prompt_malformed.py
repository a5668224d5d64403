"""Every prompt is well-formed: its masks, positions and ids fit together, and its id is its own.

Why: A mask or a position that is off by one changes every logit after it, and a sample id that stands there twice
hides a prompt that is missing.
Fix: Write prompts.jsonl with the tokenizer of the model again: one id a prompt, and mask and positions as long as the
tokens.
"""

from collections import Counter
from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.g01_reference._parts import in_parts
from calaudit.facts.reference.prompts import OVER_LENGTH, Prompt, PromptsFact
from calaudit.facts.source.limits import LimitsFact
from calaudit.model import Result


@check("prompt-malformed", gate="G1")
def prompt_malformed(view: View) -> Iterator[Result]:
    """Look at every record by itself, then at ids within the vocabulary."""
    yield from in_parts(view, _shapes, _ids)


def _shapes(view: View) -> Iterator[Result]:
    prompts = view.fact(PromptsFact).prompts
    count = Counter(p.sample_id for p in prompts)
    seen: set[str] = set()
    for prompt in view.each(prompts):
        if prompt.sample_id in seen:
            yield view.fail(
                f"The sample id {prompt.sample_id} stands in {count[prompt.sample_id]} records; each needs its own.",
                at=prompt.at,
            )
        seen.add(prompt.sample_id)
        yield from _lengths(view, prompt)
        yield from _answer(view, prompt)


def _lengths(view: View, prompt: Prompt) -> Iterator[Result]:
    tokens = len(prompt.token_ids)
    if tokens == 0:
        yield view.fail(f"{prompt.sample_id} has no tokens.", at=prompt.at)
    for name, values in (("attention_mask", prompt.attention_mask), ("position_ids", prompt.position_ids)):
        if len(values) != tokens:
            yield view.fail(
                f"{name} of {prompt.sample_id} is not as long as its tokens.",
                at=prompt.at,
                expected=tokens,
                actual=len(values),
            )
            return
    if not all(prompt.attention_mask):
        yield view.fail(
            f"The attention mask of {prompt.sample_id} hides tokens; a reference prompt is not padded.",
            at=prompt.at,
            expected="only 1",
            actual=f"{prompt.attention_mask.count(0)} of {tokens} are 0",
        )
    if prompt.position_ids != tuple(range(tokens)):
        first = next(n for n, position in enumerate(prompt.position_ids) if position != n)
        yield view.fail(
            f"The positions of {prompt.sample_id} do not count from 0 by one.",
            at=prompt.at,
            expected=f"{first} for token {first}",
            actual=prompt.position_ids[first],
        )


def _answer(view: View, prompt: Prompt) -> Iterator[Result]:
    if prompt.legal and not prompt.expected:
        yield view.fail(f"{prompt.sample_id} is to be answered, but expects no tokens.", at=prompt.at)
    if not prompt.legal and prompt.expected:
        yield view.fail(f"{prompt.sample_id} is to be refused, but expects tokens.", at=prompt.at)
    if prompt.legal == (prompt.category == OVER_LENGTH):
        yield view.fail(
            f"{prompt.sample_id} is labelled {prompt.category}, but its expected refusal says otherwise.",
            at=prompt.at,
            expected="over-length exactly where expected_refusal is set",
        )


def _ids(view: View) -> Iterator[Result]:
    vocab = view.fact(LimitsFact).vocab
    for prompt in view.fact(PromptsFact).prompts:
        for what, ids in (("", prompt.token_ids), ("expected ", prompt.expected)):
            if ids and not 0 <= min(ids) <= max(ids) < vocab:
                yield view.fail(
                    f"An {what}token id of {prompt.sample_id} is outside the vocabulary."
                    if what
                    else f"A token id of {prompt.sample_id} is outside the vocabulary.",
                    at=prompt.at,
                    expected=f"0 to {vocab - 1}",
                    actual=max(ids),
                )

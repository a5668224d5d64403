"""A prompt that does not fit is refused, with a code, the limit and its length.

Why: A reference that quietly cuts a prompt short answers another question, and whoever compares with it finds
agreement about the wrong thing.
Fix: Let the reference refuse such a prompt: record {"refused": {"code": "context_length_exceeded", "limit",
"length"}} in outputs.jsonl for each precision, and mark the prompt with expected_refusal.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.g01_reference._parts import in_parts
from calaudit.facts.reference.prompts import Prompt, PromptsFact
from calaudit.facts.reference.runs import DTYPES, OUTPUTS, Output, OutputsFact
from calaudit.facts.source.limits import LimitsFact
from calaudit.model import Result

CODE = "context_length_exceeded"


@check("overlength-accepted", gate="G1")
def overlength_accepted(view: View) -> Iterator[Result]:
    """Compare token counts with the limit, in the corpus and in the outputs."""
    yield from in_parts(view, _corpus, _outputs)


def _corpus(view: View) -> Iterator[Result]:
    limit = view.fact(LimitsFact).context
    for prompt in view.fact(PromptsFact).prompts:
        length = len(prompt.token_ids)
        if length > limit or prompt.refusal is not None:
            view.saw()
        if prompt.refusal is None and length > limit:
            yield view.fail(
                f"{prompt.sample_id} does not fit, but is to be answered.",
                at=prompt.at,
                expected=f"expected_refusal with limit {limit}",
                actual=f"{length} tokens",
            )
        elif prompt.refusal is not None and length <= limit:
            yield view.fail(
                f"{prompt.sample_id} fits, but is to be refused.",
                at=prompt.at,
                expected=f"more than {limit} tokens",
                actual=f"{length} tokens",
            )
        elif prompt.refusal is not None and (prompt.refusal.code, prompt.refusal.limit) != (CODE, limit):
            yield view.fail(
                f"The expected refusal of {prompt.sample_id} is another.",
                at=prompt.at,
                expected=f"{CODE}, limit {limit}",
                actual=f"{prompt.refusal.code}, limit {prompt.refusal.limit}",
            )


def _outputs(view: View) -> Iterator[Result]:
    limit = view.fact(LimitsFact).context
    outputs = view.fact(OutputsFact)
    for prompt in view.fact(PromptsFact).by_id_in_order:
        if len(prompt.token_ids) <= limit:
            continue
        for dtype in view.each(DTYPES):
            found = outputs.grouped.get((prompt.sample_id, dtype), ())
            if not found:
                yield view.open(f"Nothing shows that {prompt.sample_id} was refused in {dtype}.", at=OUTPUTS)
            for output in found:
                yield from _refusal(view, prompt, output, limit)


def _refusal(view: View, prompt: Prompt, output: Output, limit: int) -> Iterator[Result]:
    refused, length = output.refused, len(prompt.token_ids)
    if refused is None:
        yield view.fail(
            f"{prompt.sample_id} does not fit, but was answered in {output.dtype}.",
            at=output.at,
            expected=f"a refusal: {length} tokens, limit {limit}",
            actual=f"{len(output.steps)} generated token(s)",
        )
    elif (refused.code, refused.limit, refused.length) != (CODE, limit, length):
        yield view.fail(
            f"{prompt.sample_id} was refused for another reason than it has.",
            at=output.at,
            expected=f"{CODE}, limit {limit}, length {length}",
            actual=f"{refused.code}, limit {refused.limit}, length {refused.length}",
        )

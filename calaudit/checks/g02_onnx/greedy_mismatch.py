"""The model generates the reference's FP32 tokens for every legal prompt.

Why: This is what a user sees; one other token is another answer.
Fix: Compare the logits at the first token that differs, then the tensors of that prompt boundary by boundary.

The token of each step is recomputed from the stored logits: the highest, of equal ones the lowest id. Prompts that
must be refused are exempt, but must not have been answered.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.onnx.results import OUTPUTS, OnnxOutputs
from calaudit.facts.reference.prompts import Prompt, PromptsFact
from calaudit.facts.reference.runs import FLOAT32, Output, OutputsFact, Step
from calaudit.model import Result


@check("greedy-mismatch", gate="G2", unwaivable=True)
def greedy_mismatch(view: View) -> Iterator[Result]:
    """Compare prompt by prompt and step by step."""
    prompts, found, reference = view.fact(PromptsFact), view.fact(OnnxOutputs), view.fact(OutputsFact)
    seen: set[str] = set()
    for record in found.outputs:
        if record.sample_id in seen:
            yield view.fail(
                f"The sample {record.sample_id!r} stands there twice: two readings of one result.", at=record.at
            )
        seen.add(record.sample_id)
        prompt = prompts.by_id.get(record.sample_id)
        if prompt is None:
            yield view.fail(f"The corpus has no sample {record.sample_id!r}.", at=record.at)
        elif not prompt.legal and record.refused is None:
            yield view.fail(f"The prompt {record.sample_id!r} is too long, yet it was answered.", at=record.at)
    for prompt in view.each(prompts.legal):
        wanted = reference.by_key.get((prompt.sample_id, FLOAT32))
        answer = found.by_id.get(prompt.sample_id)
        if wanted is None:
            yield view.open(f"The reference has no FP32 output for {prompt.sample_id!r}.", at=prompt.at)
        elif answer is None:
            yield view.fail(f"The ONNX run has no output for {prompt.sample_id!r}.", at=OUTPUTS)
        else:
            yield from _compare(view, prompt, wanted, answer)
    fewest = int(view.number("greedy_prompts_min"))
    if prompts.distinct_legal < fewest:
        yield view.fail(
            "Too few different prompts are compared.",
            at=OUTPUTS,
            expected=f"at least {fewest}",
            actual=prompts.distinct_legal,
        )


def _compare(view: View, prompt: Prompt, wanted: Output, answer: Output) -> Iterator[Result]:
    name = prompt.sample_id
    if answer.dtype != FLOAT32:
        yield view.fail(f"{name!r} was not run in FP32.", at=answer.at, expected=FLOAT32, actual=answer.dtype)
    if answer.refused is not None or wanted.refused is not None:
        yield view.fail(f"The legal prompt {name!r} was refused.", at=answer.at)
        return
    if not wanted.steps:
        yield view.open(f"The reference generated no token for {name!r}, so nothing is compared.", at=wanted.at)
    for number, step in enumerate(answer.steps):
        if step.token != argmax(step):
            yield view.fail(
                f"{name!r}, step {number}: the token is not the one with the highest stored logit.",
                at=answer.at,
                expected=argmax(step),
                actual=step.token,
            )
            return
    if answer.tokens != wanted.tokens:
        at = next((n for n, (a, b) in enumerate(zip(answer.tokens, wanted.tokens, strict=False)) if a != b), None)
        where = "in number" if at is None else f"from step {at}"
        expected, actual = _shown(wanted.tokens), _shown(answer.tokens)
        yield view.fail(f"{name!r}: the tokens differ {where}.", at=answer.at, expected=expected, actual=actual)
    elif answer.tokens != prompt.expected:
        expected, actual = _shown(prompt.expected), _shown(answer.tokens)
        yield view.fail(f"{name!r}: the corpus expects other tokens.", at=answer.at, expected=expected, actual=actual)


def argmax(step: Step) -> int | None:
    """The token with the highest stored logit; of equal ones the lowest id. None where nothing is stored."""
    return min(step.top, key=lambda pair: (-pair[1], pair[0]))[0] if step.top else None


def _shown(tokens: tuple[int, ...]) -> str:
    return " ".join(str(t) for t in tokens[:32]) + (" …" if len(tokens) > 32 else "")

"""Every legal prompt is answered in FP32 and in BF16, to the end, and all files tell the same tokens.

Why: What the reference did not answer, nothing later can be compared with; and an answer that stops early hides the
steps at which a port goes wrong.
Fix: Run the reference over the whole corpus in both precisions, and write outputs.jsonl, tokens.jsonl and the
expected tokens of prompts.jsonl from that one run.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.g01_reference._parts import few, in_parts
from calaudit.facts.reference.prompts import PromptsFact
from calaudit.facts.reference.runs import (
    DTYPES,
    FLOAT32,
    OUTPUTS,
    REPORT,
    TOKENS,
    Output,
    OutputsFact,
    ReportFact,
    TokensFact,
)
from calaudit.facts.source.limits import LimitsFact
from calaudit.facts.tokens.special_tokens import SpecialTokensFact
from calaudit.model import Location, Result


@check("outputs-incomplete", gate="G1")
def outputs_incomplete(view: View) -> Iterator[Result]:
    """Match prompts with outputs, outputs with tokens, and every answer with the rule by which it may stop."""
    yield from in_parts(view, _outputs, _expected, _tokens, _ends)


def _outputs(view: View) -> Iterator[Result]:
    prompts, outputs = view.fact(PromptsFact), view.fact(OutputsFact)
    for dtype in DTYPES:
        found = {p.sample_id: outputs.by_key.get((p.sample_id, dtype)) for p in view.each(prompts.legal)}
        missing = [sample_id for sample_id, output in found.items() if output is None]
        if missing:
            yield view.fail(
                f"{len(missing)} legal prompt(s) have no {dtype} output: {few(missing)}.",
                at=OUTPUTS,
                expected=f"{len(found)} outputs",
                actual=len(found) - len(missing),
            )
        for output in found.values():
            if output is not None and output.refused is not None:
                yield view.fail(f"The legal prompt {output.sample_id} was refused in {dtype}.", at=output.at)
    for output in outputs.outputs:
        if output.sample_id not in prompts.by_id:
            yield view.fail(f"No prompt has the sample id {output.sample_id}.", at=output.at)
        elif outputs.by_key[output.sample_id, output.dtype] is not output:
            yield view.fail(f"This is a second {output.dtype} output of {output.sample_id}.", at=output.at)


def _expected(view: View) -> Iterator[Result]:
    outputs = view.fact(OutputsFact).by_key
    for prompt in view.fact(PromptsFact).legal:
        output = outputs.get((prompt.sample_id, FLOAT32))
        if output is not None and output.refused is None and output.tokens != prompt.expected:
            yield view.fail(
                f"The expected tokens of {prompt.sample_id} are not those of the FP32 output.",
                at=prompt.at,
                expected=list(output.tokens),
                actual=list(prompt.expected),
            )


def _tokens(view: View) -> Iterator[Result]:
    tokens, outputs = view.fact(TokensFact), view.fact(OutputsFact)
    answered = [o for o in outputs.by_key.values() if o.refused is None]
    missing = [f"{o.sample_id} ({o.dtype})" for o in answered if (o.sample_id, o.dtype) not in tokens.grouped]
    if missing:
        yield view.fail(f"{len(missing)} output(s) have no record in tokens.jsonl: {few(missing)}.", at=TOKENS)
    strays = []
    for key, records in tokens.grouped.items():
        output = outputs.by_key.get(key)
        for record in records[1:]:
            yield view.fail(f"This is a second {record.dtype} record of {record.sample_id}.", at=record.at)
        record = records[0]
        if output is None or output.refused is not None:
            strays.append(f"{record.sample_id} ({record.dtype})")
        elif record.token_ids != output.tokens:
            yield view.fail(
                f"The {record.dtype} tokens of {record.sample_id} are not those of outputs.jsonl.",
                at=record.at,
                expected=list(output.tokens),
                actual=list(record.token_ids),
            )
    if strays:
        yield view.fail(f"{len(strays)} record(s) in tokens.jsonl are of no output: {few(strays)}.", at=TOKENS)


def _ends(view: View) -> Iterator[Result]:
    report, special, limits = view.fact(ReportFact), view.fact(SpecialTokensFact), view.fact(LimitsFact)
    if not report.greedy:
        at = Location(path=REPORT, pointer="/generation/greedy")
        yield view.fail("The tokens were not chosen greedily.", at=at, expected="true", actual="false")
    prompts = view.fact(PromptsFact).by_id
    for output in view.fact(OutputsFact).outputs:
        prompt = prompts.get(output.sample_id)
        room = limits.context - len(prompt.token_ids) + 1 if prompt is not None else 0
        if output.refused is None and room > 0:
            yield from _end(view, output, special.stop_ids, min(report.max_new_tokens, room))


def _end(view: View, output: Output, stop_ids: tuple[int, ...], budget: int) -> Iterator[Result]:
    tokens = output.tokens
    stop = next((n for n, token in enumerate(tokens) if token in stop_ids), None)
    expected = budget if stop is None else min(budget, stop + 1)
    if len(tokens) != expected:
        why = "it goes on after the end token" if len(tokens) > expected else "it ends early"
        yield view.fail(
            f"The {output.dtype} output of {output.sample_id} has the wrong number of steps: {why}.",
            at=output.at,
            expected=f"{expected} (up to an end token, max_new_tokens or a full context)",
            actual=len(tokens),
        )

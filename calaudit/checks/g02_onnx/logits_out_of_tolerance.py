"""The highest logits of every generated token are near the reference's, and no copy of them.

Why: Equal tokens need only the order of two logits. Whether the model computes what the reference computes is seen in
the values, and tensors are kept for a few prompts only.
Fix: Run `calaudit onnx compare` again; where logits differ, compare the tensors of that prompt boundary by boundary.

Steps are compared up to the first at which the tokens differ: behind it the two saw other inputs. FP32 sums in another
order seldom agree in a whole step to the last bit: a run whose logits often do was not made by this graph, or the
reference was, and then the two are one witness.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.g02_onnx._compare import tolerance
from calaudit.facts.onnx.results import OUTPUTS, OnnxOutputs
from calaudit.facts.reference.bf16 import likeness, top_differences
from calaudit.facts.reference.prompts import PromptsFact
from calaudit.facts.reference.runs import FLOAT32, Output, OutputsFact
from calaudit.model import Result


@check("logits-out-of-tolerance", gate="G2", unwaivable=True)
def logits_out_of_tolerance(view: View) -> Iterator[Result]:
    """Compare the stored logits of every step that both sides took from the same input."""
    limits = tolerance(view)
    if limits is None:
        yield view.open("The tolerances of the contract are not finite and positive, so nothing can be compared.")
        return
    found, reference = view.fact(OnnxOutputs).by_id, view.fact(OutputsFact).by_key
    pairs = []
    for prompt in view.fact(PromptsFact).legal:
        answer, wanted = found.get(prompt.sample_id), reference.get((prompt.sample_id, FLOAT32))
        if answer is None or wanted is None:
            continue  # greedy-mismatch says so
        yield from _judge(view, answer, wanted, limits)
        pairs.append((answer, wanted))
    like, most = likeness(pairs), (view.number("equal_logits_max"), view.number("equal_values_max"))
    if like.digests > most[0] or like.values > most[1]:
        yield view.fail(
            f"Of {like.steps} steps too many have the very logits of the reference: a copy, or one computation "
            "under two names. Run the graph itself.",
            at=OUTPUTS,
            expected=f"at most {most[0]:.0%} of the digests and {most[1]:.0%} of the kept logits are equal",
            actual=f"{like.digests:.1%} and {like.values:.1%}",
        )


def _judge(view: View, answer: Output, wanted: Output, limits: tuple[float, float]) -> Iterator[Result]:
    atol, rtol = limits
    for number, (step, expected) in enumerate(zip(answer.steps, wanted.steps, strict=False)):
        view.saw()
        bound = atol + rtol * max(abs(logit) for _, logit in expected.top)
        worst, token = max(top_differences(step, expected))
        if not worst <= bound:
            yield view.fail(
                f"{answer.sample_id!r}, step {number}: the logit of token {token} is not the reference's.",
                at=answer.at,
                expected=f"|difference| <= {bound:.6g}",
                actual=f"at least {worst:.6g}",
            )
            return
        if step.token != expected.token:
            return

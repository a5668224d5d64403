"""At every boundary length prefill and decode give the reference's logits, and each other's.

Why: Both profiles are one model; where they disagree one of them is wrong, and a user sees it as soon as a prompt is
that long.
Fix: Compare masks, positions and cache layout of the two profiles at the length that differs; correct the export
wrapper.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.g02_onnx._boundaries import logits_of, wanted_cases
from calaudit.checks.g02_onnx._compare import judge_pair, tolerance
from calaudit.errors import MissingFact
from calaudit.facts.onnx.results import MATRIX, BoundaryCase
from calaudit.facts.reference.prompts import PromptsFact
from calaudit.facts.tensors.index import GoldenTensors, OnnxTensors, TensorEntry
from calaudit.facts.tensors.pairs import TensorPairs
from calaudit.model import Result


@check("boundary-shape-mismatch", gate="G2", unwaivable=True)
def boundary_shape_mismatch(view: View) -> Iterator[Result]:
    """Compare three pairs a length: prefill and decode with their goldens, and with one another."""
    limits = tolerance(view)
    if limits is None:
        yield view.open("The tolerances of the contract are not finite and positive, so nothing can be compared.")
        return
    golden, onnx = view.fact(GoldenTensors).index.by_key, view.fact(OnnxTensors).index.by_key
    found: dict[int, dict[str, tuple[BoundaryCase, TensorEntry]]] = {}
    for length, profile, case in wanted_cases(view):
        sides = (onnx.get(logits_of(case)), golden.get(logits_of(case))) if case else (None, None)
        if case is None or sides[0] is None or sides[1] is None:
            told = f"The logits of {profile} at {length} tokens are missing (boundary-shape-missing)."
            yield view.open(told, at=case.at if case else MATRIX)
            continue
        view.saw()
        found.setdefault(length, {})[profile] = (case, sides[0])
        title = f"{profile} at {length} tokens"
        yield from judge_pair(view, (sides[0], sides[1]), limits, f"{title} is not the reference")
    for length, both in found.items():
        if "prefill" in both and "decode" in both and both["prefill"][0].sample_id == both["decode"][0].sample_id:
            view.saw()
            title = f"decode and prefill disagree at {length} tokens"
            yield from judge_pair(view, (both["decode"][1], both["prefill"][1]), limits, title, argmax=True)
            yield from _copied(view, both["decode"], both["prefill"][1], length)
        else:
            told = f"Prefill and decode at {length} tokens cannot be compared: they are not of one sample."
            yield view.open(told, at=MATRIX)


def _copied(
    view: View, decode: tuple[BoundaryCase, TensorEntry], prefill: TensorEntry, length: int
) -> Iterator[Result]:
    """Sums in another order never agree in most values, unless there was nothing to add up: one token, or one kind."""
    case, entry = decode
    prompt, most = view.fact(PromptsFact).by_id.get(case.sample_id), view.number("equal_values_max")
    if prompt is None or len(set(prompt.token_ids)) < 2:
        return
    try:
        share = view.fact(TensorPairs).equal_share(entry, prefill)
    except MissingFact:
        return  # judge_pair says so
    if share > most:
        yield view.fail(
            f"At {length} tokens decode has the very values of prefill, so nothing was decoded; run the graph with the "
            "cache.",
            at=entry.at,
            expected=f"at most {most:.0%} equal values",
            actual=f"{share:.0%}",
        )

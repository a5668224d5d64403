"""Every boundary length was run in both profiles, on both sides.

Why: Errors live at the boundaries: one token, a full tile, one less than the context. What was not run there is not
known.
Fix: Add the case to configs/shape-matrix.yaml, then run the reference and `calaudit onnx compare` again.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.g02_onnx._boundaries import logits_of, wanted_cases
from calaudit.facts.onnx.results import MATRIX, ShapeMatrix
from calaudit.facts.reference.prompts import PROMPTS, PromptsFact
from calaudit.facts.tensors.index import GOLDEN_INDEX, ONNX_INDEX, GoldenTensors, OnnxTensors
from calaudit.model import Location, Result


@check("boundary-shape-missing", gate="G2")
def boundary_shape_missing(view: View) -> Iterator[Result]:
    """Compare the boundary lengths of the contract with the matrix, and the matrix with prompts and tensors."""
    for length, profile, case in view.each(wanted_cases(view)):
        if case is None:
            at = Location(path=MATRIX, pointer="/cases")
            yield view.fail(
                f"No case runs {profile} at {length} tokens.", at=at, expected=f"{profile} at {length}", actual="absent"
            )
    sides = [(GOLDEN_INDEX, view.fact(GoldenTensors).index.by_key), (ONNX_INDEX, view.fact(OnnxTensors).index.by_key)]
    prompts = view.fact(PromptsFact).by_id
    for case in view.each(view.fact(ShapeMatrix).cases):
        prompt = prompts.get(case.sample_id)
        if prompt is None:
            yield view.fail(f"{PROMPTS} has no sample {case.sample_id!r}.", at=case.at)
        elif len(prompt.token_ids) != case.length:
            yield view.fail(
                f"The sample {case.sample_id!r} has another length.",
                at=case.at,
                expected=case.length,
                actual=len(prompt.token_ids),
            )
        for path, index in sides:
            if logits_of(case) not in index:
                yield view.fail(f"{path} has no {logits_of(case)}.", at=case.at)

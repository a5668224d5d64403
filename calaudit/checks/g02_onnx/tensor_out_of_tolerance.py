"""Every tensor of the ONNX run is within tolerance of the reference's, and they are no copies.

Why: Equal tokens on a hundred prompts hide errors that flip the hundred and first; tensors show them where they arise.
Tensors that were copied show nothing: FP32 sums in another order agree in few of their values.
Fix: Find the first boundary (in graph order) that differs, and correct the export of the layer before it.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.g02_onnx._compare import judge_pair, tolerance
from calaudit.errors import MissingFact
from calaudit.facts.tensors.ends import EMBEDDING
from calaudit.facts.tensors.index import ONNX_INDEX
from calaudit.facts.tensors.pairs import TensorPairs
from calaudit.model import Result


@check("tensor-out-of-tolerance", gate="G2", unwaivable=True)
def tensor_out_of_tolerance(view: View) -> Iterator[Result]:
    """Compare every key that both sides have; ``golden-coverage`` reports the others."""
    limits = tolerance(view)
    if limits is None:
        yield view.open("The tolerances of the contract are not finite and positive, so nothing can be compared.")
        return
    for pair in view.each(view.fact(TensorPairs).pairs):
        yield from judge_pair(view, pair, limits, "The tensor differs from the reference")
    yield from _copies(view)


def _copies(view: View) -> Iterator[Result]:
    """An embedding is looked up, not computed: it is equal by rights."""
    pairs, most = view.fact(TensorPairs), view.number("equal_values_max")
    shares = []
    for found, wanted in pairs.pairs:
        if found.key.name != EMBEDDING:
            try:
                shares.append(pairs.equal_share(found, wanted))
            except MissingFact:
                continue  # judge_pair says so
    copied = sum(share > most for share in shares)
    if copied > most * len(shares):
        yield view.fail(
            f"{copied} of {len(shares)} computed tensors have the very values of the reference: copies. Run the graph "
            "itself.",
            at=ONNX_INDEX,
            expected=f"at most {most:.0%} of them with more than {most:.0%} equal values",
            actual=f"{copied / len(shares):.0%}",
        )

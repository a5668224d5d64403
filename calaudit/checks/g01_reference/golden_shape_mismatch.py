"""Every golden tensor has the shape that its prompt and the architecture give it.

Why: A tensor of another prompt, of a padded batch or of half a hidden state compares well with nothing, or, worse,
with a port that makes the same mistake.
Fix: Dump [1, tokens, hidden] at every boundary and [1, 1, vocab] of the logits, the last position only.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.reference.prompts import PromptsFact
from calaudit.facts.source.limits import LimitsFact
from calaudit.facts.tensors.golden import LOGITS
from calaudit.facts.tensors.index import GoldenTensors
from calaudit.model import Location, Result


@check("golden-shape-mismatch", gate="G1")
def golden_shape_mismatch(view: View) -> Iterator[Result]:
    """Compare the shapes in the index with prompt length, width and vocabulary."""
    limits, prompts = view.fact(LimitsFact), view.fact(PromptsFact).by_id
    for entry in view.each(view.fact(GoldenTensors).index.tensors):
        prompt = prompts.get(entry.key.sample_id)
        if prompt is None:
            continue  # golden-boundary-missing says so
        tokens = len(prompt.token_ids) if entry.key.profile == "prefill" else 1
        expected = (1, 1, limits.vocab) if entry.key.name == LOGITS else (1, tokens, limits.hidden)
        if entry.shape != expected:
            yield view.fail(
                f"{entry.key} has not the shape of its prompt.",
                at=Location(path=entry.at.path, pointer=f"{entry.at.pointer}/shape"),
                expected=list(expected),
                actual=list(entry.shape),
            )

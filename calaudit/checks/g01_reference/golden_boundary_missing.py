"""There is a golden tensor at every boundary: every layer, both profiles, and every critical length.

Why: Where no tensor was kept, a wrong layer is found only by its consequences, far away; and a graph that is right
for short prompts may be wrong at the corners of its shapes.
A copy of another tensor is no tensor of its boundary.
Fix: Dump, for enough samples, every boundary of the architecture at step 0 (prefill) and step 1 (decode), and the
logits of a prompt of each boundary length in both profiles.
"""

from collections.abc import Iterator, Mapping

from calaudit.checks import View, check
from calaudit.checks.g01_reference._parts import few, in_parts
from calaudit.facts.reference.prompts import Prompt, PromptsFact
from calaudit.facts.source.limits import LimitsFact
from calaudit.facts.tensors.ends import EMBEDDING
from calaudit.facts.tensors.golden import LOGITS, GoldenFact
from calaudit.facts.tensors.index import GOLDEN_INDEX, GoldenTensors, TensorKey
from calaudit.model import Location, Result

MOMENTS = (("prefill", 0), ("decode", 1))
"""The profile and step at which every boundary is kept."""


@check("golden-boundary-missing", gate="G1")
def golden_boundary_missing(view: View) -> Iterator[Result]:
    """Compare the index with the architecture, the corpus and the boundary lengths."""
    yield from in_parts(view, _boundaries, _samples, _lengths, _copies)


def boundaries_of(layers: int) -> tuple[str, ...]:
    """The boundaries of a decoder with so many layers, in the order of computation."""
    return ("embedding", *(f"layers.{n}.output" for n in range(layers)), "norm", LOGITS)


def _boundaries(view: View) -> Iterator[Result]:
    index = view.fact(GoldenTensors).index
    required = boundaries_of(view.fact(LimitsFact).layers)
    missing = [name for name in view.each(required) if name not in index.boundaries]
    if missing:
        yield view.fail(
            f"The index lacks {len(missing)} of the model's boundaries: {few(missing)}.",
            at=Location(path=GOLDEN_INDEX, pointer="/boundaries"),
            expected=f"all {len(required)}",
            actual=len(required) - len(missing),
        )


def _samples(view: View) -> Iterator[Result]:
    index, prompts = view.fact(GoldenTensors).index, view.fact(PromptsFact)
    legal = {p.sample_id for p in prompts.legal}
    names = dict.fromkeys((*boundaries_of(view.fact(LimitsFact).layers), *index.boundaries))
    for entry in index.tensors:
        if entry.key.sample_id not in legal:
            yield view.fail(f"{entry.key.sample_id} is no legal prompt.", at=entry.at)
        if entry.key.name not in names:
            yield view.fail(f"{entry.key.name} is no boundary of the index.", at=entry.at)
    present = index.by_key
    complete = 0
    for sample_id in dict.fromkeys(e.key.sample_id for e in index.tensors if e.key.name != LOGITS):
        wanted = [
            TensorKey(name=name, sample_id=sample_id, profile=profile, step=step)
            for profile, step in MOMENTS
            for name in names
        ]
        missing = [str(key) for key in view.each(wanted) if key not in present]
        complete += sample_id in legal and not missing
        if missing:
            yield view.fail(f"{sample_id} lacks {len(missing)} golden tensor(s): {few(missing)}.", at=GOLDEN_INDEX)
    required = view.number("golden_samples_min")
    if complete < required:
        yield view.fail(
            "Too few samples have a golden tensor at every boundary, at step 0 (prefill) and step 1 (decode).",
            at=GOLDEN_INDEX,
            expected=f"at least {required:g}",
            actual=complete,
        )


def _lengths(view: View) -> Iterator[Result]:
    present = view.fact(GoldenTensors).index.by_key
    context = view.fact(LimitsFact).context
    lengths = sorted({*(n for n in _numbers(view) if n < context), context - 1})
    for length in view.each(lengths):
        samples = [p.sample_id for p in view.fact(PromptsFact).legal if len(p.token_ids) == length]
        if not samples:
            yield view.fail(
                f"No legal prompt has exactly {length} tokens, so that length has no golden logits.", at=GOLDEN_INDEX
            )
            continue
        for profile in ("prefill", "decode"):
            keys = [TensorKey(name=LOGITS, sample_id=s, profile=profile, step=0) for s in samples]
            if not any(key in present for key in keys):
                yield view.fail(
                    f"There are no golden logits of a prompt of {length} tokens in the {profile} profile.",
                    at=GOLDEN_INDEX,
                    expected=f"logits of {few(samples)}, {profile} step 0",
                )


def _copies(view: View) -> Iterator[Result]:
    prompts = view.fact(PromptsFact).by_id
    first: dict[str, TensorKey] = {}
    for tensor in view.fact(GoldenFact).tensors:
        key = tensor.entry.key
        if tensor.stats is None:
            continue  # golden-stats-mismatch says so
        other = first.setdefault(tensor.values_sha256, key)
        if other is not key and not _may_be_equal(key, other, prompts):
            yield view.fail(
                f"{key} has the very values of {other}: a copy. Dump each tensor where the model computes it.",
                at=tensor.entry.at,
                expected="values of its own",
                actual=tensor.entry.path,
            )


def _may_be_equal(one: TensorKey, other: TensorKey, prompts: Mapping[str, Prompt]) -> bool:
    """Whether two tensors are of one boundary after the same tokens; golden-logits-mismatch compares the profiles."""
    if one.name == other.name == EMBEDDING:
        return True  # one token has one embedding
    if (one.name, one.step) != (other.name, other.step):
        return False
    left, right = prompts.get(one.sample_id), prompts.get(other.sample_id)
    return one.sample_id == other.sample_id or (left and left.token_ids) == (right and right.token_ids)


def _numbers(view: View) -> Iterator[int]:
    values = view.params["boundary_lengths"]
    for value in values if isinstance(values, tuple) else ():
        if isinstance(value, int):
            yield value

"""The numbers of the ONNX report, computed again."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from calaudit.checks import View
from calaudit.checks.g02_onnx._boundaries import LOGITS
from calaudit.errors import MissingFact
from calaudit.facts.onnx.results import OnnxOutputs, OnnxReport, ShapeMatrix
from calaudit.facts.onnx.signature import OnnxSignature, Value
from calaudit.facts.reference.prompts import PromptsFact
from calaudit.facts.reference.runs import FLOAT32, OutputsFact
from calaudit.facts.tensors.golden import read_logits
from calaudit.facts.tensors.index import OnnxTensors, TensorKey
from calaudit.facts.tensors.pairs import TensorPairs
from calaudit.model import Result

_SAME = 1e-9
"""Relative difference up to which two floating-point numbers are one number that was summed in another order."""

_ALIASES = {"float": "float32", "double": "float64"}
"""How ONNX Runtime calls element types."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One value of the report, what it must be, and when it is that."""

    pointer: str
    title: str
    expected: object
    holds: Callable[[object], bool]


def claims(view: View) -> Iterator[Claim]:
    """Every claim of the report with the value that the evidence gives."""
    yield from _greedy(view)
    yield from _tensors(view)
    yield from _boundaries(view)
    signature = view.fact(OnnxSignature)
    for member, values in (("inputs", signature.inputs), ("outputs", signature.outputs)):
        yield Claim(
            pointer=f"/{member}",
            title=f"list of {member}",
            expected="; ".join(str(v) for v in values),
            holds=lambda said, values=values: _same_values(said, values),  # type: ignore[misc]
        )


def same(said: object, found: float) -> bool:
    """Whether a number of a document is the one that was computed; NaN never is."""
    return isinstance(said, int | float) and math.isclose(said, found, rel_tol=_SAME, abs_tol=1e-12)


def _equals(pointer: str, title: str, value: object) -> Claim:
    return Claim(pointer=pointer, title=title, expected=value, holds=lambda said: said == value)


def _close(pointer: str, title: str, value: float) -> Claim:
    return Claim(pointer=pointer, title=title, expected=value, holds=lambda said: same(said, value))


def _greedy(view: View) -> Iterator[Claim]:
    prompts, reference, found = view.fact(PromptsFact), view.fact(OutputsFact), view.fact(OnnxOutputs)
    mismatched = []
    for prompt in prompts.by_id_in_order:
        wanted, answer = reference.by_key.get((prompt.sample_id, FLOAT32)), found.by_id.get(prompt.sample_id)
        if wanted is None or answer is None or (answer.tokens, answer.refused) != (wanted.tokens, wanted.refused):
            mismatched.append(prompt.sample_id)
    samples = len(prompts.legal)
    yield _equals("/greedy/samples", "number of compared prompts", samples)
    yield _equals("/greedy/equal", "number of equal prompts", samples - len(mismatched))
    yield Claim(
        pointer="/greedy/mismatched",
        title="list of prompts that differ",
        expected=mismatched,
        holds=lambda said: isinstance(said, list) and sorted(map(str, said)) == sorted(mismatched),
    )


def _tensors(view: View) -> Iterator[Claim]:
    pairs = view.fact(TensorPairs)
    differences = {found.key: pairs.max_abs(found, wanted) for found, wanted in pairs.pairs}
    known = {key: value for key, value in differences.items() if value is not None}
    yield _equals("/tensors/compared", "number of compared tensors", len(known))
    largest = max(known.values(), default=0.0)
    yield _close("/tensors/max_abs_diff", "largest difference", largest)
    worst = [_key(key) for key, value in known.items() if same(value, largest)]
    yield Claim(
        pointer="/tensors/worst",
        title="tensor with the largest difference",
        expected=worst[0] if worst else None,
        holds=lambda said: said in worst if worst else said is None,
    )


def _key(key: TensorKey) -> dict[str, object]:
    return {"name": key.name, "sample_id": key.sample_id, "profile": key.profile, "step": key.step}


def _boundaries(view: View) -> Iterator[Claim]:
    pairs, rows = view.fact(TensorPairs), view.fact(OnnxReport).document["boundaries"]
    planned = sorted((c.profile, c.length, c.sample_id) for c in view.fact(ShapeMatrix).cases)
    listed = sorted((r["profile"], r["sequence_length"], r["sample_id"]) for r in rows)
    yield Claim(
        pointer="/boundaries",
        title="list of boundary cases",
        expected=", ".join(f"{p} {n} {s}" for p, n, s in planned),
        holds=lambda _: listed == planned,
    )
    by_key = {found.key: (found, wanted) for found, wanted in pairs.pairs}
    for index, row in enumerate(rows):
        key = TensorKey(name=LOGITS, sample_id=row["sample_id"], profile=row["profile"], step=0)
        value = pairs.max_abs(*by_key[key]) if key in by_key else None
        pointer, title = f"/boundaries/{index}/max_abs_diff", f"difference of {key.profile} at {row['sequence_length']}"
        yield _close(pointer, title, math.nan if value is None else value)


def _same_values(said: object, values: tuple[Value, ...]) -> bool:
    if not isinstance(said, list) or len(said) != len(values):
        return False
    for item, value in zip(said, values, strict=True):
        shape = value.shape or ()
        if item["name"] != value.name or _ALIASES.get(item["dtype"], item["dtype"]) != value.dtype:
            return False
        if len(item["shape"]) != len(shape):
            return False
        if any(
            isinstance(b, int) != isinstance(a, int) or (isinstance(b, int) and a != b)
            for a, b in zip(item["shape"], shape, strict=True)
        ):
            return False
    return True


def records(view: View) -> Iterator[Result]:
    """The margin of each step, and where the whole logits are kept, their digest and highest values."""
    tensors, pairs = view.fact(OnnxTensors).index.by_key, view.fact(TensorPairs)
    for record in view.each(view.fact(OnnxOutputs).outputs):
        for number, step in enumerate(record.steps):
            logits = sorted((value for _, value in step.top), reverse=True)
            if len(logits) < 2 or not same(step.margin, logits[0] - logits[1]):
                yield view.fail(
                    f"{record.sample_id!r}, step {number}: the margin is not the difference of the two highest logits.",
                    at=record.at,
                    expected=logits[0] - logits[1] if len(logits) > 1 else "two logits or more",
                    actual=step.margin,
                )
            profile = "prefill" if number == 0 else "decode"
            entry = tensors.get(TensorKey(name=LOGITS, sample_id=record.sample_id, profile=profile, step=number))
            if entry is not None:
                found = read_logits(pairs.values(entry))
                if found.sha256 != step.logits_sha256:
                    yield view.fail(
                        f"{record.sample_id!r}, step {number}: the digest is not that of the logits in {entry.path}.",
                        at=record.at,
                        expected=f"sha256 {found.sha256}",
                        actual=f"sha256 {step.logits_sha256}",
                    )
                elif step.top != found.top[: len(step.top)]:
                    yield view.fail(
                        f"{record.sample_id!r}, step {number}: the highest logits are not those in {entry.path}.",
                        at=record.at,
                        expected=list(found.top[: len(step.top)]),
                        actual=list(step.top),
                    )


def statistics(view: View) -> Iterator[Result]:
    """Minimum, maximum, mean and norm of every tensor of the ONNX run."""
    from calaudit.numerics import stats_of  # noqa: PLC0415 - heavy

    pairs = view.fact(TensorPairs)
    for entry in view.each(view.fact(OnnxTensors).index.tensors):
        try:
            found = stats_of(pairs.values(entry))
        except MissingFact as missing:
            yield view.open(missing.message, at=missing.at)
            continue
        for name, said in entry.stats.items():
            value = getattr(found, name)
            if not math.isclose(said, value, rel_tol=1e-6, abs_tol=1e-6 * max(1.0, abs(found.max), abs(found.min))):
                yield view.fail(
                    f"The {name} of {entry.key} is not that of its values.", at=entry.at, expected=value, actual=said
                )

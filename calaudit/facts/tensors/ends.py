"""Golden tensors beside what follows from the source: embedding, final norm and logits, computed again.

Between the two ends a tensor cannot be known without running the model. At the ends a few rows and one product say what
it must be: the embedding by the tokens, the norm by the last layer's output, the logits by the norm.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from calaudit.errors import Malformed, MissingFact
from calaudit.facts import Facts, internal
from calaudit.facts.reference.prompts import PromptsFact
from calaudit.facts.reference.runs import FLOAT32, OutputsFact
from calaudit.facts.source.ends import Ends, read_ends
from calaudit.facts.source.limits import LimitsFact
from calaudit.facts.tensors.golden import LOGITS
from calaudit.facts.tensors.index import GoldenTensors, TensorEntry, TensorKey, read_tensor

if TYPE_CHECKING:
    from calaudit.numerics import Array, Comparison

EMBEDDING, NORM = "embedding", "norm"
_ROWS = 1 << 13
"""Rows of the output head that are widened at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """A golden tensor, what it must be by ``made_of``, and any other thing that it may be instead."""

    entry: TensorEntry
    made_of: str
    found: "Array"
    wanted: tuple["Array", ...]

    def compare(self, atol: float, rtol: float) -> "Comparison":
        """How it differs from the nearest thing that it may be; ``atol`` is of the largest value, if that is below 1.

        An embedding has small values: beside a fixed tolerance all of them would be zero.
        """
        from calaudit.numerics import compare  # noqa: PLC0415 - heavy

        return min(
            (
                compare(self.found, wanted, atol=atol * min(1.0, max(float(abs(wanted).max()), 1e-9)), rtol=rtol)
                for wanted in self.wanted
            ),
            key=lambda result: result.violations,
        )


@dataclass(frozen=True, kw_only=True)
class GoldenEnds:
    """How many golden tensors could be computed again. ``unknown`` says why none, where none can be."""

    name: ClassVar[str] = "golden_ends"

    compared: int
    unknown: str | None
    ends: tuple[End, ...] = internal(default=())

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Compute them; MissingFact where index, prompts, config or weights cannot be read."""
        golden = _Golden(facts)
        source = read_ends(facts)
        if isinstance(source, str):
            return cls(compared=0, unknown=source)
        found = (*_embeddings(golden, source), *_norms(golden, source), *_logits(golden, source))
        nothing_known = not (source.embeddings or source.norms or source.heads)
        return cls(
            compared=len(found),
            unknown="What this model does at its ends is not known." if nothing_known else None,
            ends=found,
        )


class _Golden:
    """The golden tensors that can be read, each once."""

    def __init__(self, facts: Facts) -> None:
        self.entries = facts.get(GoldenTensors).index.by_key
        self.hidden, self.layers = facts.get(LimitsFact).hidden, facts.get(LimitsFact).layers
        self.prompts = facts.get(PromptsFact).by_id
        self._facts = facts
        self._known: dict[TensorKey, Array | None] = {}

    def called(self, name: str) -> Iterator[tuple[TensorEntry, "Array"]]:
        for key, entry in self.entries.items():
            if key.name == name and (values := self.values(key)) is not None:
                yield entry, values

    def values(self, key: TensorKey) -> "Array | None":
        """The values; None where there are none, which golden-stats-mismatch says."""
        if key not in self._known:
            try:
                found = read_tensor(self._facts.evidence, self.entries[key])
                self._known[key] = found if found.size and found.dtype.kind == "f" else None
            except (KeyError, Malformed, MissingFact):
                self._known[key] = None
        return self._known[key]

    def beside(self, key: TensorKey, name: str) -> "Array | None":
        """Another tensor of the same sample and moment."""
        return self.values(TensorKey(name=name, sample_id=key.sample_id, profile=key.profile, step=key.step))

    def tokens(self, key: TensorKey) -> tuple[int, ...]:
        """What was fed to the model; nothing where that is not known."""
        prompt = self.prompts.get(key.sample_id)
        if prompt is None or not prompt.token_ids or (key.profile == "prefill" and key.step > 0):
            return ()
        if key.step == 0:
            return prompt.token_ids if key.profile == "prefill" else prompt.token_ids[-1:]
        try:
            output = self._facts.get(OutputsFact).by_key.get((key.sample_id, FLOAT32))
        except MissingFact:  # other rules say so
            return ()
        return output.tokens[key.step - 1 : key.step] if output is not None else ()


def _embeddings(golden: _Golden, source: Ends) -> Iterator[End]:
    import numpy as np  # noqa: PLC0415 - heavy

    for entry, found in golden.called(EMBEDDING):
        tokens = golden.tokens(entry.key)
        tables = [t for t in source.embeddings if max(tokens, default=0) < t.tensor.shape[0]]
        if not tables or not tokens or found.shape != (1, len(tokens), golden.hidden):
            continue
        rows = [table[list(tokens)][None] for table in tables]
        wanted = tuple(np.multiply(row, scale, dtype="<f4") for row in rows for scale in source.scales)
        yield End(entry=entry, made_of="the source's embeddings of its tokens", found=found, wanted=wanted)


def _norms(golden: _Golden, source: Ends) -> Iterator[End]:
    import numpy as np  # noqa: PLC0415 - heavy

    last = f"layers.{golden.layers - 1}.output"
    for entry, found in golden.called(NORM):
        output = golden.beside(entry.key, last)
        if not source.norms or output is None or found.shape != output.shape or found.shape[-1:] != (golden.hidden,):
            continue
        weight = source.norms[0][:].astype(np.float64) + source.norm_offset
        with np.errstate(all="ignore"):
            wide = output.astype(np.float64)
            power = np.square(wide).mean(axis=-1, keepdims=True)
            wanted = tuple((wide / np.sqrt(power + e) * weight).astype("<f4") for e in source.epsilons)
        yield End(entry=entry, made_of=f"{last} and the source's last norm", found=found, wanted=wanted)


def _logits(golden: _Golden, source: Ends) -> Iterator[End]:
    import numpy as np  # noqa: PLC0415 - heavy

    pairs = []
    for entry, found in golden.called(LOGITS):
        norm = golden.beside(entry.key, NORM)
        if norm is not None and norm.shape[-1:] == (golden.hidden,):
            pairs.append((entry, found, norm.reshape(-1, golden.hidden)[-1].astype("<f4")))
    if not pairs or not source.heads:
        return
    inputs = np.stack([norm for _, _, norm in pairs]).T
    products = []
    with np.errstate(all="ignore"):
        for head in source.heads:
            starts = range(0, head.tensor.shape[0], _ROWS)
            product = np.concatenate([head[start : start + _ROWS] @ inputs for start in starts]) * source.logit_factor
            cap = source.logit_cap
            products.append(product if cap is None else cap * np.tanh(product / cap))
    for column, (entry, found, _) in enumerate(pairs):
        # A head may have more rows than the vocabulary, for the hardware's sake.
        last = found.reshape(-1, found.shape[-1])[-1]
        wanted = tuple(p[: last.size, column].astype("<f4") for p in products if len(p) >= last.size)
        if wanted:
            yield End(entry=entry, made_of="the golden norm and the source's output head", found=last, wanted=wanted)

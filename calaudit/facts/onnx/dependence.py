"""What an output takes the values of, as opposed to what it is merely made beside.

A tensor whose shape alone is asked for, that is multiplied with zero, or that stands in the branch never chosen, has no
part in the answer. Where tokens choose, it may or may not have one.
"""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property

from calaudit.facts.onnx.flow import Flow, Op, is_random
from calaudit.facts.onnx.kv import key_names
from calaudit.facts.onnx.positions import LAYOUT, POSITIONS

_BY_SHAPE = frozenset({"Shape", "Size", "ConstantOfShape", "EyeLike", "RandomNormalLike", "RandomUniformLike"})
_DECIDERS = {"Where": 1, "If": 1, "Loop": 2}
"""How many of the inputs, the first ones, decide what of the others is used."""

_MEETINGS = frozenset({"MatMul", "Einsum", "Attention"})
_ROTATING = LAYOUT | {"Add", "Sub", "Neg", "Mul", "Div", "Split", "RotaryEmbedding", "ScatterElements", "ScatterND"}
"""What there may be between the factor of a rotation and the product of queries and keys."""

_SCORING = LAYOUT | {"Add", "Sub", "Mul", "Div", "Where", "Tanh"}
"""What there may be between that product and its Softmax."""


@dataclass(frozen=True)
class Dependence:
    """The main graph's outputs and what decides them; ``uniform`` are stored tensors of which all values are alike."""

    flow: Flow
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    uniform: Mapping[str, bool]

    @cached_property
    def used(self) -> frozenset[str]:
        """Every value that an output takes the value of."""
        return frozenset(self.flow.back_by(self.outputs, self._values))

    def _values(self, op: Op) -> Iterable[str]:
        """What a node takes the values of."""
        if op.domain not in ("", "ai.onnx"):
            return op.reads
        if op.kind in _BY_SHAPE:
            return ()
        chosen = self.uniform.get(op.reads[0]) if op.kind == "Where" and op.reads else None
        if chosen is not None:
            return op.reads[1:2] if chosen else op.reads[2:3]
        if op.kind in ("Mul", "MatMul") and any(self.uniform.get(name) is False for name in op.reads):
            return ()
        return op.reads

    @cached_property
    def positional(self) -> frozenset[str]:
        """Constants, and what is made of nothing but these, position_ids and shapes: no token has a part in it."""
        found = {*self.flow.constants, POSITIONS}
        for op in self.flow.ops:
            if not is_random(op.kind) and (op.kind in _BY_SHAPE or all(n in found for n in op.reads if n)):
                found.update(op.makes)
        return frozenset(found)

    def rotates(self, name: str) -> bool:
        """Whether a constant is only a factor, taken by position, of what queries and keys are made of.

        Such are the tables of cosines and sines, and the frequencies that they are computed from. They are no weights,
        and no source has them. That their angles are right is what the compared logits say.
        """
        return name not in self._spoilt[1]

    @cached_property
    def _spoilt(self) -> tuple[AbstractSet[str], AbstractSet[str]]:
        """The used values that are more than scores, and those that are more than such a factor.

        Found from the outputs backwards. Scores are what goes into the Softmax of an attention and nowhere else;
        rotated is what such scores and the cache of keys are made of.
        """
        keys = {key_names(layer, self.inputs, self.outputs)[1] for layer in range(len(self.outputs))}
        scores, rotated, factors = set(self.outputs), set(self.outputs) - keys, set(self.outputs)
        for op in reversed(self.flow.ops):
            if self.used.isdisjoint(op.makes):
                continue
            to_scores, to_rotated, to_factors = (spoilt.isdisjoint(op.makes) for spoilt in (scores, rotated, factors))
            meeting = op.kind in _MEETINGS and self.flow.constants.isdisjoint(op.reads)
            for name in self._values(op):
                if op.kind != "Softmax" and not (op.kind in _SCORING and to_scores):
                    scores.add(name)
                if op.kind == "Attention" and meeting:
                    met = name not in op.reads[2:]
                else:
                    met = to_scores if meeting else op.kind in _ROTATING and to_rotated
                if not met:
                    rotated.add(name)
                turns = op.kind == "RotaryEmbedding" or (op.kind == "Mul" and name not in self.flow.constants)
                if not (to_factors if self.positional.issuperset(op.makes) else turns and to_rotated):
                    factors.add(name)
        return scores, factors

    def choices(self, weights: Iterable[str]) -> Iterator[Op]:
        """The nodes at which one of these weights may be left out.

        A mask chooses by position among the scores of attention. Any other choice has no part in a decoder: what it
        does in a run that was not recorded, nothing shows.
        """
        behind = self.flow.forward(weights, lambda op: op.kind in _BY_SHAPE)
        for op in self.flow.ops:
            count = _DECIDERS.get(op.kind, 0) if op.domain in ("", "ai.onnx") else 0
            fixed = op.kind == "Where" and not self.uniform.keys().isdisjoint(op.reads[:1])
            if not count or fixed or self.used.isdisjoint(op.makes):
                continue
            masks = self._spoilt[0].isdisjoint(op.makes) and self.positional.issuperset(op.reads[:count])
            if not (masks or self._guards_nan(op)) and not behind.isdisjoint(op.reads[count:]):
                yield op

    def _guards_nan(self, op: Op) -> bool:
        """Whether a Where replaces the NaN of one of its own branches, as exporters do behind a masked Softmax."""
        makers = [self.flow.maker[name] for name in op.reads[:1] if name in self.flow.maker]
        tested = {name for maker in makers if maker.kind == "IsNaN" for name in maker.reads[:1]}
        return op.kind == "Where" and not tested.isdisjoint(op.reads[1:])

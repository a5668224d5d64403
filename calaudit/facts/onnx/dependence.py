"""What an output takes the values of, as opposed to what it is merely made beside.

A tensor whose shape alone is asked for, that is multiplied with zero, or that stands in the branch never chosen, has no
part in the answer. Where tokens choose, it may or may not have one.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
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
_ROTATING = LAYOUT | {"Add", "Sub", "Neg", "Mul", "Div", "Split", "RotaryEmbedding"}
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
        seen, pending = {name}, [name]
        rotated: set[str] = set()
        while pending:
            value = pending.pop()
            if value in self.outputs:
                return False
            for op in self._valued_by(value):
                if self.positional.issuperset(op.makes):
                    pending += [out for out in op.makes if out not in seen]
                    seen.update(op.makes)
                elif op.kind == "RotaryEmbedding" or (op.kind == "Mul" and value not in self.flow.constants):
                    rotated.update(op.makes)
                else:
                    return False
        return bool(rotated) and self._meets(rotated)

    def _meets(self, rotated: set[str]) -> bool:
        """Whether all that is made of these values ends in scores of attention, or in the cache of keys."""
        keys = {key_names(layer, self.inputs, self.outputs)[1] for layer in range(len(self.outputs))}
        made = self.flow.forward(rotated, self._is_meeting)
        met = self._leads_to(made, _ROTATING, self._is_meeting)
        if not met or not keys.issuperset(made.intersection(self.outputs)):
            return False
        plain = {out for op in met if op.kind != "Attention" for out in op.makes}
        scores = self.flow.forward(plain, _is_softmax)
        fused = all(made.isdisjoint(op.reads[2:]) for op in met if op.kind == "Attention")
        ended = not plain or bool(self._leads_to(scores, _SCORING, _is_softmax))
        return fused and ended and scores.isdisjoint(self.outputs)

    def _leads_to(self, values: AbstractSet[str], through: Collection[str], end: Callable[[Op], bool]) -> list[Op]:
        """The ends that these values come to; none where they come to anything that is not on the way there."""
        found: list[Op] = []
        for op in {op.index: op for name in values for op in self._valued_by(name)}.values():
            if end(op):
                found.append(op)
            elif op.kind not in through:
                return []
        return found

    def _valued_by(self, name: str) -> Iterator[Op]:
        """The nodes that take the values of this one to an output."""
        for op in self.flow.readers.get(name, ()):
            if name in self._values(op) and not self.used.isdisjoint(op.makes):
                yield op

    def _is_meeting(self, op: Op) -> bool:
        return op.kind in _MEETINGS and self.flow.constants.isdisjoint(op.reads)

    def choices(self, weights: Iterable[str]) -> Iterator[Op]:
        """The nodes at which one of these weights may be left out.

        A choice by position and shape alone is what masks and scaled rotations make; it counts only where it is one of
        the weights themselves that is chosen.
        """
        behind = self.flow.forward(weights)
        for op in self.flow.ops:
            count = _DECIDERS.get(op.kind, 0) if op.domain in ("", "ai.onnx") else 0
            fixed = op.kind == "Where" and not self.uniform.keys().isdisjoint(op.reads[:1])
            if not count or fixed or self.used.isdisjoint(op.makes):
                continue
            deciding = set(filter(None, op.reads[:count]))
            free = self.flow.constants >= deciding or not (self.positional >= deciding or self._guards_nan(op))
            if any(name in behind and (free or name in self.flow.constants) for name in op.reads[count:]):
                yield op

    def _guards_nan(self, op: Op) -> bool:
        """Whether a Where replaces the NaN of one of its own branches, as exporters do behind a masked Softmax."""
        makers = [self.flow.maker[name] for name in op.reads[:1] if name in self.flow.maker]
        tested = {name for maker in makers if maker.kind == "IsNaN" for name in maker.reads[:1]}
        return op.kind == "Where" and not tested.isdisjoint(op.reads[1:])


def _is_softmax(op: Op) -> bool:
    return op.kind == "Softmax"

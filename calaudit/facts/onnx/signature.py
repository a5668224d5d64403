"""The model's inputs and outputs after shape inference, and what ``onnx.checker`` says.

Both run in process on the neutralised copy, and only after calaudit's own checks found nothing wrong with structure and
extents: native code sees neither garbage nor the file system.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from calaudit.errors import MissingFact
from calaudit.facts import Facts, internal
from calaudit.facts.onnx.cost import too_costly
from calaudit.facts.onnx.graph import OnnxGraph
from calaudit.facts.onnx.neutral import neutralise
from calaudit.facts.onnx.operands import Operands, read_operands
from calaudit.facts.onnx.proto import MODEL, text
from calaudit.facts.onnx.structure import OnnxStructure
from calaudit.facts.onnx.types import type_name
from calaudit.facts.onnx.weights import OnnxWeights
from calaudit.model import Location

if TYPE_CHECKING:
    from onnx import ModelProto, ValueInfoProto

_OVERRIDES_SINCE = 4
"""IR version since which the value of an initializer that is an input is only its default."""

Dim = int | str | None
"""A fixed size, a symbol, or unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """One input or output. ``shape`` is None where even the rank is unknown."""

    name: str
    dtype: str
    shape: tuple[Dim, ...] | None

    @property
    def fixed(self) -> bool:
        """Whether every dimension has a size."""
        return self.shape is not None and all(isinstance(dim, int) for dim in self.shape)

    def __str__(self) -> str:
        dims = "?" if self.shape is None else ", ".join("?" if d is None else str(d) for d in self.shape)
        return f"{self.name} {self.dtype}[{dims}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxSignature:
    """Inputs (without initializers) and outputs after shape inference. ``checker_error`` is None where all is well."""

    name: ClassVar[str] = "onnx_signature"

    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    checker_error: str | None
    replaceable: tuple[str, ...]
    """Initializers that are inputs too: who runs the model may feed other values in their place."""
    inputs: tuple[Value, ...] = internal()
    outputs: tuple[Value, ...] = internal()
    operands: dict[tuple[str, str], Operands] | None = internal()
    """With which element types each operator works; None where the checker refuses the graph."""

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Check the model and infer its shapes; MissingFact where that would show native code an unsound model."""
        if not facts.get(OnnxStructure).sound:
            raise MissingFact(f"{MODEL} is not a sound graph; see onnx-invalid.", at=Location(path=MODEL))
        weights = facts.get(OnnxWeights)
        if weights.inline_faults or weights.external.of("onnx-invalid"):
            raise MissingFact(f"{MODEL} holds tensors that cannot be; see onnx-invalid.", at=Location(path=MODEL))
        if weights.external.of("external-data-out-of-range"):
            raise MissingFact(
                f"{MODEL} has external tensors whose extents cannot be, so the checker is not shown it; see "
                "external-data-out-of-range.",
                at=Location(path=MODEL),
            )
        model = facts.get(OnnxGraph).model
        reason = too_costly(model)
        if reason is not None:
            raise MissingFact(f"{MODEL} is not shown to the checker: {reason}.", at=Location(path=MODEL))
        copy = neutralise(model)
        error = check_copy(copy)
        inputs = signature_inputs(model)
        outputs, operands = infer_values(copy) if error is None else ((), None)
        return cls(
            input_names=tuple(v.name for v in inputs),
            output_names=tuple(text(v.name) for v in model.graph.output),
            checker_error=error,
            replaceable=replaceable_initializers(model),
            inputs=inputs,
            outputs=outputs,
            operands=operands,
        )


def check_copy(copy: "ModelProto") -> str | None:
    """What ``onnx.checker`` with ``full_check`` says of a neutralised copy; None where it is content."""
    import onnx.checker  # noqa: PLC0415 - heavy

    try:
        onnx.checker.check_model(copy, full_check=True)
    except Exception as error:  # noqa: BLE001 - whatever the native checker raises is its answer, and no pass
        return " ".join(f"{type(error).__name__}: {error}".split())[:600]
    return None


def signature_inputs(model: "ModelProto") -> tuple[Value, ...]:
    """What the caller of the model has to feed: its inputs, without those that are initializers."""
    stored = _stored(model)
    return tuple(_value(v) for v in model.graph.input if v.name not in stored)


def replaceable_initializers(model: "ModelProto") -> tuple[str, ...]:
    """The initializers that are inputs too; before IR version 4 every one had to be, and none could be replaced."""
    if model.ir_version < _OVERRIDES_SINCE:
        return ()
    stored = _stored(model)
    return tuple(text(v.name) for v in model.graph.input if v.name in stored)


def _stored(model: "ModelProto") -> set[str]:
    return {t.name for t in model.graph.initializer} | {s.values.name for s in model.graph.sparse_initializer}


def infer_values(copy: "ModelProto") -> tuple[tuple[Value, ...], dict[tuple[str, str], Operands]]:
    """The outputs of a checked copy, their shapes inferred, and the element types that its operators work with."""
    import onnx.shape_inference  # noqa: PLC0415 - heavy

    inferred = onnx.shape_inference.infer_shapes(copy, check_type=True, strict_mode=False, data_prop=True)
    return tuple(_value(v) for v in inferred.graph.output), read_operands(inferred)


def _value(value: "ValueInfoProto") -> Value:
    name = text(value.name)
    kind = value.type.WhichOneof("value")
    if kind != "tensor_type":
        return Value(name=name, dtype=str(kind), shape=None)
    tensor = value.type.tensor_type
    shape = tuple(_dim(d) for d in tensor.shape.dim) if tensor.HasField("shape") else None
    return Value(name=name, dtype=type_name(tensor.elem_type), shape=shape)


def _dim(dim: object) -> Dim:
    match getattr(dim, "WhichOneof")("value"):  # noqa: B009 - a nested message class, imported nowhere here
        case "dim_value":
            return int(getattr(dim, "dim_value"))  # noqa: B009 - see above
        case "dim_param":
            return text(getattr(dim, "dim_param"))  # noqa: B009 - see above
    return None

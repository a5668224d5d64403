"""An exported decoder graph behind ONNX Runtime, as a :class:`~calaudit.harness.generation.Decoder`.

The graph takes ``input_ids``, ``position_ids`` and per layer ``past_key_i`` and ``past_value_i``, and gives ``logits``
and per layer ``present_key_i`` and ``present_value_i``. One thread, no graph optimisation: what runs is the graph that
was exported, and the same machine gives the same bits.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from numpy.typing import NDArray

from calaudit.errors import Malformed
from calaudit.facts.onnx.proto import parse_model
from calaudit.facts.onnx.types import type_name
from calaudit.harness.generation import Logits
from calaudit.model import Json

__all__ = ["LOGITS", "RUNTIME", "Array", "OnnxDecoder", "OnnxSequence"]

Array = NDArray[np.float32]

LOGITS = "logits"
RUNTIME: Mapping[str, Json] = {
    "name": "onnxruntime",
    "version": ort.__version__,
    "optimization": "disabled",
    "threads": 1,
}
"""What runs the graph, as it stands in ``onnx-report.json``."""

_INPUTS = ("input_ids", "position_ids")


class OnnxDecoder:
    """A session of one model. ``taps`` names values inside the graph that become outputs: boundary to value name."""

    def __init__(self, data: bytes, folder: Path, taps: Mapping[str, str]) -> None:
        """Load the model from its bytes; ``folder`` holds its external data.

        Raises:
            Malformed: the graph lacks an input, an output or a tapped value, or ONNX Runtime refuses it.
        """
        model = parse_model(data)
        self.signature: dict[str, Json] = {
            "inputs": [_value(v) for v in model.graph.input],
            "outputs": [_value(v) for v in model.graph.output],
        }
        self.taps = dict(taps)
        self.states = _states(model)
        _add_outputs(model, taps.values())
        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 4  # fatal only: what goes wrong is raised, and said once
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(folder))
        try:
            self.session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime's exceptions have no base of their own
            raise Malformed(f"ONNX Runtime {ort.__version__} cannot load the model: {_line(error)}") from error

    def begin(self) -> "OnnxSequence":
        """A new, empty sequence."""
        return OnnxSequence(self)


class OnnxSequence:
    """One growing sequence: its length and the key/value tensors to feed back."""

    def __init__(self, decoder: OnnxDecoder) -> None:
        self._decoder = decoder
        self._length = 0
        self._past = {name: np.zeros(shape, np.float32) for name, shape in decoder.states.items()}

    def feed(self, token_ids: Sequence[int]) -> Logits:
        """Append token ids; the logits ``[vocab]`` after the last of them."""
        logits = self.trace(token_ids, [LOGITS])[LOGITS]
        if logits.ndim != 3 or logits.shape[:2] != (1, 1):  # [batch, position, vocabulary]
            raise Malformed(f"logits have the shape {list(logits.shape)}; expected [1, 1, V], the last position's")
        last: Logits = logits[0, 0]
        return last

    def trace(self, token_ids: Sequence[int], boundaries: Sequence[str]) -> dict[str, Array]:
        """Append token ids; the tensors at the given boundaries (``logits`` or taps).

        Raises:
            Malformed: ONNX Runtime fails.
        """
        new = len(token_ids)
        inputs = {
            "input_ids": np.array([token_ids], np.int64),
            "position_ids": np.arange(self._length, self._length + new, dtype=np.int64)[None],
            **self._past,
        }
        wanted = [self._decoder.taps.get(b, b) for b in boundaries]
        states = [_present(name) for name in self._past]
        try:
            values = self._decoder.session.run([*wanted, *states], inputs)
        except Exception as error:  # as above
            raise Malformed(f"ONNX Runtime failed on {new} tokens after {self._length}: {_line(error)}") from error
        self._length += new
        self._past = dict(zip(self._past, values[len(wanted) :], strict=True))
        return dict(zip(boundaries, values[: len(wanted)], strict=True))


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:400]


def _present(past: str) -> str:
    return past.replace("past", "present", 1)


def _value(info: onnx.ValueInfoProto) -> dict[str, Json]:
    tensor = info.type.tensor_type
    shape: list[Json] = [d.dim_param or (d.dim_value if d.HasField("dim_value") else None) for d in tensor.shape.dim]
    return {"name": info.name, "dtype": type_name(tensor.elem_type), "shape": shape}


def _states(model: onnx.ModelProto) -> dict[str, tuple[int, ...]]:
    """The past inputs and the shape of each when empty: fixed dimensions as they are, the dynamic one 0."""
    inputs = {v.name: v for v in model.graph.input}
    states = [name for name in inputs if name.startswith(("past_key_", "past_value_"))]
    missing = [f"input {name}" for name in _INPUTS if name not in inputs]
    outputs = {v.name for v in model.graph.output}
    missing += [f"output {name}" for name in (LOGITS, *map(_present, states)) if name not in outputs]
    if missing:
        raise Malformed(f"The model has no {' and no '.join(missing)}; export it with these names.")
    if not states:
        raise Malformed("The model has no inputs past_key_i and past_value_i, so its decode profile cannot be driven.")
    return {name: tuple(d.dim_value for d in inputs[name].type.tensor_type.shape.dim) for name in states}


def _add_outputs(model: onnx.ModelProto, values: Iterable[str]) -> None:
    made = {output for node in model.graph.node for output in node.output}
    present = {v.name for v in model.graph.output}
    for value in values:
        if value not in made:
            raise Malformed(f"The model computes no value {value!r}, which export-config.yaml names as a boundary.")
        if value not in present:
            model.graph.output.append(onnx.ValueInfoProto(name=value))
            present.add(value)

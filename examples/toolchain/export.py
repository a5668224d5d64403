"""Write the ONNX model that ``export-config.yaml`` asks for: the graph, and its weights as external data beside it."""

from pathlib import Path
from typing import Any

import onnx
import yaml
from onnx.external_data_helper import convert_model_to_external_data

from calaudit.errors import UsageError
from calaudit.files import write_atomic
from examples.toolchain.decoder_graph import decoder_graph
from examples.toolchain.llama import Config, load_weights

__all__ = ["export"]


def export(source: Path, config_path: Path, output: Path) -> None:
    """Export the model of a ``00-source`` folder.

    Raises:
        UsageError: the export config asks for something that this exporter does not do.
    """
    wanted: dict[str, Any] = yaml.safe_load(config_path.read_bytes())
    config = Config.load(source)
    _check(wanted, config, config_path.name)
    data = output.with_name(f"{output.name}.data")
    data.unlink(missing_ok=True)  # onnx appends to a file that it finds
    model = decoder_graph(config, load_weights(source), wanted["opset"])
    convert_model_to_external_data(model, location=data.name)
    onnx.save_model(model, str(output))
    write_atomic(data, data.read_bytes())
    write_atomic(output, output.read_bytes())


def _check(wanted: dict[str, Any], config: Config, name: str) -> None:
    expected: dict[str, object] = {
        "external_data": True,
        "constant_folding": False,
        "output.logits": [1, 1, config.vocab],
        "profiles.decode.input_ids": [1, 1],
        "profiles.prefill.input_ids": [1, config.context],
        "profiles.decode.past_sequence_max": config.context - 1,
    }
    for path, value in expected.items():
        found: Any = wanted
        for part in path.split("."):
            found = found[part]
        if found != value:
            raise UsageError(f"{name}: {path} is {found!r}, but this exporter does {value!r} only; change the config.")

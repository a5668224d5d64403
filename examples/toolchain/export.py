"""Write the ONNX model that ``export-config.yaml`` asks for: the graph, and its weights as external data beside it."""

import tempfile
from pathlib import Path
from typing import Any

import onnx
import yaml
from onnx.external_data_helper import convert_model_to_external_data

from calaudit.errors import UsageError
from calaudit.files import write_atomic
from examples.toolchain.checkpoint import Config, load_weights
from examples.toolchain.decoder_graph import decoder_graph

__all__ = ["export"]


def export(source: Path, config_path: Path, output: Path) -> None:
    """Export the model of a ``00-source`` folder.

    Raises:
        UsageError: the export config asks for something that this exporter does not do.
    """
    wanted: dict[str, Any] = yaml.safe_load(config_path.read_bytes())
    config = Config.load(source)
    _check(wanted, config, config_path.name)
    model = decoder_graph(config, load_weights(source), wanted["opset"])
    data = f"{output.name}.data"
    convert_model_to_external_data(model, location=data)
    with tempfile.TemporaryDirectory() as folder:  # onnx appends to data that it finds, so it starts with none
        onnx.save_model(model, str(Path(folder, output.name)))
        for name in (data, output.name):
            write_atomic(output.with_name(name), Path(folder, name).read_bytes())


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

"""G2: export the model to ONNX (runbook §6.2). PYTHONPATH must hold calaudit and its examples."""

import argparse
from pathlib import Path

from examples.toolchain.export import export


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model-dir", type=Path, required=True, help="the 00-source folder")
    parser.add_argument("--config", type=Path, required=True, help="export-config.yaml")
    parser.add_argument("--output", type=Path, required=True, help="model.onnx; its data goes beside it")
    args = parser.parse_args()
    export(args.model_dir, args.config, args.output)


if __name__ == "__main__":
    main()

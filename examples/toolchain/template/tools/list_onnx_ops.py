"""G2: the op inventory of a model (runbook §6.3). PYTHONPATH must hold calaudit."""

import argparse
import sys
from pathlib import Path

from calaudit.files import write_atomic
from calaudit.harness.documents import json_bytes
from calaudit.harness.onnx_ops import op_inventory


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, help="model.onnx")
    parser.add_argument("--output", type=Path, help="where to write; standard output if not given")
    args = parser.parse_args()
    document = json_bytes(op_inventory(args.model))
    if args.output is None:
        sys.stdout.buffer.write(document)
    else:
        write_atomic(args.output, document)


if __name__ == "__main__":
    main()

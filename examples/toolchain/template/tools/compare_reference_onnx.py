"""G2: compare the ONNX graph with the reference (runbook §6.3). PYTHONPATH must hold calaudit and its examples."""

import argparse
import sys
from pathlib import Path

from calaudit.contract import load_contract
from calaudit.harness.onnx_compare import compare
from examples.toolchain.invocation import invocation


def main() -> None:
    """Read the arguments and run; status 1 when the graph and the reference differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reference", type=Path, required=True, help="01-reference of the port")
    parser.add_argument("--onnx", type=Path, required=True, help="02-onnx/model.onnx of the same port")
    parser.add_argument("--matrix", type=Path, required=True, help="configs/shape-matrix.yaml of the same port")
    parser.add_argument("--output", type=Path, required=True, help="02-onnx/onnx-report.json of the same port")
    args = parser.parse_args()
    port = args.reference.resolve().parent
    places = (args.reference, args.onnx, args.matrix, args.output)
    expected = ("01-reference", "02-onnx/model.onnx", "configs/shape-matrix.yaml", "02-onnx/onnx-report.json")
    for given, place in zip(places, expected, strict=True):
        if given.resolve() != port / place:
            parser.error(f"{given} is not {place} of the port {port}")
    outcome = compare(port, load_contract(), lambda: invocation("compare", run=1, order=3))
    for difference in outcome.differences:
        sys.stderr.write(f"{difference}\n")
    sys.exit(0 if outcome.agrees else 1)


if __name__ == "__main__":
    main()

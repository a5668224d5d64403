"""Command line of the example toolchain: ``python -m examples.toolchain build OUT [--only G0,G1,G2]``."""

import os

# Before anything imports numpy: OpenBLAS reads it once, and adds in another order with more threads.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
from pathlib import Path

from examples.toolchain.build import GATES, build
from examples.toolchain.freeze import freeze


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(prog="python -m examples.toolchain", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    builder = commands.add_parser("build", help="make the port directory from the frozen source")
    builder.add_argument("out", type=Path)
    builder.add_argument("--only", default=",".join(GATES), help="gates to build, by comma")
    freezer = commands.add_parser("freeze", help="make the frozen source from a trained checkpoint (once)")
    freezer.add_argument("checkpoint", type=Path)
    freezer.add_argument("source", type=Path)
    freezer.add_argument("held_out", type=Path)
    args = parser.parse_args()
    if args.command == "build":
        args.out.mkdir(parents=True, exist_ok=True)
        build(args.out.resolve(), args.only.split(","))
    else:
        freeze(args.checkpoint, args.source, args.held_out)


if __name__ == "__main__":
    main()

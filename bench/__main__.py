"""Every benchmark, one table: ``make bench`` runs it in an environment that has the peers."""

import argparse
import importlib
import pkgutil
import sys
from pathlib import Path


def main() -> int:
    """Run the benchmarks named on the command line, or all; 1 if a target was missed."""
    names = [i.name for i in pkgutil.iter_modules([str(Path(__file__).parent)]) if not i.name.startswith("_")]
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("benchmarks", nargs="*", metavar="NAME", help=f"which ones: {', '.join(names)} (default: all)")
    parser.add_argument("--scale", type=float, default=1.0, help="size of the data; 1 is the size of the bar (default)")
    parser.add_argument("--repeats", type=int, default=3, help="rounds (default 3)")
    options = parser.parse_args()
    unknown = sorted(set(options.benchmarks) - set(names))
    if unknown:
        parser.error(f"there is no benchmark {', '.join(unknown)}; there are {', '.join(names)}")
    missed = 0
    for name in options.benchmarks or names:
        for line in importlib.import_module(f"bench.{name}").rows(options.scale, options.repeats):
            print(line, flush=True)
            missed += line.ratio > line.limit
    print("Ratios are medians of ours / peer; a machine that does other work at the same time makes them worthless.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

"""G1: run the reference over the prompt corpus (runbook §5.1). PYTHONPATH must hold calaudit and its examples."""

import argparse
from pathlib import Path

from examples.toolchain.llama import DTYPES
from examples.toolchain.reference import Run, run_reference


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model-dir", type=Path, required=True, help="the 00-source folder")
    parser.add_argument("--prompts", type=Path, required=True, help="the prompt corpus, in the 01-reference folder")
    parser.add_argument("--dtype", choices=DTYPES, action="append", required=True, help="repeat it for each dtype")
    parser.add_argument("--greedy", action="store_true", required=True, help="the only way of decoding there is")
    parser.add_argument("--dump-logits", action="store_true", required=True, help="largest logits and their digests")
    parser.add_argument("--run", type=int, choices=(1, 2), default=1, help="which of the two independent runs")
    parser.add_argument("--output", type=Path, required=True, help="outputs.jsonl; the rest goes beside it")
    args = parser.parse_args()
    run_reference(
        Run(source=args.model_dir, prompts=args.prompts, output=args.output, dtypes=tuple(args.dtype), number=args.run)
    )


if __name__ == "__main__":
    main()

"""Start-up: ``calaudit --help`` against the help of two peers, whole processes, compiled by ``make bench``."""

from collections.abc import Sequence

from bench._timing import Row, main, measure, outside, row, tool

PEERS = {"in-toto-verify --help": 0.4, "check-jsonschema --help": 0.2}
"""The peers, and how much of their time ours may take."""
OURS = "calaudit --help"


def rows(scale: float, repeats: int) -> Sequence[Row]:
    """Measure; there is nothing to scale, and a process start is short, so there are more rounds."""
    del scale
    runs = {command: outside([_program(command), "--help"]) for command in (OURS, *PEERS)}
    seconds = measure(runs, repeats=repeats * 7)
    return [row(seconds, work="start-up", ours=OURS, peer=peer, limit=limit) for peer, limit in PEERS.items()]


def _program(command: str) -> str:
    name = command.partition(" ")[0]
    found = tool(name)
    if found is None:
        raise RuntimeError(f"{name} is neither beside this interpreter nor on PATH; install requirements/bench.txt.")
    return found


if __name__ == "__main__":
    main(rows, __doc__ or "")

"""Parse 5 MB of YAML: the strict parser (duplicate keys, aliases, tags refused) against PyYAML's C loader."""

from collections.abc import Sequence

import yaml

from bench._timing import Row, inside, main, measure, row
from calaudit.evidence.strict_yaml import parse_yaml


def rows(scale: float, repeats: int) -> Sequence[Row]:
    """Make the document, see that both read the same, and measure."""
    data = document(round(5_000_000 * scale))
    if parse_yaml(data) != yaml.load(data, Loader=yaml.CSafeLoader):
        raise AssertionError("the two parsers disagree")
    seconds = measure(
        {
            "calaudit": inside(lambda: parse_yaml(data)),
            "CSafeLoader": inside(lambda: yaml.load(data, Loader=yaml.CSafeLoader)),
        },
        repeats=repeats,
    )
    return [row(seconds, work=f"YAML {len(data) / 1e6:.1f} MB", peer="CSafeLoader", limit=1 / 4)]


def document(size: int) -> bytes:
    """An operator matrix of about so many bytes."""
    entry = (
        '- op_type: Op{n}\n  domain: ""\n'
        "  opsets: [18, 19, 20]\n  dtypes: [float32, bfloat16]\n"
        "  support: C{c}\n  lowering: direct\n  limits: {{context: 8192, batch: {n}, ratio: 0.{n}}}\n"
        "  notes: an operator of the matrix\n"
    )
    parts = ["ops:\n"]
    length = number = 0
    while length < size:
        parts.append(entry.format(n=number, c=number % 5))
        length += len(parts[-1])
        number += 1
    return "".join(parts).encode()


if __name__ == "__main__":
    main(rows, __doc__ or "")

"""Write ``schemas/SHA256SUMS``: the digest of every schema, in the format of ``sha256sum``.

A released schema never changes (see CHANGELOG.md), because documents that followed it must go on following it. While a
schema is unreleased, run this after each change:

    python scripts/schema_sums.py
"""

import hashlib
from pathlib import Path

SCHEMAS = Path(__file__).resolve().parent.parent / "schemas"


def sums(root: Path = SCHEMAS) -> str:
    """The text of the list: one line a schema, sorted by path."""
    files = sorted(root.glob("*/v*.json"), key=lambda path: path.relative_to(root).as_posix())
    return "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(root).as_posix()}\n" for path in files
    )


if __name__ == "__main__":
    (SCHEMAS / "SHA256SUMS").write_text(sums(), encoding="ascii")
    print(f"{SCHEMAS / 'SHA256SUMS'} lists {sums().count(chr(10))} schemas.")

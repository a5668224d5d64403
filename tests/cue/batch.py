"""Many documents in one call of cue: each is a field of one document, and errors name their fields."""

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from calaudit.cue import Cue

DEFINITIONS = Path(__file__).resolve().parents[2] / "policies" / "cue"
_NAMED = re.compile(r"^documents\.n([0-9]+)\b", re.MULTILINE)


def refused(cue: Cue, folder: Path, definition: str, documents: Sequence[Any]) -> set[int]:
    """The indices of the documents that do not follow a definition.

    Cue tells of missing fields only where nothing clashes, so what it names is put aside until it is content.
    """
    left = dict(enumerate(documents))
    policy, data = folder / "batch.cue", folder / "batch.json"
    policy.write_text(f"package calaudit\n\ndocuments: [string]: #{definition}\n")
    command = [cue.path, "vet", "-c", "-E", *sorted(DEFINITIONS.glob("*.cue")), policy, "json+data:", data]
    named: set[int] = set()
    while left:
        data.write_text(json.dumps({"documents": {f"n{n}": document for n, document in left.items()}}))
        done = subprocess.run(
            command, cwd=folder, env={"HOME": str(folder)}, capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            break
        found = {int(number) for number in _NAMED.findall(done.stderr)} & left.keys()
        assert found, f"cue refuses and names no document: {done.stderr[:2000]}"
        named |= found
        left = {n: document for n, document in left.items() if n not in found}
    return named

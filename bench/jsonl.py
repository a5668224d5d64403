"""Check 200 000 JSONL records: schema, duplicate keys, line numbers of faults; whole processes.

Peers see one JSON array (check-jsonschema cannot read JSONL) or lines (Node with ajv); neither sees duplicate keys. The
slow peer gets a tenth of the records, and its time counts ten times.
"""

import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench._timing import Row, main, measure, outside, row, tool

SCHEMA = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "additionalProperties": False,
    "required": ["id", "prompt", "source", "lang", "split", "seed", "score", "max_tokens", "license", "tokens"],
    "properties": {
        "id": {"type": "string", "pattern": "^s-[0-9]{7}$"},
        "prompt": {"type": "string", "minLength": 1, "maxLength": 4096},
        "source": {"type": "string"},
        "lang": {"enum": ["en", "de", "fr", "zh", "ja"]},
        "split": {"enum": ["calib", "eval"]},
        "seed": {"type": "integer", "minimum": 0},
        "score": {"type": "number", "minimum": 0, "maximum": 1},
        "max_tokens": {"type": "integer", "minimum": 1, "maximum": 131072},
        "license": {"type": "string"},
        "tokens": {
            "type": "array",
            "minItems": 1,
            "maxItems": 8192,
            "items": {"type": "integer", "minimum": 0, "maximum": 151935},
        },
    },
}
NODE = """
const fs = require("fs"), Ajv = require("ajv");
const valid = new Ajv().compile(JSON.parse(fs.readFileSync("schema.json")));
let bad = 0;
for (const line of fs.readFileSync("data.jsonl", "utf8").split("\\n")) {
  if (!line) continue;
  try { if (!valid(JSON.parse(line))) bad++; } catch { bad++; }
}
console.log(bad);
process.exit(bad ? 1 : 0);
"""
SLOW = 10


def rows(scale: float, repeats: int) -> Sequence[Row]:
    """Make the records and measure against the peers that are there."""
    count = round(200_000 * scale)
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        make(root, count)
        me = [sys.executable, "-m", "bench.jsonl", "--check", str(root / "port")]
        work = f"JSONL {count} records"
        found = []
        if node := install_ajv(root):
            seconds = measure(
                {"calaudit": outside(me), "Node + ajv": outside([node, "check.js"], cwd=root)}, repeats=repeats
            )
            found.append(row(seconds, work=work, peer="Node + ajv", limit=1 / 1.2))
        if peer := tool("check-jsonschema"):
            slow = outside([peer, "--schemafile", str(root / "array.schema.json"), str(root / "array.json")])
            seconds = measure(
                {"calaudit": outside(me), "check-jsonschema": lambda: slow() * SLOW}, repeats=repeats, warm=False
            )
            note = f"peer: a {SLOW}th, {SLOW} times"
            found.append(row(seconds, work=work, peer="check-jsonschema", limit=1 / 40, note=note))
        return found


def make(root: Path, count: int) -> None:
    """Records, the array for the slow peer, and the schemas."""
    rng = random.Random(1)  # noqa: S311 - test data
    words = [*["the", "quick", "brown", "fox", "überspringt", "den", "faulen", "Hund", "漢字"] * 20, '"', "\\"]
    (root / "port").mkdir()
    head = []
    with (root / "port" / "data.jsonl").open("w", encoding="utf-8") as file:
        for number in range(count):
            record = {
                "id": f"s-{number:07}",
                "prompt": " ".join(rng.choices(words, k=30)),
                "source": "corpus/part-01",
                "lang": rng.choice(["en", "de", "fr", "zh", "ja"]),
                "split": rng.choice(["calib", "eval"]),
                "seed": rng.randrange(1 << 31),
                "score": rng.random(),
                "max_tokens": 512,
                "license": "Apache-2.0",
                "tokens": [rng.randrange(151_936) for _ in range(48)],
            }
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
            if number < count // SLOW:
                head.append(record)
    (root / "data.jsonl").symlink_to(root / "port" / "data.jsonl")
    (root / "array.json").write_text(json.dumps(head), encoding="utf-8")
    (root / "schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    (root / "array.schema.json").write_text(json.dumps({"type": "array", "items": SCHEMA}), encoding="utf-8")
    (root / "check.js").write_text(NODE, encoding="utf-8")


def install_ajv(root: Path) -> str | None:
    """Node, with ajv installed beside the data; None where that is not possible."""
    node, npm = tool("node"), tool("npm")
    if node is None or npm is None:
        return None
    done = subprocess.run([npm, "install", "--silent", "ajv@8"], cwd=root, capture_output=True, check=False)
    return node if done.returncode == 0 else None


def check(root: str) -> int:
    """What calaudit does with the file: exit code 1 where a line is faulty."""
    from bench._contract import OneArtifact, OneSchema
    from calaudit.evidence import gather
    from calaudit.model import ArtifactSpec, Format

    spec = ArtifactSpec(name="data", gate="G4", pattern="data.jsonl", format=Format.JSONL, schema="data/v1")
    evidence = gather(Path(root), specs=OneArtifact(spec), schemas=OneSchema(SCHEMA))
    return int(bool(evidence.problems))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--check"]:
        sys.exit(check(sys.argv[2]))
    main(rows, __doc__ or "")

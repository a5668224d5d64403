"""What gates.yaml says of a document must be true of the document's schema."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from calaudit.contract import Schemas
from calaudit.contract.lint import check_artifacts
from calaudit.errors import ContractError
from tests.contract.make import artifact, gate, gates

DIGEST = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
REPORT = {
    "properties": {
        "schema": {"const": "report/v1"},
        "model_sha256": {"$ref": "#/$defs/digest"},
        "text": {"type": ["string", "null"]},
        "count": {"type": "integer"},
        "files": {"type": "array", "items": {"properties": {"path": {}, "sha256": DIGEST, "bytes": {}}}},
    },
    "$defs": {"digest": DIGEST},
}
RECORD = {"properties": {"text": {"type": "string"}}}
TAGGED: dict[str, Any] = {"schema": "report/v1", "tag": True}
LIST = {"entries": "/files", "base": "00-x/", "covers": ["00-x/*.bin"], "bytes": "bytes"}


@pytest.fixture(scope="module")
def schemas(tmp_path_factory: pytest.TempPathFactory) -> Schemas:
    root: Path = tmp_path_factory.mktemp("schemas")
    for name, document in {"report": REPORT, "record": RECORD}.items():
        (root / name).mkdir()
        (root / name / "v1.json").write_bytes(orjson.dumps({"$id": f"urn:calaudit:schema:{name}:v1", **document}))
    return Schemas(root)


def report(**more: Any) -> dict[str, Any]:
    return artifact("report", "00-x/report.json", **{**TAGGED, **more})


OTHERS = (artifact("blob", "00-x/*.bin", format="opaque"), artifact("later", "00-x/later.json"))


def test_what_is_right_is_accepted(schemas: Schemas) -> None:
    good = report(hashes=[LIST], binds={"/model_sha256": "00-x/later.json"}, free_text=["/text", "/files/*/sha256"])
    check_artifacts(gates(gate(0, good, *OTHERS)), schemas)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": "nothing/v1"}, "schemas/nothing/v1.json does not exist"),
        ({"schema": None}, "speak of a schema's members"),
        ({"format": "text"}, "files read as text follow no schema"),
        ({"format": "jsonl"}, "records carry no tag"),
        ({"tag": None}, "has the tag report/v1"),
        ({"schema": "record/v1"}, "has no tag"),
        ({"binds": {"/model": "00-x/later.json"}}, "holds no SHA-256"),
        ({"binds": {"/count": "00-x/later.json"}}, "holds no SHA-256"),
        ({"binds": {"/model_sha256": "00-x/nothing.json"}}, "the path of no artifact"),
        ({"binds": {"/model_sha256": "00-x/y.bin"}}, "the path of no artifact"),
        ({"binds": {"/model_sha256": "01-y/other.json"}}, "which G0 does not depend on"),
        ({"free_text": ["/txt"]}, "free_text /txt is no text"),
        ({"free_text": ["/count"]}, "free_text /count is no text"),
        ({"hashes": [{**LIST, "entries": "/file"}]}, "entries of /file have no member path"),
        ({"hashes": [{**LIST, "sha256": "digest"}]}, "entries of /files have no member digest"),
        ({"hashes": [{**LIST, "uri": "uri"}]}, "have no member uri"),
        ({"hashes": [{**LIST, "base": "00-y/"}]}, "not below its base 00-y/"),
        ({"hashes": [{**LIST, "covers": ["00-x/*.jsn"]}]}, "covers 00-x/*.jsn, which no artifact matches"),
    ],
)
def test_what_contradicts_is_refused(schemas: Schemas, change: dict[str, Any], message: str) -> None:
    broken = {key: value for key, value in report(**change).items() if value is not None}
    if change == {"schema": None}:
        broken["binds"] = {"/model_sha256": "00-x/later.json"}
    parsed = gates(gate(0, broken, *OTHERS), gate(1, artifact("other", "01-y/other.json"), depends=["G0"]))
    with pytest.raises(ContractError) as caught:
        check_artifacts(parsed, schemas)
    assert message in str(caught.value)


def test_a_gate_may_bind_what_its_upstream_gates_have(schemas: Schemas) -> None:
    later = artifact("last", "02-z/report.json", schema="report/v1", tag=True, binds={"/model_sha256": "00-x/a.json"})
    check_artifacts(
        gates(
            gate(0, artifact("first", "00-x/a.json")),
            gate(1, artifact("second", "01-y/b.json"), depends=["G0"]),
            gate(2, later, depends=["G1"]),
        ),
        schemas,
    )

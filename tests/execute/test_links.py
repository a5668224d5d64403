"""What is signed after a run: a link and a statement that agree, and that verification and in-toto read."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from in_toto.models.metadata import Metadata

from calaudit.contract import load_contract
from calaudit.errors import UsageError
from calaudit.execute.links import attestations
from calaudit.execute.nouns import Record, StepFailed
from calaudit.execute.running import run_step
from calaudit.trust.envelope import parse_envelope, parse_statement
from calaudit.trust.keys import KeylessKey
from calaudit.trust.link import parse_link
from tests.execute.small import Bench, step
from tests.trust.authority import key

SCHEMAS = load_contract().schemas
SIGNER = key("model-functionary")
ID8 = SIGNER.public_key.keyid[:8]
LINK, STATEMENT = f"attestations/make.{ID8}.link", f"attestations/make.{ID8}.3.dsse.json"


@pytest.fixture
def record(bench: Bench) -> Record:
    """A run that a bench carried out."""
    bench.script("cat in.txt > out/made.txt; echo done; echo quietly >&2\n")
    return run_step(step(env={"LANG": "C"}), bench.setting())


def test_the_link(record: Record, tmp_path: Path) -> None:
    made = attestations(record, SIGNER, 3)
    assert sorted(made) == [STATEMENT, LINK]
    link = parse_link(parse_envelope(LINK, made[LINK]), SCHEMAS)
    assert (link["name"], link["command"]) == ("make", list(record.command))
    assert {p: h["sha256"] for p, h in link["materials"].items()} == dict(record.materials)
    assert list(link["materials"]) == ["in.txt", "tools/make.sh"]
    assert {p: h["sha256"] for p, h in link["products"].items()} == dict(record.products)
    assert link["byproducts"] == {
        "return-value": 0,
        "stdout": "done\n",
        "stderr": "quietly\n",
        "stdout-sha256": record.outcome.stdout.sha256,
        "stderr-sha256": record.outcome.stderr.sha256,
    }
    assert link["environment"] == {"variables": ["LANG=C"]}
    # in-toto reads it, and its signature holds there.
    path = tmp_path / "x.link"
    path.write_bytes(made[LINK])
    metadata = Metadata.load(str(path))
    metadata.verify_signature({**SIGNER.public_key.to_dict(), "keyid": SIGNER.public_key.keyid})
    assert metadata.get_payload().name == "make"


def test_the_statement_says_the_same(record: Record) -> None:
    made = attestations(record, SIGNER, 3)
    statement = parse_statement(parse_envelope(STATEMENT, made[STATEMENT]), "provenance/v1", SCHEMAS)
    link = parse_link(parse_envelope(LINK, made[LINK]), SCHEMAS)
    definition = statement["predicate"]["buildDefinition"]
    external = definition["externalParameters"]
    assert external == {"port": "small", "step": "make", "gate": "G1", "command": link["command"]}
    for told, side in ((definition["resolvedDependencies"], "materials"), (statement["subject"], "products")):
        assert {item["name"]: item["digest"] for item in told} == link[side]
    assert definition["internalParameters"]["logs"]["stdout"]["sha256"] == link["byproducts"]["stdout-sha256"]
    assert statement["predicate"]["runDetails"]["builder"]["id"] == record.builder
    assert statement["predicate"]["runDetails"]["metadata"]["invocationId"] == record.invocation


def test_moments_are_whole_seconds_in_utc(record: Record) -> None:
    begun = datetime(2026, 11, 29, 8, 0, 0, 999_999, tzinfo=UTC)
    late = replace(record, outcome=replace(record.outcome, started=begun, finished=begun))
    metadata = json.loads(parse_envelope(STATEMENT, attestations(late, SIGNER, 3)[STATEMENT]).payload)["predicate"][
        "runDetails"
    ]["metadata"]
    assert (metadata["startedOn"], metadata["finishedOn"]) == ("2026-11-29T08:00:00Z", "2026-11-29T08:00:00Z")


def test_a_run_publishes_them(bench: Bench) -> None:
    setting = bench.setting(attest=lambda record, n: attestations(record, SIGNER, n), keyid=SIGNER.public_key.keyid)
    run_step(step(), setting)
    found = sorted(path.name for path in (bench.port / "attestations").iterdir())
    assert found == [f"make.{ID8}.1.dsse.json", f"make.{ID8}.link"]


def test_nothing_is_signed_about_a_run_that_failed(record: Record) -> None:
    failed = replace(record, outcome=replace(record.outcome, exit_code=1))
    with pytest.raises(StepFailed, match="did not end well"):
        attestations(failed, SIGNER, 1)


def test_invocations_are_counted_from_one(record: Record) -> None:
    with pytest.raises(ValueError, match="counted from 1"):
        attestations(record, SIGNER, 0)


def test_a_keyless_key_signs_no_links(record: Record) -> None:
    class Keyless:
        public_key = KeylessKey.of("ci@example.org", "https://issuer.example")

    with pytest.raises(UsageError, match="keyless key signs bundles"):
        attestations(record, Keyless(), 1)

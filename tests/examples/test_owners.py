"""The example's owners and attestations, as `make sign-example` makes them."""

import json
from datetime import UTC, datetime
from pathlib import Path

from calaudit.contract import Contract
from calaudit.pins import load_directory
from calaudit.trust import Trust, establish
from calaudit.trust.envelope import parse_envelope, parse_statement
from calaudit.trust.roles import FUNCTIONARY, ROLES
from examples.toolchain.owners import Owners
from tests.casebook import PORT

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def trust(folder: Path, contract: Contract, **options: datetime) -> Trust:
    Owners.make().write_trust(folder, ports=["tiny-dense"], **options)
    return establish(load_directory(folder), NOW, contract.schemas)


def test_the_registry_is_sound_and_names_everybody(tmp_path: Path, contract: Contract) -> None:
    found = trust(tmp_path / "trust", contract)
    assert found.faults == ()
    assert found.registry is not None
    assert set(found.registry.roles) == {*ROLES, *(role + FUNCTIONARY for role in ROLES)}
    assert found.registry.label == "example-only"
    assert found.registry.expires.year == 2046
    assert all(owner.contact and owner.delivery_date for role in ROLES for owner in found.registry.roles[role].owners)
    assert sorted(path.name for path in (tmp_path / "trust").iterdir()) == ["1.root.json", "roles.json"]


def test_a_registry_that_ran_out(tmp_path: Path, contract: Contract) -> None:
    found = trust(tmp_path / "trust", contract, registry_expires=datetime(2026, 1, 1, tzinfo=UTC))
    assert [fault.rule for fault in found.faults] == ["registry-expired"]


def test_runs_are_attested_with_their_own_ids(contract: Contract) -> None:
    found = {}
    for path in sorted((PORT / "attestations").glob("*.dsse.json")):
        statement = parse_statement(parse_envelope(path.name, path.read_bytes()), "provenance/v1", contract.schemas)
        found[path.name.partition(".")[0]] = statement
    assert set(found) == {"reference", "reference-again", "export", "inventory", "compare"}
    for step, record in (("reference", "01-reference/reference-report.json"), ("compare", "02-onnx/onnx-report.json")):
        run = found[step]["predicate"]["runDetails"]
        assert run["metadata"]["invocationId"] == json.loads((PORT / record).read_bytes())["invocation"]["id"]
        assert run["builder"]["id"] == "urn:calaudit:executor:bwrap:v1"
        assert record in {item["name"] for item in found[step]["subject"]}
    read = {item["name"] for item in found["reference"]["predicate"]["buildDefinition"]["resolvedDependencies"]}
    assert {"00-source/weights/model.safetensors", "01-reference/prompts.jsonl", "tools/generate_reference.py"} <= read
    assert not read & {item["name"] for item in found["reference"]["subject"]}

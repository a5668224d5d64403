"""The example's owners and attestations, as `make sign-example` makes them."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from calaudit.contract import Contract
from calaudit.errors import UsageError
from calaudit.pins import load_directory
from calaudit.trust import Trust, establish
from calaudit.trust.envelope import parse_envelope, parse_statement
from calaudit.trust.registry import FUNCTIONARY, ROLES
from examples.toolchain.attest import BUILDER, attest
from examples.toolchain.owners import Owners
from tests.casebook import copy_port

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


def test_runs_are_attested_with_their_own_ids(tmp_path: Path, contract: Contract) -> None:
    port = tmp_path / "tiny-dense"
    copy_port(port)
    owners = Owners.make()
    attest(port, contract, {name: signers[0] for name, signers in owners.roles.items()})
    found = {}
    for path in (port / "attestations").iterdir():
        statement = parse_statement(parse_envelope(path.name, path.read_bytes()), "provenance/v1", contract.schemas)
        found[path.name.partition(".")[0]] = statement
    assert set(found) == {"reference", "reference-again", "compare"}
    for step, record in (("reference", "01-reference/reference-report.json"), ("compare", "02-onnx/onnx-report.json")):
        run = found[step]["predicate"]["runDetails"]
        assert run["metadata"]["invocationId"] == json.loads((port / record).read_bytes())["invocation"]["id"]
        assert run["builder"]["id"] == BUILDER
        assert record in {item["name"] for item in found[step]["subject"]}
    read = {item["name"] for item in found["reference"]["predicate"]["buildDefinition"]["resolvedDependencies"]}
    assert {"00-source/weights/model.safetensors", "01-reference/prompts.jsonl", "tools/generate_reference.py"} <= read
    assert not read & {item["name"] for item in found["reference"]["subject"]}


def test_a_faulty_statement_is_not_signed(tmp_path: Path, contract: Contract) -> None:
    port = tmp_path / "tiny-dense"
    copy_port(port)
    report = port / "01-reference/reference-report.json"
    document = json.loads(report.read_bytes())
    document["invocation"]["started"] = "yesterday"
    report.write_text(json.dumps(document))
    owners = Owners.make()
    with pytest.raises(UsageError, match="provenance of reference is faulty"):
        attest(port, contract, {name: signers[0] for name, signers in owners.roles.items()})

"""What policy demands of the steps of a gate: by the shipped contract, and by one of an organisation."""

from pathlib import Path
from typing import Any

import pytest

from calaudit.checks.catalogue import catalogue
from calaudit.contract import Contract, load_contract
from calaudit.errors import ContractError
from calaudit.model import Kind
from calaudit.trust.isolation import Isolation, attested_isolation, builder_id
from tests.trust import authority as kit
from tests.trust.chained import declare
from tests.trust.forgeries.registries import add_key, ours, rewrite, role_of
from tests.trust.forgeries.runs import attest, step
from tests.trust.signed_port import SignedPort, signed_copy

OVERLAY = "schema: calaudit-overlay/v1\nparams: {{{param}: [{gates}]}}\n"


def demanding(folder: Path, param: str, gates: str) -> Contract:
    folder.mkdir()
    (folder / "shut-in.yaml").write_text(OVERLAY.format(param=param, gates=gates))
    return load_contract(overlays=[folder])


def said(port: SignedPort) -> tuple[Kind, str]:
    (result,) = [r for r in port.audit().results if (r.rule, r.gate) == ("isolation-too-weak", "G0")]
    return result.kind, result.message


@pytest.fixture
def port(tmp_path: Path, contract: Contract) -> SignedPort:
    return signed_copy("g0", tmp_path / "port", contract)


def test_the_shipped_contract_wants_compilers_shut_in(contract: Contract) -> None:
    for profile in contract.profiles.values():
        assert profile.params["sandbox_gates"] == ("G5",)
        assert profile.params["container_gates"] == ()


def test_a_gate_whose_steps_have_to_be_shut_in(port: SignedPort, tmp_path: Path) -> None:
    declare(port, {"fetch": step("local")})
    attest(port, "local")
    assert said(port)[0] is Kind.NOT_APPLICABLE
    port.contract = demanding(tmp_path / "policies", "sandbox_gates", "G5, G0")
    assert said(port) == (
        Kind.FAIL,
        "Policy demands a sandbox for the steps of G0, and port.yaml has fetch run in less.",
    )
    declare(port, {"fetch": step("bwrap")})
    assert said(port)[0] is Kind.FAIL
    attest(port, "bwrap", number=2)
    assert said(port)[0] is Kind.PASS
    port.contract = demanding(tmp_path / "stricter", "container_gates", "G0")
    assert said(port)[0] is Kind.FAIL
    declare(port, {"other": step(gate="G1", products=["01-reference/other.txt"])})
    assert said(port) == (
        Kind.OPEN,
        "Policy demands that the steps of G0 run in a container, and port.yaml declares none.",
    )


def test_what_is_built_elsewhere_counts_once_it_is_built_here(port: SignedPort, tmp_path: Path) -> None:
    declare(port, {"fetch": step("elsewhere")})
    attest(port, "urn:example:build-farm:v1")
    assert said(port)[0] is Kind.NOT_APPLICABLE
    port.contract = demanding(tmp_path / "policies", "sandbox_gates", "G5, G0")
    assert said(port) == (Kind.OPEN, "fetch was built elsewhere, and nobody knows how shut in; a sandbox is needed.")
    attest(port, "bwrap", number=2)
    assert said(port)[0] is Kind.PASS


def test_each_of_two_functionaries_has_to_shut_it_in(port: SignedPort) -> None:
    second = "model-functionary-2"

    def change(signed: dict[str, Any]) -> None:
        add_key(signed, "model-functionary", *ours(second))
        role_of(signed, "model-functionary").update(threshold=2)

    rewrite(port, change)
    declare(port, {"fetch": step()})
    attest(port, "bwrap")
    assert said(port) == (Kind.OPEN, "Too few functionaries of model, or none, attest a run of fetch.")
    attest(port, "local", number=2, seed=second)
    assert said(port)[0] is Kind.FAIL
    attest(port, "bwrap", number=3, seed=second)
    assert said(port)[0] is Kind.PASS


def test_what_a_run_lacks_is_told(port: SignedPort) -> None:
    declare(port, {"fetch": step(run=["python", "another"])})
    attest(port, "bwrap")
    assert said(port)[1].endswith(".1.dsse.json is of another command.")
    declare(port, {"fetch": step(gate="G1")})
    assert said(port)[1].endswith(".1.dsse.json is signed for model and G0.")


@pytest.mark.parametrize("param", ["sandbox_gates", "container_gates"])
def test_a_gate_that_does_not_exist(param: str, tmp_path: Path) -> None:
    contract = demanding(tmp_path / "policies", param, "G5, G55")
    with pytest.raises(ContractError, match=rf"shut-in.yaml: {param} names G55; gates are G0, G1"):
        catalogue(contract)


def test_an_overlay_takes_no_gate_away(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="may only move it its stricter way"):
        demanding(tmp_path / "policies", "sandbox_gates", "G0")


GOOD = {"isolation": "sandbox", "networkEnforced": True, "inputsEnforced": True}


@pytest.mark.parametrize(
    ("internal", "level"),
    [
        ({"executor": {"kind": "bwrap", "guarantees": GOOD}}, Isolation.SANDBOX),
        ({"executor": {"kind": "oci", "guarantees": GOOD}}, Isolation.NONE),
        ({"executor": {"kind": "bwrap", "guarantees": {**GOOD, "isolation": "container"}}}, Isolation.NONE),
        ({"executor": {"kind": "bwrap", "guarantees": {**GOOD, "networkEnforced": 1}}}, Isolation.NONE),
        ({"executor": {"kind": "bwrap", "guarantees": []}}, Isolation.NONE),
        ({"executor": {"kind": "bwrap"}}, Isolation.NONE),
        ({"executor": "bwrap"}, Isolation.NONE),
        ({}, Isolation.NONE),
    ],
)
def test_what_provenance_proves(internal: dict[str, Any], level: Isolation) -> None:
    assert attested_isolation(builder_id("bwrap"), internal) is level
    assert attested_isolation(builder_id("elsewhere"), internal) is None
    assert attested_isolation(builder_id("bwrap") + "/", internal) is None


def test_the_kit_says_what_executors_say() -> None:
    """The tests' own provenance looks as that of `calaudit run` does."""
    from calaudit.execute.executor import executor_for

    for kind in ("local", "bwrap", "oci"):
        document: dict[str, Any] = {"predicate": {"runDetails": {"builder": {}}, "buildDefinition": {}}}
        kit.run_with(document, kind)
        internal = document["predicate"]["buildDefinition"]["internalParameters"]
        real = executor_for(kind).guarantees.to_json()
        assert {**internal["executor"]["guarantees"], "fixed": real["fixed"]} == real
        assert attested_isolation(builder_id(kind), internal) is executor_for(kind).guarantees.isolation

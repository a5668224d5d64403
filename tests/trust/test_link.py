"""Links of a port, beyond what each forgery shows."""

import copy
import json
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calaudit import Report
from calaudit.contract import Contract, Schemas
from calaudit.errors import Malformed
from calaudit.report.text import render
from calaudit.trust.envelope import Envelope
from calaudit.trust.layout import library_layout, parse_layout
from calaudit.trust.link import library_link, parse_link
from calaudit.trust.steps import LAYOUT
from tests import guard
from tests.schemas.mutate import mutants
from tests.trust import authority as kit
from tests.trust.chained import CONFIG, STEPS, chain, chained, declare, lay_out, link, link_path, run, seed_of
from tests.trust.signed_port import MANIFEST, SignedPort, signed_copy


@pytest.fixture
def port(tmp_path: Path, contract: Contract) -> SignedPort:
    return signed_copy("g0", tmp_path / "tiny-dense", contract)


def said(report: Report, rule: str) -> list[str]:
    return [f"{r.kind}: {r.message}" for r in report.results if r.rule == rule and r.kind != "pass"]


def two_functionaries(port: SignedPort) -> None:
    """Let a step of model be run by two machines."""
    role = "model-functionary"
    changed = port.registry()
    changed.owners[:] = [owner for owner in changed.owners if owner["role"] != role]
    changed.add(role, [role, "second-machine"], 2)


def test_a_step_that_two_must_run(port: SignedPort) -> None:
    two_functionaries(port)
    chained(port)
    report = port.audit()
    assert said(report, "link-missing") == ["open: 1 of the 2 functionaries of model that are needed ran fetch."]
    assert report.exit_code == 3
    run(port, "fetch", "second-machine")
    assert port.audit().exit_code == 0


def elsewhere(port: SignedPort) -> str:
    """A file that fetch reads, and that the source manifest says is kept in another place; its path."""
    path = "00-source/hf-config/vocab.txt"
    steps = copy.deepcopy(STEPS)
    steps["fetch"]["materials"].append("00-source/hf-config/v*.txt")
    declare(port, steps)
    manifest = json.loads((port.path / MANIFEST).read_text())
    manifest["files"].append(
        {"path": "hf-config/vocab.txt", "bytes": 1, "sha256": "ab" * 32, "uri": f"s3://bucket/v#sha256={'ab' * 32}"}
    )
    (port.path / MANIFEST).write_text(json.dumps(manifest))
    return path


def with_material(port: SignedPort, path: str, digest: str) -> dict[str, Any]:
    return {**link(port, "fetch")["materials"], path: {"sha256": digest}}


@pytest.mark.parametrize(
    ("digest", "expected"),
    [("ab" * 32, []), ("cd" * 32, ["fail: 00-source/hf-config/vocab.txt changed since the run."])],
)
def test_what_is_kept_elsewhere_has_the_digest_of_the_manifest(
    port: SignedPort, digest: str, expected: list[str]
) -> None:
    path = elsewhere(port)
    lay_out(port)
    run(port, "fetch", materials=with_material(port, path, digest))
    run(port, "tokenize")
    report = port.audit()
    assert said(report, "link-stale") == expected
    assert said(report, "link-incomplete") == []


def test_two_runs_of_one_step_that_differ(port: SignedPort) -> None:
    two_functionaries(port)
    path = elsewhere(port)
    steps = json.loads((port.path / "port.yaml").read_text())["steps"]
    steps["fetch"]["materials"][-1] = "00-source/hf-config/*.txt"
    (port.path / "00-source/hf-config/merges.txt").write_text("x")
    declare(port, steps)
    lay_out(port)
    run(port, "tokenize")
    run(port, "fetch", materials=with_material(port, path, "ab" * 32))
    run(port, "fetch", "second-machine")
    assert said(port.audit(), "link-rule-violated") == [
        f"fail: It has other materials or products than {min(_links('fetch'))}: two runs of one step that differ."
    ]


def _links(step: str) -> list[str]:
    return [link_path(step, seed) for seed in ("model-functionary", "second-machine")]


def test_steps_of_gates_that_are_not_judged_need_no_link(port: SignedPort) -> None:
    later = {"gate": "G1", "role": "model", "run": ["x"], "materials": [CONFIG], "products": ["01-reference/o"]}
    executor = {"kind": "local", "network": "none"}
    declare(port, {**STEPS, "later": {**later, "executor": executor}})
    lay_out(port)
    for step in STEPS:
        run(port, step)
    assert port.audit().exit_code == 0


def test_links_count_without_a_layout(port: SignedPort) -> None:
    chained(port)
    (port.path / LAYOUT).unlink()
    report = port.audit()
    assert report.exit_code == 0
    assert said(report, "link-missing") == ["notApplicable: There is no layout."]
    run(port, "fetch", byproducts={"return-value": 2})
    assert port.audit().exit_code == 1


def test_a_layout_that_ends_soon(port: SignedPort) -> None:
    chained(port)
    lay_out(port, expires="2026-12-05T12:00:00Z")
    assert said(port.audit(), "expires-soon") == ["fail: The layout ends on 2026-12-05, in 5 days."]


@pytest.mark.parametrize(("member", "value"), [("role", "export"), ("gate", "G1")])
def test_provenance_of_another_role_or_gate(port: SignedPort, member: str, value: str) -> None:
    chained(port)
    document = port.statement(link_path("fetch", "model-functionary"))
    digests = [{p: h["sha256"] for p, h in document[side].items()} for side in ("products", "materials")]
    gate = value if member == "gate" else "G0"
    provenance = port.authority.provenance("fetch", gate, "r", *digests, command=document["command"])
    kit.write_provenance(port.path, provenance, "export-functionary" if member == "role" else "model-functionary")
    (found,) = said(port.audit(), "link-statement-disagree")
    assert found.startswith(f"fail: It has another {member} than attestations/fetch.")


def test_nothing_is_looked_at_without_trust(port: SignedPort) -> None:
    chained(port)
    port.trusts = False
    report = port.audit()
    for rule in ("link-stale", "layout-threshold", "link-missing", "layout-missing"):
        assert said(report, rule)[0].startswith("notApplicable: No trust root is pinned"), rule


def test_steps_that_nobody_can_read(port: SignedPort) -> None:
    chained(port)
    (port.path / "port.yaml").write_text("schema: [")
    report = port.audit()
    (found,) = said(report, "layout-differs-from-port")
    assert found.startswith("open: Whether the layout and the links are of the port's steps is open. port.yaml cannot")
    assert report.exit_code == 1


def test_the_example_as_a_chain(tmp_path: Path, contract: Contract) -> None:
    """All five steps of the example, laid out, linked and attested, through G2."""
    port = signed_copy("full", tmp_path / "tiny-dense", contract)
    for path in (port.path / "attestations").iterdir():
        path.unlink()
    lay_out(port)
    minutes = count()
    for step in chain(port):
        document = port.statement(run(port, step.name))
        digests = [{p: h["sha256"] for p, h in document[side].items()} for side in ("products", "materials")]
        report = next((port.path / p for p in digests[0] if p.endswith("reference-report.json")), None)
        invocation = json.loads(report.read_text())["invocation"]["id"] if report else f"run-of-{step.name}"
        if step.name == "compare":
            invocation = json.loads((port.path / "02-onnx/onnx-report.json").read_text())["invocation"]["id"]
        for number in range(1, step.rebuilds + 1):
            name = invocation if number == 1 else f"{invocation}-{number}"
            provenance = port.authority.provenance(step.name, step.gate, name, *digests, command=list(step.command))
            provenance["predicate"]["runDetails"]["metadata"].update(kit.minute(next(minutes)))
            kit.run_with(provenance, step.executor, of=step)
            kit.write_provenance(port.path, provenance, seed_of(port, step.name), number)
    for slot in ("G1.model", "G2.export"):
        port.signoff(slot)
    with guard.inert():
        report_ = port.audit()
    assert [(r.rule, r.message) for r in report_.findings if report_.rule(r).trust] == []
    assert report_.exit_code == 0


PARSERS: dict[str, tuple[Callable[[Envelope, Schemas], object], Callable[[dict[str, Any]], object]]] = {
    "in-toto-link/v1": (parse_link, library_link),
    "in-toto-layout/v1": (parse_layout, library_layout),
}


@pytest.mark.parametrize("name", PARSERS)
def test_whatever_is_signed_is_refused_in_one_way(name: str, contract: Contract) -> None:
    """In-toto raises a dozen kinds of errors; here there is one."""
    document = contract.schemas[name].document
    parse, library = PARSERS[name]
    refused = 0
    for _, mutant in mutants(document, document["examples"][0]):
        try:
            parse(Envelope(path="x", payload=json.dumps(mutant).encode(), signatures=()), contract.schemas)
        except Malformed:
            refused += 1
        try:
            library(mutant)
        except Malformed:
            refused += 1
    assert refused > 100


WORDS = st.sampled_from(
    ["MATCH", "match", "IN", "WITH", "PRODUCTS", "FROM", "a", "*", "", "ALLOW", "REQUIRE", "DISALLOW"]
)


@given(st.lists(st.lists(WORDS, max_size=11), max_size=4))
def test_rules_are_taken_or_refused(rules: list[list[str]]) -> None:
    step = {
        "_type": "step",
        "name": "a",
        "expected_command": [],
        "expected_materials": rules,
        "expected_products": [],
        "pubkeys": [],
        "threshold": 1,
    }
    members = {"_type": "layout", "expires": "2090-01-01T00:00:00Z", "inspect": [], "keys": {}, "readme": ""}
    with suppress(Malformed):
        library_layout({**members, "steps": [step]})


def test_the_text_names_what_is_open(port: SignedPort) -> None:
    chained(port)
    (port.path / link_path("fetch", "model-functionary")).unlink()
    told = " ".join(render(port.audit()).split())
    assert "0 of the 1 functionaries of model that are needed ran fetch. port.yaml" in told
    port.trusts = False
    assert "functionaries of model" not in render(port.audit()), "there is one reason, and the head tells it"

"""What port.yaml's steps come to, as a chain and as a layout."""

from dataclasses import replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from securesystemslib.signer import Key

from calaudit.contract import Contract
from calaudit.contract.globs import Glob
from calaudit.errors import Malformed
from calaudit.trust.envelope import Envelope
from calaudit.trust.fault import Refused
from calaudit.trust.keys import KeylessKey
from calaudit.trust.layout import library_layout, verify_layout
from calaudit.trust.layout_rules import _forms, _is_exact, compile_layout
from calaudit.trust.registry import Registry
from calaudit.trust.steps import read_chain
from tests.casebook import PORT
from tests.trust.authority import NOW, Authority
from tests.trust.chained import chained, layout, registry
from tests.trust.signed_port import SignedPort, signed_copy

EXPIRES = datetime(2027, 1, 1, tzinfo=UTC)


def step(materials: list[str], products: list[str], **more: Any) -> dict[str, Any]:
    executor = {"kind": "local", "network": "none"}
    made = {"gate": "G1", "role": "model", "run": ["make"], "executor": executor}
    return {**made, "materials": materials, "products": products, **more}


@pytest.fixture
def found(contract: Contract) -> Registry:
    from calaudit.trust import establish

    made = establish(Authority().source(), NOW, contract.schemas).registry
    assert made is not None
    return made


# The chain ----------------------------------------------------------------------------------------------------------


def test_the_steps_of_the_example_in_their_order() -> None:
    chain = read_chain(yaml.safe_load((PORT / "port.yaml").read_text("utf-8")))
    assert {step.name: step.upstream for step in chain} == {
        "export": (),
        "reference": (),
        "reference-again": (),
        "compare": ("export", "reference", "reference-again"),
        "inventory": ("export",),
    }


@pytest.mark.parametrize("document", [None, [], {}, {"steps": {}}])
def test_a_port_without_steps(document: Any) -> None:
    assert read_chain(document) == ()


def test_a_tool_that_another_step_makes_is_an_input() -> None:
    steps = {"use": step(["in/*"], ["out"], tools=["bin/tool"]), "build": step(["src/**"], ["bin/*"])}
    assert [s.name for s in read_chain({"steps": steps})] == ["build", "use"]


def test_steps_that_wait_for_each_other() -> None:
    with pytest.raises(Malformed, match="The steps go round in a circle: "):
        read_chain({"steps": {"a": step(["x/**"], ["y/1"]), "b": step(["y/*"], ["x/a/b"])}})


def test_two_makers_of_one_file() -> None:
    with pytest.raises(Malformed, match=r"The steps a \(out/\*\) and b \(out/x\) may write one file"):
        read_chain({"steps": {"a": step(["x"], ["out/*"]), "b": step(["y"], ["out/x"])}})


def test_what_is_signed_and_what_it_writes_is_no_input_of_a_step() -> None:
    (made,) = read_chain({"steps": {"a": step(["**"], ["out/*"])}})
    files = dict.fromkeys(["in", "out/x", "signoffs/G0.model.dsse.json", "attestations/a.01234567.link"], "00")
    assert list(made.consumed(files)) == ["in"]
    assert list(made.made(files)) == ["out/x"]


# The rules ----------------------------------------------------------------------------------------------------------


def test_the_rules_of_a_step(found: Registry) -> None:
    steps = {
        "first": step(["src/**"], ["mid/*.bin", "mid/list"]),
        "second": step(["mid/**", "configs/*.yaml", "top.txt"], ["out/**", "report[1].json"], tools=["t.py"]),
    }
    made = compile_layout("p", read_chain({"steps": steps}), found, EXPIRES)
    second = made["steps"][1]
    assert second["expected_materials"] == [
        ["REQUIRE", "top.txt"],
        ["REQUIRE", "t.py"],
        ["MATCH", "mid/*.bin", "WITH", "PRODUCTS", "FROM", "first"],
        ["MATCH", "mid/list", "WITH", "PRODUCTS", "FROM", "first"],
        ["DISALLOW", "mid/list"],
        ["ALLOW", "mid/*"],
        ["ALLOW", "configs/*.yaml"],
        ["ALLOW", "top.txt"],
        ["ALLOW", "t.py"],
        ["DISALLOW", "*"],
    ]
    assert second["expected_products"] == [
        ["REQUIRE", "report[1].json"],
        ["ALLOW", "out/*"],
        ["ALLOW", "report[[]1].json"],
        ["DISALLOW", "*"],
    ]
    assert (made["inspect"], made["expires"]) == ([], "2027-01-01T00:00:00Z")
    assert list(library_layout(made).keys) == sorted(made["keys"])


SEGMENTS = st.sampled_from(["a", "b", "ab", "**", "*", "a*", "?b", "[a]", "a.b"])
NAMES = st.sampled_from(["a", "b", "ab", "x", "[a]", "a.b", "axb"])


@given(st.lists(SEGMENTS, min_size=1, max_size=5), st.lists(NAMES, min_size=1, max_size=5))
def test_in_totos_patterns_let_pass_no_less_than_the_glob(segments: list[str], names: list[str]) -> None:
    pattern, path = "/".join(segments), "/".join(names)
    passes = any(fnmatchcase(path, form) for form in _forms(pattern))
    fits = Glob(pattern).matches(path)
    assert passes or not fits
    if _is_exact(pattern):
        assert passes is fits


def test_a_glob_that_is_too_wild(found: Registry) -> None:
    wild = "/".join(["**", "x"] * 7)
    with pytest.raises(Malformed, match="has more than 6"):
        compile_layout("p", read_chain({"steps": {"a": step([wild], ["y"])}}), found, EXPIRES)


def test_keyless_functionaries_sign_no_links(found: Registry) -> None:
    role = found.roles["model-functionary"]
    keyless: Key = KeylessKey.of("ci@example.org", "https://issuer.example")
    chain = read_chain({"steps": {"a": step(["x"], ["y"])}})

    def layout_with(**changes: Any) -> dict[str, Any]:
        roles = {**found.roles, role.name: replace(role, **changes)}
        return compile_layout("p", chain, replace(found, roles=roles), EXPIRES)

    both = layout_with(keys={**role.keys, keyless.keyid: keyless})
    assert list(both["keys"]) == both["steps"][0]["pubkeys"] == list(role.keys)
    with pytest.raises(Malformed, match=r"no keys \(or too few\) for model-functionary"):
        layout_with(keys={keyless.keyid: keyless})


# Verification -------------------------------------------------------------------------------------------------------


def test_nobody_owns_release(tmp_path: Path, contract: Contract) -> None:
    port = signed_copy("g0", tmp_path / "tiny-dense", contract)
    chained(port)
    whole = registry(port)
    without = replace(whole, roles={n: r for n, r in whole.roles.items() if n != "release"})
    with pytest.raises(Refused, match="Nobody owns the role release"):
        verify_layout(_envelope(layout(port)), port="p", chain=(), registry=without, schemas=contract.schemas, now=NOW)


def test_the_layout_of_another_order_of_steps_is_another_layout(tmp_path: Path, contract: Contract) -> None:
    port: SignedPort = signed_copy("g0", tmp_path / "tiny-dense", contract)
    chained(port)
    document = layout(port)
    document["steps"].reverse()
    port.sign("attestations/root.layout", document, "release", "release-2")
    said = [r.message for r in port.audit().results if r.rule == "layout-differs-from-port"]
    told = "It has steps in another order than port.yaml and the registry come to today."
    assert said == [f"{told} Compile and sign it again."]


def _envelope(document: Any) -> Envelope:
    import rfc8785

    return Envelope(path="attestations/root.layout", payload=rfc8785.dumps(document), signatures=())

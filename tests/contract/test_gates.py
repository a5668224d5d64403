"""gates.yaml: one gate a file, gates in order, nothing that can never match."""

import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calaudit.contract import Contract, Gates
from calaudit.contract.gates import parse_gates
from calaudit.errors import ContractError
from calaudit.evidence.strict_json import parse_json
from tests.contract.make import artifact, document, gate, gates


@pytest.fixture(scope="session")
def shipped(contract: Contract) -> Gates:
    return contract.gates


def test_the_shipped_gates_stand_in_the_order_of_the_runbook(contract: Contract) -> None:
    assert list(contract.gates.gates) == [f"G{n}" for n in range(11)]
    assert [g.owner for g in contract.gates.gates.values()] == [
        *("model", "model", "export", "compiler", "quant", "compiler", "runtime", "runtime", "runtime"),
        *("serving", "release"),
    ]


def test_every_shipped_artifact_is_reached_by_its_own_path(contract: Contract) -> None:
    for spec in contract.gates.artifacts():
        example = contract.gates.glob(spec.pattern).example()
        assert contract.gates.match(example) is spec, spec.name
        assert contract.gates.gate_of(example) == spec.gate


NAMES = ["00-source", "02-onnx", "model.onnx", "x.json", "a.npy", "repros", "hf-config", "vendor", "05-calbin"]


@given(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map("/".join))
def test_a_path_has_exactly_one_gate(shipped: Gates, path: str) -> None:
    spec = shipped.match(path)
    owners = {s.gate for s in shipped.artifacts() if shipped.glob(s.pattern).matches(path)}
    assert owners == (set() if spec is None else {spec.gate})
    assert shipped.gate_of(path) in {*shipped.gates, "port"}


def test_a_file_that_nobody_declared_belongs_to_the_gate_of_its_folder(contract: Contract) -> None:
    assert contract.gates.match("01-reference/surprise.bin") is None
    assert contract.gates.gate_of("01-reference/surprise.bin") == "G1"
    assert contract.gates.gate_of("surprise.bin") == "port"


def test_an_exact_path_wins_over_a_pattern_before_it() -> None:
    found = gates(gate(0, artifact("exact", "a/b.json"), artifact("all", "a/*.json")))
    assert getattr(found.match("a/b.json"), "name", None) == "exact"
    assert getattr(found.match("a/c.json"), "name", None) == "all"


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (document(gate(0), gate(0)), "two gates are called G0"),
        (document(gate(0, folder="00-x"), gate(1, folder="00-x")), "two gates have the folder 00-x"),
        (document(gate(0, artifact("a", "x"), artifact("a", "y"))), "two artifacts are named a"),
        (document(gate(0, artifact("a", "x")), gate(1, artifact("b", "x"))), "two artifacts have the path x"),
        (document(gate(0, artifact("a", "x/**")), gate(1, artifact("b", "x/y.json"))), "can be one file"),
        (document(gate(0, artifact("a", "x/*.json")), port=[artifact("b", "**/y.*")]), "can be one file"),
        (document(gate(0, artifact("a", "x/**"), artifact("b", "x/*.json"))), "b: the path x/*.json is never reached"),
        (document(gate(0, artifact("a", "x/y**"))), "a ** is only part of a segment"),
        (document(gate(0, depends=["G1"]), gate(1)), "G0 depends on G1, which does not stand before it"),
        (document(gate(0, depends=["G0"])), "G0 depends on G0"),
        (document(gate(0, cosigners=["quant", "model"])), "its owner model is also a co-signer"),
    ],
)
def test_contradictions(broken: dict[str, object], message: str) -> None:
    with pytest.raises(ContractError) as caught:
        parse_gates(broken)
    assert message in str(caught.value)
    assert str(caught.value).startswith("policies/gates.yaml: ")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("TBD", True),
        ("  TBD ", True),
        ("", False),
        (" \u00a0\u3000", True),
        ("\u200b", True),
        ("T\u200bBD", True),
        ("REQUIRED: the digest", True),
        ("TBD.", False),
        ("tbd", False),
        (0, False),
        (None, False),
    ],
)
def test_placeholders(value: object, *, expected: bool) -> None:
    assert gates().placeholders.is_placeholder(value) is expected


@given(
    value=st.one_of(
        st.text(max_size=4),
        st.sampled_from(["TBD", " TBD", "TODO\t", "REQUIRED: a date", " ", "\n", "\u00a0", "\u200b", "..."]),
        st.sampled_from([0, -0.0, 0.0, 1, 0.5]),
    ),
    member=st.sampled_from(["bytes", "vocab_size", "other"]),
)
def test_the_quick_look_at_a_document_misses_no_placeholder(contract, value, member):
    placeholders = contract.gates.placeholders
    is_zero = member in placeholders.zero and value == 0
    if placeholders.is_placeholder(value) or is_zero:
        document = {"a": [{member: value}]}
        assert placeholders.may_be_in(orjson.dumps(document))
        for how in ({}, {"indent": 1}, {"separators": (" ,\n", "\t:\r\n ")}, {"ensure_ascii": False}):
            assert placeholders.may_be_written_in(json.dumps(document, **how).encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize(
    "text",
    [
        r'{"a": "T\u0042D"}',
        r'{"a": "\u0054BD"}',
        r'{"\u0062ytes": 0}',
        '{"bytes": 0.0}',
        '{"bytes" : -0}',
        '{"bytes":\n0e9}',
        '{"bytes": 1e-400}',
        '{"bytes": -12.5E-4000}',
    ],
)
def test_the_quick_look_at_a_text_knows_every_way_to_write_it(contract: Contract, text: str) -> None:
    placeholders = contract.gates.placeholders
    ((member, value),) = parse_json(text.encode()).items()
    assert placeholders.is_placeholder(value) or (member in placeholders.zero and value == 0)
    assert placeholders.may_be_written_in(text.encode())


def test_the_quick_look_at_a_text_passes_numbers_by(contract: Contract) -> None:
    text = b'{"sample_id": "a", "bytes": 10, "top": [[0, 0.5], [7, -1e-9]], "sha256": "00ff"}\n'
    assert not contract.gates.placeholders.may_be_written_in(text)


@pytest.mark.parametrize(
    "value",
    [
        "${NAME}",
        "{{ name }}",
        "<fill in>",
        "<Your model>",
        "FIXME: ask",
        "TODO (A. Smith)",
        "REPLACE_ME",
        " TBD - soon",
    ],
)
def test_what_a_template_leaves(value: str, contract: Contract) -> None:
    placeholders = contract.gates.placeholders
    assert placeholders.is_placeholder(value)
    assert placeholders.may_be_in(orjson.dumps({"a": value}))


@pytest.mark.parametrize("value", ["<s>", "<|bos|>", "<FILL_ME>", "<filename>", "{}", "${", "TODOs are done", "Tbdova"])
def test_what_a_model_says(value: str, contract: Contract) -> None:
    assert not contract.gates.placeholders.is_placeholder(value)

"""Small files that ask for much work: the work is linear, or refused. Where it is not, a test here does not end."""

from collections.abc import Callable
from pathlib import Path

import onnx
import pytest

from calaudit.checks.common.absolute_path import _PATH
from calaudit.checks.common.secret_found import PATTERNS
from calaudit.contract import Contract
from calaudit.errors import Malformed, MissingFact
from calaudit.evidence import gather
from calaudit.evidence.strict_json import VALUES_MAX, parse_json
from calaudit.facts import Facts
from calaudit.facts.onnx.cost import too_costly
from calaudit.facts.source.licenses import read_license
from calaudit.facts.source.limits import LimitsFact
from calaudit.facts.tensors.npy import read_header
from calaudit.facts.tokens.tokenizer import TEXT_MAX, TokenizerFact
from tests import graph_edits
from tests.attacks import forge
from tests.casebook import PORT

SEARCHES = [*(pattern.compiled for pattern in PATTERNS), _PATH]


@pytest.mark.parametrize(
    "text",
    [
        b"password=-" * 60_000,
        b"password" + b" " * 400_000,
        b"a." * 200_000 + b" ://",
        b"a-" * 200_000 + b"://",
        b"x://" + b"a:" * 200_000,
        b"eyJ-" * 100_000,
        b"eyJaaaaaaaaaa." * 40_000,
        b"sk-a-" * 100_000,
        b"-----BEGIN " + b"A " * 200_000 + b"PRIVATE KEY-----x",
        b"1234@a" + b".a" * 200_000,
        b"/tmp" * 100_000,
        b"/tmp/a" + b"/a" * 200_000,
    ],
    ids=lambda text: text[:16].decode(),
)
def test_searching_takes_linear_time(text: bytes) -> None:
    for regex in SEARCHES:
        for _ in regex.finditer(text):
            pass


def test_many_hits_are_counted_in_linear_time(tmp_path: Path, contract: Contract) -> None:
    def fill(port: Path) -> None:
        (port / "tools/paths.txt").write_bytes(b"/tmp/a\n" * 100_000)

    report = forge.judge(tmp_path, contract, fill)
    assert len([r for r in report.of("common.absolute-path") if r.gate == "port"]) == 1001


@pytest.mark.parametrize("document", [b"[" + b"[]," * VALUES_MAX + b"[]]", b"[" + b'"a",' * VALUES_MAX + b'""]'])
def test_a_document_of_too_many_values_is_not_built(document: bytes) -> None:
    with pytest.raises(Malformed, match="more than 4194304 values"):
        parse_json(document)


def test_a_tensor_of_too_many_dimensions_is_none() -> None:
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (" + b"1," * 33 + b")}"
    with pytest.raises(Malformed, match="at most 32"):
        read_header(b"\x93NUMPY\x01\0" + len(header).to_bytes(2, "little") + header + b"\0" * 4)


def test_ten_thousand_licences_are_read_from_one_list() -> None:
    for number in range(200):
        assert read_license(f"MIT OR LicenseRef-{number}").problem is None


def test_a_text_beyond_any_context_is_not_tokenized(contract: Contract) -> None:
    tokenizer = Facts(gather(PORT, specs=contract.gates, schemas=contract.schemas), contract).get(TokenizerFact)
    with pytest.raises(MissingFact, match="more than 1048576 are not tokenized"):
        tokenizer.encode("a" * (TEXT_MAX + 1))


def test_nothing_counts_to_a_billion_layers(tmp_path: Path, contract: Contract) -> None:
    def boast(port: Path) -> None:
        forge.edit(port / "00-source/hf-config/config.json", lambda c: c.update(num_hidden_layers=10**9))

    report = forge.judge(tmp_path, contract, boast)
    facts = Facts(gather(tmp_path / "port", specs=contract.gates, schemas=contract.schemas), contract)
    with pytest.raises(MissingFact, match="more than 10000"):
        facts.get(LimitsFact)
    assert any(answer.startswith("open: ") for answer in forge.answers(report, "G1.golden-boundary-missing"))


def graph() -> onnx.ModelProto:
    return onnx.load_model(str(PORT / "02-onnx/model.onnx"), load_external_data=False)


def test_an_honest_graph_is_cheap() -> None:
    assert too_costly(graph()) is None


@pytest.mark.parametrize(
    ("edit", "reason"),
    [(graph_edits.double_shapes, "shapes of more than"), (graph_edits.nest_functions, "expand to more than")],
)
def test_work_that_doubles_is_refused_before_native_code_sees_it(
    edit: Callable[[onnx.ModelProto], None], reason: str
) -> None:
    model = graph()
    edit(model)
    assert reason in (too_costly(model) or "")


def test_shapes_that_double_inside_functions_are_refused() -> None:
    model = graph()
    imports = [onnx.helper.make_opsetid("", 20), onnx.helper.make_opsetid("local", 1)]
    double = onnx.helper.make_node("Concat", ["x", "x"], ["y"], axis=0)
    model.functions.append(onnx.helper.make_function("local", "Double", ["x"], ["y"], [double], imports))
    model.graph.node.append(onnx.helper.make_node("Shape", ["norm"], ["n.0"]))
    for n in range(30):
        model.graph.node.append(onnx.helper.make_node("Double", [f"n.{n}"], [f"n.{n + 1}"], domain="local"))
    assert "shapes of more than" in (too_costly(model) or "")


def test_a_function_that_calls_itself_is_refused() -> None:
    model = graph()
    imports = [onnx.helper.make_opsetid("local", 1)]
    again = onnx.helper.make_node("Again", ["x"], ["y"], domain="local")
    model.functions.append(onnx.helper.make_function("local", "Again", ["x"], ["y"], [again], imports))
    model.graph.node.append(onnx.helper.make_node("Again", ["norm"], ["far"], domain="local"))
    assert too_costly(model) is not None

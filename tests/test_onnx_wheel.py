"""The 149 models of the onnx wheel as ports: no rule crashes, none of them passes G2."""

import shutil
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

import pytest

from calaudit.checks import discover
from calaudit.contract import Contract
from calaudit.engine import run
from calaudit.errors import MissingFact
from calaudit.evidence import gather
from calaudit.facts import Facts
from calaudit.facts.onnx.graph import OnnxGraph
from calaudit.facts.onnx.signature import OnnxSignature
from calaudit.facts.onnx.structure import OnnxStructure
from calaudit.facts.onnx.weights import OnnxWeights
from calaudit.judgement import judge
from calaudit.model import Port, Verdict
from calaudit.trust import Signed, establish
from tests.facts.test_onnx_proto import agree

SPEC = find_spec("onnx")
FOLDER = Path(str(SPEC.origin)).parent / "backend" / "test" / "data" if SPEC else Path()
MODELS = sorted(FOLDER.rglob("*.onnx"))
NOW = datetime(2026, 11, 30, tzinfo=UTC)
CHECKS = [c for c in discover() if c.rule.gate == "G2"]


def test_the_wheel_has_models() -> None:
    assert len(MODELS) >= 100


def nobody(_technical: object, _rules: object) -> Signed:
    """Nothing is signed."""
    return Signed(trust=establish(None, NOW, None))


@pytest.mark.parametrize("model", MODELS, ids=[p.relative_to(FOLDER).as_posix() for p in MODELS])
def test_model(model: Path, tmp_path: Path, contract: Contract) -> None:
    (tmp_path / "02-onnx").mkdir()
    shutil.copyfile(model, tmp_path / "02-onnx" / "model.onnx")
    facts = Facts(gather(tmp_path, specs=contract.gates, schemas=contract.schemas), contract)
    params = {name: param.value for name, param in contract.params.items()}
    done = run(contract, CHECKS, facts, port=Port(), params=params, planned=["G2"], signed=nobody)
    assert done.crashes == ()
    gate = next(g for g in done.gates if g.gate == "G2")
    assert judge(gate.results) is not Verdict.PASSED
    agree(facts.get(OnnxGraph).model)
    assert facts.get(OnnxStructure).problems == ()
    assert facts.get(OnnxWeights).inline_faults == ()
    try:
        assert facts.get(OnnxSignature).checker_error is None
    except MissingFact:
        pytest.fail("the checker was not shown a sound model")

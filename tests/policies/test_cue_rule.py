"""Policies in CUE: vetted by whoever can, and without anybody nothing passes."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from calaudit import audit
from calaudit.checks.catalogue import catalogue
from calaudit.checks.cue_rule import cue_check
from calaudit.contract import Contract, load_contract
from calaudit.errors import ContractError
from calaudit.model import Kind, Level, Report
from tests import guard

PORT = "schema: calaudit-port/v1\nid: some-port\nprofile: example\nstage: development\nclaim: G0\n"
SOURCE = b"port: stage: string\n"


@dataclass(frozen=True)
class Fault:
    message: str
    pointer: str | None = None
    line: int | None = None


def demands_port(document: dict[str, object]) -> tuple[Fault, ...]:
    return () if "port" in document else (Fault("port: missing (shape.cue:1:1)", ""),)


@dataclass
class Engine:
    """Stands in for the cue command; remembers what it was asked."""

    judge: Callable[[dict[str, object]], tuple[Fault, ...]] = demands_port
    version: str = "0.0.0"
    sha256: str = "ab" * 32
    asked: list[tuple[str, bytes, dict[str, object]]] = field(default_factory=list)

    def vet(self, name: str, policy: bytes, document: bytes) -> tuple[Fault, ...]:
        self.asked.append((name, policy, json.loads(document)))
        return self.judge(json.loads(document))


@pytest.fixture
def port(tmp_path: Path) -> Path:
    (tmp_path / "port").mkdir()
    (tmp_path / "port" / "port.yaml").write_text(PORT)
    return tmp_path / "port"


@pytest.fixture
def strict(tmp_path: Path) -> Contract:
    (tmp_path / "acme").mkdir()
    (tmp_path / "acme" / "shape.cue").write_bytes(SOURCE)
    return load_contract(overlays=[tmp_path / "acme"])


def said(report: Report) -> list[tuple[Kind, str]]:
    return [(result.kind, result.message) for result in report.of("port.shape")]


def test_the_engine_sees_what_facts_prints(port: Path, strict: Contract) -> None:
    from click.testing import CliRunner

    from calaudit.cli import cli

    engine = Engine()
    with guard.inert():
        report = audit(port, contract=strict, vetter=engine)
    assert said(report) == [(Kind.PASS, "")]
    assert report.rules["port.shape"].tier == "cue"
    name, source, document = engine.asked[-1]
    assert (name, source) == ("shape.cue", SOURCE)
    assert document == json.loads(CliRunner().invoke(cli, ["facts", str(port)]).stdout)


def test_the_report_names_the_engine(port: Path, strict: Contract) -> None:
    engine = Engine(version="0.14.1", sha256=hashlib.sha256(b"cue").hexdigest())
    report = audit(port, contract=strict, vetter=engine)
    assert f"CUE policies were vetted by cue 0.14.1 (sha256 {engine.sha256})." in report.notes


def test_a_fault_fails(port: Path, strict: Contract) -> None:
    fault = Fault("port.stage: conflicting values (shape.cue:1:14)", "/port/stage", 3)
    report = audit(port, contract=strict, vetter=Engine(lambda _: (fault,)))
    assert said(report) == [(Kind.FAIL, fault.message)]
    (result,) = report.of("port.shape")
    assert result.level is Level.ERROR
    assert report.exit_code == 1


def test_without_an_engine_nothing_is_audited(port: Path, strict: Contract) -> None:
    with pytest.raises(ContractError, match=r"shape\.cue: policies in CUE need the cue command.*--cue PATH"):
        audit(port, contract=strict)


def test_a_policy_that_is_content_with_nothing_is_refused(port: Path, strict: Contract) -> None:
    with pytest.raises(ContractError, match=r"shape\.cue: it is content with a document without any fact"):
        audit(port, contract=strict, vetter=Engine(lambda _: ()))


def test_an_engine_that_breaks_is_no_pass(port: Path, strict: Contract) -> None:
    def broken(document: dict[str, object]) -> tuple[Fault, ...]:
        if document:
            raise OSError("gone")
        return (Fault("x"),)

    report = audit(port, contract=strict, vetter=Engine(broken))
    assert [kind for kind, _ in said(report)] == [Kind.OPEN]
    assert report.exit_code == 4


def test_a_catalogue_without_an_engine_lists_the_rule(strict: Contract) -> None:
    rules = {item.rule.key: item for item in catalogue(strict)}
    assert rules["port.shape"].rule.title == "The facts of the port unify with shape.cue"
    assert rules["port.shape"].rule.trust is False


def test_a_rule_without_an_engine_is_open(port: Path, strict: Contract) -> None:
    from calaudit.checks import View
    from calaudit.errors import MissingFact
    from calaudit.evidence import gather
    from calaudit.facts import Facts
    from calaudit.model import Port

    facts = Facts(gather(port, specs=strict.gates, schemas=strict.schemas), strict)
    item = cue_check(strict.cue[0], None)
    with pytest.raises(MissingFact, match="No CUE engine"):
        list(item.run(View(item.rule, "port", facts, Port(), {})))


def test_a_document_without_facts_passes_nothing(port: Path, strict: Contract, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calaudit.checks.cue_rule.facts_document", lambda _: ({}, []))
    calls = iter([(Fault("x"),), ()])  # the second time the engine is content with nothing
    report = audit(port, contract=strict, vetter=Engine(lambda _: next(calls)))
    assert said(report) == [(Kind.OPEN, "Nothing was examined, so nothing can be said.")]


def test_the_bytes_are_part_of_the_contract(tmp_path: Path, strict: Contract) -> None:
    (tmp_path / "acme" / "shape.cue").write_bytes(SOURCE + b"// a remark\n")
    assert load_contract(overlays=[tmp_path / "acme"]).digest != strict.digest

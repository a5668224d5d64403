"""The steps of port.yaml, and what is refused before anything runs."""

from pathlib import Path
from typing import Any

import pytest

from calaudit.contract import Contract
from calaudit.errors import UsageError
from calaudit.execute.order import in_order, upstream
from calaudit.execute.steps import read_steps
from tests.execute.small import make_port, raw, step


def read(tmp_path: Path, contract: Contract, **steps: Any) -> Any:
    return read_steps(
        make_port(tmp_path / "port", {k.replace("_", "-"): v for k, v in steps.items()}), contract.schemas
    )


def test_the_example_has_steps(contract: Contract) -> None:
    plan = read_steps(Path("examples/model-port/tiny-dense"), contract.schemas)
    assert plan.port == "tiny-dense"
    assert [s.name for s in plan.steps] == ["reference", "reference-again", "export", "inventory", "compare"]
    assert plan.steps[0].kind == "bwrap"
    assert plan.steps[0].env == {"OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "SOURCE_DATE_EPOCH": "1795910400"}


@pytest.mark.parametrize(
    ("member", "told"),
    [
        ({"products": ["in.txt"]}, "reads what it writes"),
        ({"products": ["**"]}, "reads what it writes"),
        ({"materials": [], "tools": []}, "reads nothing"),
        ({"products": ["attestations/x.link"]}, "not a step's to make"),
        ({"products": ["signoffs/**"]}, "not a step's to make"),
        ({"env": {"HOME": "/root"}}, "which the executor sets"),
        ({"env": {"KEY": "x"}, "secrets": ["KEY"]}, "among env and among secrets"),
        ({"executor": {"kind": "oci", "network": "none"}}, "names no executor.image"),
        ({"executor": {"kind": "bwrap", "network": "licence.example:27000"}}, "cannot enforce"),
        ({"nonsense": 1}, "nonsense"),
    ],
)
def test_a_step_that_contradicts_itself(tmp_path: Path, contract: Contract, member: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        read(tmp_path, contract, make=raw(**member))


def test_an_endpoint_is_for_local_steps_only(tmp_path: Path, contract: Contract) -> None:
    plan = read(tmp_path, contract, make=raw(executor={"kind": "local", "network": "licence.example:27000"}))
    assert plan.steps[0].network == "licence.example:27000"


def test_a_manifest_is_never_read_in_part(tmp_path: Path, contract: Contract, monkeypatch: pytest.MonkeyPatch) -> None:
    read(tmp_path, contract, make=raw())
    path = tmp_path / "port" / "port.yaml"
    size = path.stat().st_size
    monkeypatch.setattr("calaudit.execute.manifest.DOCUMENT_LIMIT", size)
    assert read_steps(path.parent, contract.schemas).steps
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(UsageError, match="Make it smaller"):
        read_steps(path.parent, contract.schemas)


def test_no_manifest_and_no_steps(tmp_path: Path, contract: Contract) -> None:
    with pytest.raises(UsageError, match="Is this a port"):
        read_steps(tmp_path, contract.schemas)
    (tmp_path / "port.yaml").write_text(
        "{schema: calaudit-port/v1, id: a, profile: example, stage: development, claim: G0}"
    )
    with pytest.raises(UsageError, match="no steps"):
        read_steps(tmp_path, contract.schemas)


A = step(name="a", materials=("in.txt",), products=("a/**",))
B = step(name="b", materials=("a/x", "in.txt"), products=("b.txt",))
C = step(name="c", materials=("b.txt", "a/*"), products=("c.txt",))


def test_steps_come_after_what_they_read() -> None:
    assert [s.name for s in in_order([C, B, A])] == ["a", "b", "c"]
    assert upstream([C, B, A]) == {"c": ("b", "a"), "b": ("a",), "a": ()}


def test_otherwise_the_order_is_that_of_the_manifest() -> None:
    free = [step(name=n, products=(n,)) for n in ("z", "m", "a")]
    assert [s.name for s in in_order(free)] == ["z", "m", "a"]


def test_steps_that_wait_for_each_other() -> None:
    one, other = (
        step(name="one", materials=("b",), products=("a",)),
        step(name="two", materials=("a",), products=("b",)),
    )
    with pytest.raises(UsageError, match=r"wait for each other: (one, two, one|two, one, two)"):
        in_order([A, one, other])


def test_two_steps_that_write_one_path() -> None:
    with pytest.raises(UsageError, match=r"a and b write the same files \(a/\*\* and a/x\)"):
        in_order([A, step(name="b", products=("a/x",))])

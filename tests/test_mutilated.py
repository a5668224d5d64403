"""A port with one file truncated, emptied, garbage or another gate's: results, no traceback, never PASSED."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from calaudit import Verdict, audit
from calaudit.contract import Contract, load_contract
from calaudit.model import PORT as PORT_GATE
from tests import memo
from tests.casebook import PORT, SIGNED, copy_port


def one_file_an_artifact() -> list[str]:
    """The first file of every artifact that the example has: tensors and scripts are many and alike."""
    gates = load_contract().gates
    first: dict[str, str] = {}
    files = (p.relative_to(PORT) for p in PORT.rglob("*") if p.is_file())
    for path in sorted(p.as_posix() for p in files if p.parts[0] not in SIGNED):
        spec = gates.match(path)
        first.setdefault(spec.name if spec else path, path)
    return sorted(first.values())


def truncated(port: Path, name: str) -> None:
    data = (port / name).read_bytes()
    (port / name).write_bytes(data[: len(data) * 2 // 3])


def emptied(port: Path, name: str) -> None:
    (port / name).write_bytes(b"")


def garbage(port: Path, name: str) -> None:
    (port / name).write_bytes(bytes((i * 197 + 31) % 256 for i in range(4096)))


def another_gates_file(port: Path, name: str) -> None:
    other = "00-source/source-manifest.json" if not name.startswith("00-") else "02-onnx/export-config.yaml"
    shutil.copyfile(port / other, port / name)


@pytest.mark.parametrize("mutilate", [truncated, emptied, garbage, another_gates_file])
@pytest.mark.parametrize("name", one_file_an_artifact())
def test_one_bad_file(
    name: str, mutilate: Callable[[Path, str], None], tmp_path: Path, contract: Contract, inert: None
) -> None:
    port = tmp_path / "tiny-dense"
    copy_port(port)
    mutilate(port, name)
    with memo.remembered():
        report = audit(port, contract=contract)
    assert report.exit_code in (1, 3), report.notes
    assert report.verdict is not Verdict.PASSED
    # The unsigned example is INCOMPLETE anyway: what counts is that a technical rule of some gate saw it.
    seen = [r for r in report.findings if not report.rule(r).trust and not r.blocked_gates]
    unjudged = contract.gates.gate_of(name) == PORT_GATE and not _is_judged(contract, name)
    assert seen or unjudged, f"nobody noticed that {name} was {mutilate.__name__}"


def _is_judged(contract: Contract, name: str) -> bool:
    """Scripts and free-form texts at port level are hashed for signoffs and read as text, nothing more."""
    spec = contract.gates.match(name)
    return spec is not None and spec.schema is not None

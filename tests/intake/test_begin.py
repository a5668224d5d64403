"""``calaudit init``: what it writes, what it refuses, and that it leaves nothing half done."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from calaudit import audit
from calaudit.contract import Contract
from calaudit.errors import UsageError
from calaudit.intake.begin import FOLDERS, Begun, Wishes, begin
from calaudit.intake.checkpoint import read_checkpoint
from calaudit.model import Kind, Report, Verdict
from tests.casebook import PORT

FIXTURES = Path(__file__).parent.parent / "fixtures" / "hf-configs"
WISHES = Wishes(profile="dense-single-chip")
MANIFEST = "00-source/source-manifest.json"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    shutil.copy(FIXTURES / "llama3-v4.json", folder / "config.json")
    return folder


def manifest_of(port: Path) -> dict[str, Any]:
    document = json.loads((port / MANIFEST).read_text("utf-8"))
    assert isinstance(document, dict)
    return document


def open_places(report: Report) -> set[tuple[str, str]]:
    return {
        (r.location.path, r.location.pointer or "")
        for r in report.of("placeholder-left")
        if r.kind is Kind.FAIL and r.location is not None
    }


def told_places(begun: Begun) -> set[tuple[str, str]]:
    return {(path, pointer) for path, pointers in begun.missing.items() for pointer in pointers}


@pytest.mark.parametrize("name", sorted(path.stem for path in FIXTURES.glob("*.json")))
def test_a_fresh_port_of_any_family_is_judged_and_told_what_is_missing(
    name: str, tmp_path: Path, contract: Contract
) -> None:
    model, port = tmp_path / "model", tmp_path / "port"
    model.mkdir()
    shutil.copy(FIXTURES / f"{name}.json", model / "config.json")
    begun = begin(port, model, contract, WISHES)
    report = audit(port, contract=contract, jobs=1)
    assert report.verdict is Verdict.FAILED
    assert report.exit_code == 1
    assert report.notes == ()
    assert open_places(report) == told_places(begun)
    assert {(MANIFEST, "/license"), (MANIFEST, "/model_id"), ("vendor/kickoff.json", "/vendor")} <= told_places(begun)
    assert (port / "00-source/hf-config/config.json").read_bytes() == (model / "config.json").read_bytes()


def test_the_layout(model: Path, tmp_path: Path, contract: Contract) -> None:
    port = tmp_path / "port"
    begin(port, model, contract, WISHES)
    assert all((port / folder).is_dir() for folder in FOLDERS)
    files = sorted(path.relative_to(port).as_posix() for path in port.rglob("*") if path.is_file())
    assert files == ["00-source/hf-config/config.json", MANIFEST, "port.yaml", "vendor/kickoff.json"]
    kickoff = json.loads((port / "vendor/kickoff.json").read_text("utf-8"))
    assert [item["digest"] for item in kickoff["items"]] == [None] * 8
    assert port.stat().st_mode & 0o777 == 0o777 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_only_g0_counts_as_begun(model: Path, tmp_path: Path, contract: Contract) -> None:
    begin(tmp_path / "port", model, contract, WISHES)
    started = [
        gate.gate
        for gate in audit(tmp_path / "port", contract=contract).gates
        if gate.technical is not Verdict.NOT_STARTED
    ]
    assert started == ["port", "G0"]


def fill(port: Path) -> None:
    """What a person fills in after ``init``, for the example's model."""
    document = manifest_of(port)
    given = json.loads((PORT / MANIFEST).read_text("utf-8"))
    members = ("model_id", "repository", "revision", "license", "terms", "dependencies", "task", "targets", "decision")
    document |= {member: given[member] for member in members}
    document["complexity"]["rows"] |= {"context": 0, "deployment": 0}
    document["complexity"]["total"] = 0
    (port / MANIFEST).write_text(json.dumps(document), "utf-8")
    kickoff = (port / "vendor/kickoff.json").read_text("utf-8")
    (port / "vendor/kickoff.json").write_text(kickoff.replace("REQUIRED: who owes the items", "A vendor"), "utf-8")


def test_once_it_is_filled_in_only_the_vendor_is_missing(tmp_path: Path, contract: Contract) -> None:
    model, port = tmp_path / "model", tmp_path / "port"
    model.mkdir()
    for source in [*(PORT / "00-source/hf-config").iterdir(), *(PORT / "00-source/weights").iterdir()]:
        shutil.copy(source, model)
    begun = begin(port, model, contract, Wishes(profile="example", port_id="tiny.port", copy_weights=True))
    assert begun.checkpoint.counted is not None
    assert manifest_of(port)["architecture"] == json.loads((PORT / MANIFEST).read_text("utf-8"))["architecture"]
    assert manifest_of(port)["tokenizer"] == json.loads((PORT / MANIFEST).read_text("utf-8"))["tokenizer"]
    fill(port)
    found = {(r.rule, r.kind) for r in technical(audit(port, contract=contract))}
    assert found == {("complexity-mismatch", Kind.OPEN), ("target-exceeds-vendor", Kind.OPEN)}
    shutil.copy(PORT / "vendor/op-matrix.yaml", port / "vendor")
    assert technical(audit(port, contract=contract)) == []


def technical(report: Report) -> list[Any]:
    gate = next(gate for gate in report.gates if gate.gate == "G0")
    return [r for r in gate.findings if not report.rule(r).trust]


def test_weights_are_listed_and_not_copied(model: Path, tmp_path: Path, contract: Contract) -> None:
    shutil.copy(PORT / "00-source/weights/model.safetensors", model)
    (model / "pytorch_model.bin").write_bytes(b"pickle")
    (model / "LICENSE").write_text("text", "utf-8")
    (model / "README.md").write_text("text", "utf-8")
    (model / "onnx").mkdir()
    begun = begin(tmp_path / "port", model, contract, WISHES)
    listed = {entry["path"]: entry for entry in manifest_of(tmp_path / "port")["files"]}
    assert sorted(listed) == ["hf-config/LICENSE", "hf-config/config.json", "weights/model.safetensors"]
    assert listed["weights/model.safetensors"]["uri"].startswith("REQUIRED: ")
    assert not list((tmp_path / "port/00-source/weights").iterdir())
    assert any("pytorch_model.bin was left out" in note for note in begun.checkpoint.notes)
    assert any("onnx/ was left out" in note for note in begun.checkpoint.notes)


def test_custom_code_comes_along_and_scores(model: Path, tmp_path: Path, contract: Contract) -> None:
    (model / "modeling_x.py").write_text("raise SystemExit\n", "utf-8")
    begun = begin(tmp_path / "port", model, contract, WISHES)
    assert begun.rows["architecture"].score == 3
    assert manifest_of(tmp_path / "port")["architecture"]["custom_code"] is True
    assert (tmp_path / "port/00-source/hf-config/modeling_x.py").is_file()


def test_links_are_followed_and_pipes_are_not_opened(tmp_path: Path, contract: Contract) -> None:
    model = tmp_path / "snapshot"
    model.mkdir()
    (model / "config.json").symlink_to(FIXTURES / "qwen3.json")
    os.mkfifo(model / "tokenizer.json")
    begin(tmp_path / "port", model, contract, WISHES)
    copied = tmp_path / "port/00-source/hf-config/config.json"
    assert not copied.is_symlink()
    assert copied.read_bytes() == (FIXTURES / "qwen3.json").read_bytes()


def test_an_empty_directory_is_taken(model: Path, tmp_path: Path, contract: Contract) -> None:
    (tmp_path / "port").mkdir()
    begin(tmp_path / "port", model, contract, WISHES)
    assert (tmp_path / "port/port.yaml").is_file()


def test_a_disk_that_refuses_leaves_nothing_behind(
    model: Path, tmp_path: Path, contract: Contract, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setattr("calaudit.intake.begin.shutil.copyfile", full)
    with pytest.raises(UsageError, match="No space left"):
        begin(tmp_path / "port", model, contract, WISHES)
    assert sorted(tmp_path.rglob("*")) == before


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
NAMES = sorted({name for path in FIXTURES.glob("*.json") for name in json.loads(path.read_text("utf-8"))})


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(config=st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=5), JSON, max_size=8))
def test_any_json_object_gives_a_port_or_a_sentence(
    config: dict[str, object], tmp_path_factory: pytest.TempPathFactory, contract: Contract
) -> None:
    root = tmp_path_factory.mktemp("any")
    (root / "model").mkdir()
    (root / "model/config.json").write_text(json.dumps(config), "utf-8")
    try:
        begun = begin(root / "port", root / "model", contract, WISHES)
    except UsageError:
        assert not (root / "port").exists()
        return
    report = audit(root / "port", contract=contract, jobs=1)
    assert open_places(report) == told_places(begun)
    assert report.exit_code == 1
    assert report.notes == ()


def test_an_unreadable_tokenizer_gives_a_placeholder(model: Path) -> None:
    (model / "tokenizer.json").write_text("{", "utf-8")
    assert read_checkpoint(model).tokens is None


@pytest.mark.parametrize(
    ("tokenizer", "tokens"),
    [
        ({"model": {"vocab": {"a": 0, "b": 1}}, "added_tokens": [{"content": "b"}, {"content": "<s>"}]}, 3),
        ({"model": {"vocab": [["a", -1.0], ["b", -2.0]]}}, 2),
        ({"model": {"vocab": 3}}, None),
        ({"model": []}, None),
        ([], None),
    ],
)
def test_tokens(tokenizer: object, tokens: int | None, model: Path) -> None:
    (model / "tokenizer.json").write_text(json.dumps(tokenizer), "utf-8")
    assert read_checkpoint(model).tokens == tokens


def test_directories_above_are_made_and_taken_back(
    model: Path, tmp_path: Path, contract: Contract, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(tmp_path / "a/b/port", model, contract, WISHES)
    assert (tmp_path / "a/b/port/port.yaml").is_file()

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("calaudit.intake.begin.shutil.copyfile", full)
    with pytest.raises(UsageError, match="No space left on device"):
        begin(tmp_path / "c/d/port", model, contract, WISHES)
    assert not (tmp_path / "c").exists()


def test_a_model_without_heads_and_one_outside_the_profile_are_told(tmp_path: Path, contract: Contract) -> None:
    for name, told in (
        ("mamba", "has no attention heads"),
        ("mixtral", "moe-dual-chip fits it, so begin anew with --profile"),
    ):
        (tmp_path / name).mkdir()
        shutil.copy(FIXTURES / f"{name}.json", tmp_path / name / "config.json")
        begun = begin(tmp_path / f"{name}-port", tmp_path / name, contract, WISHES)
        assert any(told in note for note in begun.notes)
    heads = manifest_of(tmp_path / "mamba-port")["architecture"]["q_heads"]
    assert heads.startswith("REQUIRED: ")
    assert "takes only models that have some" in heads

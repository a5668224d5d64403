"""Loading a contract: what is wrong with it is said with its file and place."""

import shutil
from pathlib import Path

import pytest

from calaudit.contract import Contract, load_contract
from calaudit.contract.resources import data_root
from calaudit.contract.schemas import Schemas
from calaudit.errors import ContractError

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for name in ("schemas", "policies"):
        shutil.copytree(ROOT / name, tmp_path / name)
    return tmp_path


def test_a_copy_is_the_same_contract(copy: Path, contract: Contract) -> None:
    assert load_contract(copy).digest == contract.digest
    assert load_contract().digest == contract.digest


def test_the_data_are_found_from_anywhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schemas").mkdir()
    assert data_root() == ROOT


def test_another_wording_is_the_same_contract(copy: Path, contract: Contract) -> None:
    edit(copy / "policies/params.yaml", "Longest target context", "The longest context that may be promised")
    edit(copy / "schemas/prompt/v1.json", "The prompt itself; may be empty.", "What is asked.")
    assert load_contract(copy).digest == contract.digest


def test_another_number_is_another_contract(copy: Path, contract: Contract) -> None:
    edit(copy / "policies/params.yaml", "value: 8192", "value: 8191")
    assert load_contract(copy).digest != contract.digest


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (
            "policies/params.yaml",
            "stricter: lower",
            "stricter: lowr",
            "policies/params.yaml#/params/clock_skew/stricter",
        ),
        ("policies/params.yaml", "value: 8192", "value: .nan", "policies/params.yaml:"),
        ("policies/params.yaml", "schema: calaudit-params/v1", "schema: calaudit-params/v2", "#/schema: Found"),
        ("policies/gates.yaml", "owner: model", "owner: modell", '"model" is near'),
        ("policies/gates.yaml", "/tokenizer/sha256: ", "/tokenizr/sha256: ", "holds no SHA-256"),
        ("policies/gates.yaml", "schema: model-source/v1", "schema: model-sorce/v1", "does not exist"),
        (
            "policies/gates.yaml",
            "covers: [00-source/hf-config/**, ",
            "covers: [00-surce/hf-config/**, ",
            "not below its base",
        ),
        ("policies/profiles/example.yaml", "id: example", "id: sample", "its id is sample"),
        ("policies/profiles/example.yaml", "parameters_min", "parameter_min", "Did you mean parameters_min?"),
        ("schemas/prompt/v1.json", '"urn:calaudit:schema:prompt:v1"', '"urn:x"', "$id is 'urn:x'"),
        ("schemas/gates/v1.json", '"type": "object"', '"type": "objekt"', "is not a valid JSON Schema"),
        ("schemas/kickoff/v1.json", "calaudit-kickoff/v1", "calaudit-op-matrix/v1", "have the same tag"),
    ],
)
def test_faults(copy: Path, file: str, old: str, new: str, message: str) -> None:
    edit(copy / file, old, new)
    with pytest.raises(ContractError) as caught:
        load_contract(copy)
    assert message in str(caught.value)


def test_a_schema_file_is_named_by_its_major_version(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "v1b.json").write_text("{}")
    with pytest.raises(ContractError, match=r"called v<major>.json"):
        Schemas(tmp_path)


@pytest.mark.parametrize("text", ["[]", "null", "{", "{}"])
def test_a_schema_file_is_an_object_with_an_id(tmp_path: Path, text: str) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "v1.json").write_text(text)
    with pytest.raises(ContractError, match=r"schemas/x/v1.json"):
        Schemas(tmp_path)


def test_missing_files_are_named(copy: Path) -> None:
    (copy / "policies/params.yaml").unlink()
    with pytest.raises(ContractError, match=r"policies/params.yaml cannot be read"):
        load_contract(copy)


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))

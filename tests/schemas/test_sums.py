"""A released schema never changes: ``schemas/SHA256SUMS`` says what each one is."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from calaudit.contract.resources import data_root

SCHEMAS = data_root() / "schemas"
SCRIPT = Path(__file__).parents[2] / "scripts" / "schema_sums.py"
RULE = (
    "A released schema (schemas/<name>/v<major>.json) never changes: documents that followed it go on following it, "
    "and its digest is part of the contract digest that signoffs bind. If this one was released, undo the change and "
    "add v<major+1>.json beside it, with a CHANGELOG entry that says what documents must change. If it was not "
    "released yet, run: python scripts/schema_sums.py"
)


def listed() -> dict[str, str]:
    lines = (SCHEMAS / "SHA256SUMS").read_text(encoding="ascii").splitlines()
    return {path: digest for digest, path in (line.split("  ", 1) for line in lines)}


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("schema_sums", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_list_is_what_the_schemas_are() -> None:
    actual = dict(reversed(line.split("  ", 1)) for line in script().sums(SCHEMAS).splitlines())
    known = listed()
    changed = sorted(name for name in actual.keys() | known.keys() if actual.get(name) != known.get(name))
    if changed:
        pytest.fail(f"schemas/SHA256SUMS does not know {', '.join(changed)} as it is. {RULE}", pytrace=False)


def test_a_changed_schema_is_noticed(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "v1.json").write_text("{}")
    before = script().sums(tmp_path)
    assert [line.split("  ")[1] for line in before.splitlines()] == ["a/v1.json", "b/v1.json"]
    (tmp_path / "a" / "v1.json").write_text("{ }")
    assert script().sums(tmp_path) != before


def test_the_changelog_states_the_rule() -> None:
    assert "never changes" in (SCRIPT.parents[1] / "CHANGELOG.md").read_text(encoding="utf-8")

"""``calaudit schema``: list, show and check."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from calaudit.cli import cli
from calaudit.contract import Contract


def run(*argv: str | Path) -> Result:
    return CliRunner().invoke(cli, ["schema", *map(str, argv)])


@pytest.fixture
def example(contract: Contract) -> dict[str, Any]:
    return json.loads(json.dumps(contract.schemas["model-source/v1"].document["examples"][0]))


def written(path: Path, document: object) -> Path:
    path.write_text(json.dumps(document, indent=2), encoding="utf-8")
    return path


def test_list_names_every_schema_its_tag_and_its_files(contract: Contract) -> None:
    done = run("list")
    assert done.exit_code == 0
    for name, schema in contract.schemas.items():
        assert name in done.stdout
        assert schema.tag is None or schema.tag in done.stdout
    assert "01-reference/run-2/outputs.jsonl" in done.stdout


@pytest.mark.parametrize("name", ["prompt", "prompt/v1"])
def test_show_gives_the_schema_itself(contract: Contract, name: str) -> None:
    done = run("show", name)
    assert done.exit_code == 0
    assert json.loads(done.stdout) == contract.schemas["prompt/v1"].document


def test_show_text_explains_every_member(contract: Contract) -> None:
    for name, schema in contract.schemas.items():
        done = run("show", name, "--text")
        assert done.exit_code == 0, name
        for member in schema.document["properties"]:
            assert f"\n{member}  (" in done.stdout, f"{name}: {member}"


def test_an_unknown_schema_is_a_usage_error() -> None:
    done = run("show", "promt")
    assert done.exit_code == 2
    assert "There is no schema promt. Did you mean prompt?" in done.stderr


def test_a_good_document(tmp_path: Path, example: dict[str, Any]) -> None:
    path = written(tmp_path / "anything.json", example)
    done = run("check", path)
    assert (done.exit_code, done.stdout) == (0, f"{path} follows model-source/v1.\n")


def test_every_fault_of_a_document_with_its_line(tmp_path: Path, example: dict[str, Any]) -> None:
    example["files"][0]["sha256"] = "abc"
    example["decision"]["date"] = "2026-02-30"
    example["extra"] = 1
    path = written(tmp_path / "source-manifest.json", example)
    lines = path.read_text(encoding="utf-8").splitlines()
    at = next(n for n, line in enumerate(lines, 1) if '"abc"' in line)
    done = run("check", path)
    assert done.exit_code == 1
    assert f'  line {at} /files/0/sha256: Found "abc", expected 64 lower-case hexadecimal digits' in done.stdout
    assert 'Unknown member "extra"' in done.stdout
    assert '/decision/date: Found "2026-02-30", expected Date' in done.stdout
    assert done.stdout.count('Unknown member "extra"') == 1
    extra = next(n for n, line in enumerate(lines, 1) if '"extra"' in line)
    assert f"Most likely the first fault is the cause:\n  line {extra} /extra: Unknown member" in done.stdout


def test_yaml_and_json_say_the_same(tmp_path: Path, contract: Contract) -> None:
    document = contract.schemas["shape-matrix/v1"].document["examples"][0]
    document = {**document, "cases": [{**document["cases"][0], "profile": "prefil"}]}
    expected = '/cases/0/profile: Found "prefil", expected "prefill" or "decode" ("prefill" is near).'
    for name in ("shape-matrix.json", "shape-matrix.yaml"):
        done = run("check", written(tmp_path / name, document))
        assert done.exit_code == 1
        assert expected in done.stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1, "a": 2}', "a"),
        ('{"a": NaN}', "line 1"),
        ("{", "line 1"),
        ("", "does not follow a strict format"),
    ],
)
def test_what_is_not_strict_json(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "source-manifest.json"
    path.write_text(text)
    done = run("check", path)
    assert done.exit_code == 1
    assert message in done.stdout
    assert "does not follow a strict format" in done.stdout


def test_placeholders_are_told_together(tmp_path: Path, example: dict[str, Any]) -> None:
    example["tokenizer"]["sha256"] = example["revision"] = "REQUIRED: whatever it is"
    done = run("check", written(tmp_path / "x.json", example))
    assert done.exit_code == 1
    assert "still to be filled in, 2 places: /revision (line " in done.stdout
    assert "Found" not in done.stdout
    example["task"] = 7
    done = run("check", written(tmp_path / "x.json", example))
    assert "/task: Found 7" in done.stdout
    assert "2 places: /revision (line " in done.stdout


RECORD = '{"sample_id": "a", "dtype": "float32", "token_ids": [1]}'


def test_records(tmp_path: Path) -> None:
    path = tmp_path / "tokens.jsonl"
    path.write_text(f"{RECORD}\n{RECORD}\n")
    done = run("check", path)
    assert (done.exit_code, done.stdout) == (0, f"{path} follows token-record/v1: 2 records.\n")


def test_faulty_records_by_line_across_blocks(tmp_path: Path) -> None:
    path = tmp_path / "tokens.jsonl"
    bad = {30000: RECORD.replace("float32", "float3"), 40000: RECORD.replace(": [1]", ': [1], "dtype": 1'), 40001: ""}
    path.write_text("".join(f"{bad.get(n, RECORD)}\n" for n in range(1, 50001)))
    done = run("check", path)
    assert done.exit_code == 1
    assert 'line 30000 /dtype: Found "float3", expected "float32" or "bfloat16" ("float32" is near).' in done.stdout
    assert "line 40000" in done.stdout
    assert "line 40001: The line is blank" in done.stdout


def test_no_record_is_not_a_success(tmp_path: Path) -> None:
    path = tmp_path / "tokens.jsonl"
    path.write_text("")
    done = run("check", path)
    assert done.exit_code == 1
    assert "holds no record, so nothing was checked" in done.stdout


def test_a_name_that_two_schemas_share_needs_the_option(tmp_path: Path) -> None:
    path = tmp_path / "index.yaml"
    path.write_text("a: 1\n")
    done = run("check", path)
    assert done.exit_code == 2
    assert "neither its tag nor its name tells a schema" in done.stderr
    assert run("check", path, "--schema", "tensor-index").exit_code == 1


@pytest.mark.parametrize("name", ["nothing.json", "file.txt"])
def test_usage(tmp_path: Path, name: str) -> None:
    (tmp_path / "file.txt").write_text("x")
    done = run("check", tmp_path / name)
    assert done.exit_code == 2
    assert name in done.stderr


def test_one_bad_file_of_many_decides(tmp_path: Path, example: dict[str, Any]) -> None:
    good, bad = written(tmp_path / "good.json", example), written(tmp_path / "bad.json", {**example, "x": 1})
    done = run("check", good, bad)
    assert done.exit_code == 1
    assert f"{good} follows" in done.stdout
    assert f"{bad} does not follow" in done.stdout


def test_control_characters_are_shown_not_sent(tmp_path: Path, example: dict[str, Any]) -> None:
    example["license"] = "\x1b[31mred"
    example["extra\x1b"] = 1
    done = run("check", written(tmp_path / "x.json", example))
    assert done.exit_code == 1
    assert "\x1b" not in done.stdout


def test_a_directory_is_every_document_of_the_port() -> None:
    port = Path("examples/model-port/tiny-dense")
    done = run("check", port)
    assert done.exit_code == 0
    assert f"{port}/port.yaml follows port/v1." in done.stdout
    assert f"{port}/01-reference/prompts.jsonl follows prompt/v1" in done.stdout


def test_show_takes_the_name_and_the_path_of_an_artifact() -> None:
    assert run("show", "prompts").stdout == run("show", "prompt/v1").stdout
    assert run("show", "01-reference/prompts.jsonl").stdout == run("show", "prompt").stdout
    done = run("show", "model-config")
    assert done.exit_code == 2
    assert "has no schema" in done.stderr


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\xff\xfe{}", "Byte 0xff is not UTF-8; save the file as UTF-8"),
        (b"\xef\xbb\xbf{}", "The file begins with a byte order mark; save it as UTF-8 without one"),
        (b"", "The file is empty; expected a JSON value"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "This is a pointer of Git LFS"),
    ],
)
def test_why_it_is_not_json(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "kickoff.json"
    path.write_bytes(data)
    done = run("check", path)
    assert done.exit_code == 1
    assert said in done.stdout

"""One document against one policy: what is a fault, what is no policy, and what never is a pass."""

import dataclasses
import tempfile
from pathlib import Path

import pytest

from calaudit.checks.cue_rule import Vetter, engaged
from calaudit.cue import Cue, Fault, process
from calaudit.cue.process import Outcome
from calaudit.errors import ContractError, UsageError

DOCUMENT = b"""{
  "port": {"stage": "development", "claim": "G2", "a/b": 1},
  "list": [{"x": 1}, {"x": 2}],
  "waivers": [],
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "string"
}"""


@pytest.mark.parametrize(
    "policy",
    [
        'port: stage: "development"',
        'package house\n\nport: claim: =~"^G[0-9]+$"',
        "waivers: []",
        "waivers: [...{until: string}]",
        'import "list"\nwaivers: list.MaxItems(3)',
        'import "strings"\nport: stage: strings.MaxRunes(20)',
        "list: [...{x: <3}]",
        "_most: 2\nlist: [...{x: <=_most}]",
        "let most = 2\nlist: [...{x: <=most}]",
        "#Item: {x: int}\nlist: [...#Item]",
        "port: claim!: _",
        "port: generation?: int & >3\nport: claim: string",
        'port: _\nif port.stage == "release" {waivers: [_, ...]}',
        'port: "a/b": int',
        'type: "string"',
    ],
)
def test_a_policy_that_is_met(policy: str, cue: Cue) -> None:
    assert cue.vet("house.cue", policy.encode(), DOCUMENT) == ()


@pytest.mark.parametrize(
    ("policy", "pointer", "line", "message"),
    [
        ('port: stage: "release"', "/port/stage", 2, '"release"'),
        ("list: [...{x: <2}]", "/list/1/x", 3, "invalid value 2 (out of bound <2)"),
        ('port: "a/b": string', "/port/a~1b", 2, "mismatched types"),
        ('close({port: _, list: _, type: _, "$schema": _})', "/waivers", 4, "field not allowed"),
        ("port: owner!: string", "/port", None, "field is required but not present"),
        ("port: owner: string", "/port", None, "incomplete value string"),
        ("waivers: [_, ...]", "/waivers", None, "incompatible list lengths"),
        ('type: "number"', "/type", 6, '"number"'),
        ('port: _\nif port.stag == "release" {waivers: [_]}', None, None, "undefined field: stag"),
    ],
)
def test_a_policy_that_is_not_met(policy: str, pointer: str | None, line: int | None, message: str, cue: Cue) -> None:
    faults = cue.vet("house.cue", policy.encode(), DOCUMENT)
    first = next(fault for fault in faults if message in fault.message)
    assert (first.pointer, first.line) == (pointer, line)
    assert "house.cue" in first.message


def test_every_fault_is_told(cue: Cue) -> None:
    faults = cue.vet("house.cue", b'port: stage: "release"\nport: claim: "G9"\nlist: [...{x: >5}]', DOCUMENT)
    assert [fault.pointer for fault in faults] == ["/port/claim", "/port/stage", "/list/0/x", "/list/1/x"]
    assert faults[0].message.endswith("(house.cue:2:14)")


@pytest.mark.parametrize(
    "policy",
    [
        "",
        "// only words\n",
        "package house\n",
        "#Port: {stage: string}",
        "_port: stage: string",
        "port: _",
        "port: {...}",
        "waivers: [...]",
        "port: stagee?: string",
        "{...}",
    ],
)
def test_a_policy_that_checks_nothing_is_a_fault(policy: str, cue: Cue) -> None:
    (fault,) = cue.vet("house.cue", policy.encode(), DOCUMENT)
    assert fault.message.startswith("Nothing was checked")


@pytest.mark.parametrize(
    ("policy", "pointers"),
    [
        ('port: stagee: "release"', ["/port/stagee"]),
        ('port: stage: "development"\nprot: claim: "G2"', ["/prot"]),
        ("a: 1\nlist: [...{y: *3 | int}]", ["/list/0/y", "/list/1/y", "/a"]),
        ("port: stage: string\nx: len(port.stage)", ["/x"]),
    ],
)
def test_a_policy_that_answers_itself_is_a_fault(policy: str, pointers: list[str], cue: Cue) -> None:
    faults = cue.vet("house.cue", policy.encode(), DOCUMENT)
    assert sorted(fault.message.split(":")[0] for fault in faults) == sorted(
        f"The document has no {pointer}" for pointer in pointers
    )


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("port: {\n", "house.cue:1:9: cannot get syntax for \"house.cue\": expected '}'"),
        ("port: stage: \n", "house.cue:1:"),
        ("port: stage: foo", 'house.cue:1:14: port.stage: reference "foo" not found'),
        ("\nport: stage: 1 & 2", "house.cue:2:14: port.stage: conflicting values"),
        ('package a\nimport "example.com/other"\nport: other.x', "house.cue:2:8: import failed"),
        ('import "./other"\nport: other.x', "house.cue:1:8: import failed"),
        ('import "no_such"\nport: no_such.x', "house.cue:1:8"),
        ("a: string @tag(a)", "house.cue:1: found `@tag(`"),
        ("\n\na: string @tag (a)", "house.cue:3: found"),
        ("a: string @tag // words (\n (a)", "house.cue:1: found"),
        ("@if(a)\npackage a\n", "house.cue:1: found"),
        ("@extern(embed)\npackage a\na: _ @embed(file=x.json)", "house.cue:1: found"),
        ("@ignore()\npackage a\n", "house.cue:1: found"),
    ],
)
def test_a_policy_that_does_not_compile_is_refused(policy: str, said: str, cue: Cue) -> None:
    with pytest.raises(ContractError, match=r"house\.cue:") as error:
        cue.vet("house.cue", policy.encode(), DOCUMENT)
    assert said in str(error.value)


def test_a_policy_that_cue_would_leave_out_is_refused(cue: Cue) -> None:
    for name in ("house_tool.cue", "house_test.cue"):
        with pytest.raises(ContractError, match="must not end in"):
            cue.vet(name, b'port: stage: "development"', DOCUMENT)
    with pytest.raises(ContractError, match="not UTF-8"):
        cue.vet("house.cue", b'port: stage: "\xff"', DOCUMENT)
    with pytest.raises(ContractError, match="at most"):
        cue.vet("house.cue", b"//" + b"x" * (1 << 20), DOCUMENT)


def test_at_signs_that_are_no_attributes(cue: Cue) -> None:
    assert cue.vet("house.cue", b'port: stage: !~"[@]sha256(a)" & !~"@sha256:[0-9a-f]{64}$" // a@b', DOCUMENT) == ()


@pytest.mark.parametrize("document", [b"", b"{", b"[]", b"null", b'{"port": NaN}', b"[" * 100_000, b"\xff"])
def test_a_document_that_is_no_json_object_is_a_fault(document: bytes, cue: Cue) -> None:
    assert cue.vet("house.cue", b"port: NaN: 1", document) != ()


@pytest.mark.parametrize("number", ["1e400", "-1e400", "Infinity", "NaN"])
def test_a_number_that_is_not_finite_is_a_fault(number: str, cue: Cue) -> None:
    (fault,) = cue.vet("house.cue", b"port: _", b'{"port": {"a": %s}}' % number.encode())
    assert "is not finite" in fault.message


def test_an_empty_document_satisfies_nothing(cue: Cue) -> None:
    for policy in (b"port: stage: string", b"waivers: []", b"port: stage?: string", b"", b"port!: _"):
        assert cue.vet("house.cue", policy, b"{}") != ()


def test_a_program_that_was_exchanged_is_refused(cue: Cue, tmp_path: Path) -> None:
    other = tmp_path / "cue"
    other.write_bytes(cue.path.read_bytes() + b"\0")
    other.chmod(0o755)
    changed = dataclasses.replace(cue, path=other)
    with pytest.raises(UsageError, match="changed while it was in use"):
        changed.vet("house.cue", b'port: stage: "development"', DOCUMENT)


@pytest.mark.parametrize("nth", range(4))
@pytest.mark.parametrize("trouble", ["cue ran longer than 30 s and was ended.", "cue was ended by signal 9."])
def test_trouble_in_any_call_is_a_fault(nth: int, trouble: str, cue: Cue, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0
    real = process.run

    def run(*arguments: object, **options: object) -> Outcome:
        nonlocal calls
        calls += 1
        if calls == nth + 1:
            return Outcome(code=-9, stdout=b"", stderr=b"", trouble=trouble)
        return real(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(process, "run", run)
    (fault,) = cue.vet("house.cue", b'port: stage: "development"', DOCUMENT)
    assert trouble in fault.message
    assert calls == nth + 1


@pytest.mark.parametrize(
    ("outcomes", "said"),
    [
        ([Outcome(code=0, stdout=b"", stderr=b""), Outcome(code=1, stdout=b"", stderr=b"")], "gave no reason"),
        ([Outcome(code=0, stdout=b"", stderr=b""), Outcome(code=1, stdout=b"", stderr=b"?!\n")], "?!"),
        ([Outcome(code=0, stdout=b"", stderr=b""), Outcome(code=0, stdout=b"", stderr=b"hm\n")], "hm"),
        ([Outcome(code=0, stdout=b"", stderr=b"")] * 2 + [Outcome(code=1, stdout=b"", stderr=b"x")], "cue export"),
        ([Outcome(code=0, stdout=b"", stderr=b"")] * 2 + [Outcome(code=0, stdout=b"{", stderr=b"")], "no JSON"),
    ],
)
def test_an_answer_that_makes_no_sense_is_a_fault(
    outcomes: list[Outcome], said: str, cue: Cue, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = iter(outcomes)
    monkeypatch.setattr(process, "run", lambda *_, **__: next(left))
    (fault,) = cue.vet("house.cue", b'port: stage: "development"', DOCUMENT)
    assert said in fault.message


def test_a_policy_that_cannot_be_refused_with_words_still_does_not_compile(
    cue: Cue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "run", lambda *_, **__: Outcome(code=1, stdout=b"", stderr=b""))
    with pytest.raises(ContractError, match=r"house\.cue"):
        cue.vet("house.cue", b"a: 1", DOCUMENT)


def test_a_policy_that_eats_memory_is_a_fault(cue: Cue) -> None:
    policy = b'import "strings"\n_x: strings.Repeat("a", 10000000000)\nport: stage: _x'
    (fault,) = cue.vet("house.cue", policy, DOCUMENT)
    assert "cue crashed" in fault.message


def test_the_environment_changes_nothing(cue: Cue, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "cue.mod").mkdir()
    (tmp_path / "cue.mod" / "module.cue").write_text('module: "example.com/a"\nlanguage: version: "v0.12.0"\n')
    (tmp_path / "other.cue").write_text("package house\nport: stage: _|_\n")
    monkeypatch.chdir(tmp_path)
    for name in ("CUE_EXPERIMENT", "CUE_DEBUG", "CUE_STATS_FILE", "CUE_REGISTRY", "GOTRACEBACK"):
        monkeypatch.setenv(name, "nonsense=1")
    before = sorted(tmp_path.rglob("*"))
    assert cue.vet("house.cue", b'package house\nport: stage: "development"', DOCUMENT) == ()
    assert sorted(tmp_path.rglob("*")) == before


def test_a_module_above_the_private_folder_is_not_used(
    cue: Cue, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = tmp_path / "cue.mod" / "pkg" / "example.com" / "other"
    package.mkdir(parents=True)
    (package / "other.cue").write_text("package other\nstage: string\n")
    (tmp_path / "cue.mod" / "module.cue").write_text('module: "example.com"\nlanguage: version: "v0.12.0"\n')
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(ContractError, match="import failed"):
        cue.vet("house.cue", b'import "example.com/other"\nport: stage: other.stage', DOCUMENT)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cue.mod"]


def test_it_is_what_the_audit_asks_for(cue: Cue) -> None:
    vetter: Vetter = cue
    assert engaged((), vetter) == ()


def test_faults_are_values() -> None:
    assert Fault("a", None, None) == Fault("a", None, None)

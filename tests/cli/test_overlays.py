"""``--policy DIR`` and ``--cue PATH`` on the command line."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from calaudit.cli import cli
from tests.policies.test_cue_rule import Engine, Fault

PORT = "schema: calaudit-port/v1\nid: some-port\nprofile: example\nstage: development\nclaim: G0\n"
RULE = """\
schema: calaudit-policy/v1
gate: port
rules:
  - id: acme-stage
    level: error
    title: The port is a candidate
    why: Others are not ours to judge.
    fix: Make it one.
    require: facts.port.stage == 'candidate'
    message: "'It is ' + facts.port.stage"
"""
CASES = """\
schema: calaudit-policy-test/v1
cases:
  - {rule: acme-stage, name: a candidate, facts: {port: {stage: candidate}}, expect: pass}
  - {rule: acme-stage, name: too early, facts: {port: {stage: development}}, expect: fail, message: It is dev}
  - {rule: acme-stage, name: no manifest, facts: {port: null}, expect: open}
"""
CUE_CASES = """\
schema: calaudit-policy-test/v1
cases:
  - {rule: shape, name: a port, facts: {port: {stage: candidate}}, expect: pass}
  - {rule: shape, name: no port, facts: {port: null}, expect: fail, message: "port: missing"}
"""


@pytest.fixture
def port(tmp_path: Path) -> Path:
    (tmp_path / "port").mkdir()
    (tmp_path / "port" / "port.yaml").write_text(PORT)
    return tmp_path / "port"


@pytest.fixture
def acme(tmp_path: Path) -> Path:
    (tmp_path / "acme").mkdir()
    (tmp_path / "acme" / "stage.yaml").write_text(RULE)
    (tmp_path / "acme" / "stage.test.yaml").write_text(CASES)
    return tmp_path / "acme"


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Path | None]]:
    """Puts an engine in the place of the cue command; returns where it was looked for."""

    def put(found: Engine | None) -> list[Path | None]:
        looked: list[Path | None] = []

        def find(explicit: Path | None, *, port: Path | None = None) -> Engine | None:
            looked.append(explicit)
            return found

        monkeypatch.setattr("calaudit.cue.find", find)
        return looked

    return put


def run(*args: object) -> Result:
    return CliRunner().invoke(cli, [str(arg) for arg in args])


def test_verify_judges_by_it(port: Path, acme: Path) -> None:
    done = run("verify", port, "--policy", acme, "-o", "json")
    assert done.exit_code == 1
    report = json.loads(done.stdout)
    assert "It is development" in done.stdout
    assert any("The policies in acme judged as well" in note for note in report["notes"])


def test_verify_and_status_agree(port: Path, acme: Path) -> None:
    assert run("status", port, "--policy", acme).exit_code == run("verify", port, "--policy", acme).exit_code == 1
    (port / "port.yaml").write_text(PORT.replace("development", "candidate"))
    assert run("verify", port, "--policy", acme).exit_code == 3


@pytest.mark.parametrize("verb", ["verify", "status", "facts"])
def test_a_port_does_not_bring_its_own(port: Path, acme: Path, verb: str) -> None:
    acme.rename(port / "acme")
    done = run(verb, port, "--policy", port / "acme")
    assert done.exit_code == 2
    assert "stands inside the port" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    "args", [("verify", "."), ("status", "."), ("facts", "."), ("explain", "--list"), ("policy", "lint")]
)
def test_a_faulty_directory_is_exit_2(port: Path, acme: Path, args: tuple[str, ...]) -> None:
    (acme / "loose.yaml").write_text("schema: calaudit-overlay/v1\nparams: {prompts_min: 1}\n")
    done = run(*(port if arg == "." else arg for arg in args), "--policy", acme)
    if args[0] == "policy":
        assert (done.exit_code, "an overlay may only move it" in done.stdout) == (1, True)
    else:
        assert (done.exit_code, "an overlay may only move it" in done.stderr, done.stdout) == (2, True, "")


def test_explain_tells_of_its_rules(acme: Path) -> None:
    (acme / "stage.yaml").write_text(RULE + "    effective_on: 2099-01-01\n")
    (acme / "shape.cue").write_text("port: stage: string\n")
    text = " ".join(run("explain", "acme-stage", "--policy", acme).stdout.split())
    assert "effective from 2099-01-01 on; until then its findings are warnings" in text
    assert "needs a clock" in text
    assert "stage.yaml:4:9" in text
    told = json.loads(run("explain", "port.shape", "--json", "--policy", acme).stdout)["rules"][0]
    assert (told["tier"], told["where"].endswith("acme/shape.cue")) == ("cue", True)
    assert run("explain", "acme-stage").exit_code == 2


def test_facts_take_the_option_and_do_not_change(port: Path, acme: Path) -> None:
    assert run("facts", port, "--policy", acme).stdout == run("facts", port).stdout


def test_cue_needs_its_engine(port: Path, acme: Path, engine: Callable[..., list[Path | None]]) -> None:
    (acme / "shape.cue").write_text("port: stage: string\n")
    assert engine(None) == []
    done = run("verify", port, "--policy", acme)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "need the cue command" in done.stderr
    looked = engine(Engine())
    done = run("verify", port, "--policy", acme, "--cue", acme / "cue", "-o", "json")
    assert looked == [acme / "cue"]
    assert "CUE policies were vetted by cue 0.0.0" in done.stdout


def test_without_cue_policies_no_engine_is_looked_for(
    port: Path, acme: Path, engine: Callable[..., list[Path | None]]
) -> None:
    looked = engine(Engine())
    run("verify", port, "--policy", acme, "--cue", acme / "cue")
    assert looked == []


def test_dated_documents_are_read_for_the_moment_that_is_judged(port: Path, acme: Path) -> None:
    (acme / "next.yaml").write_text(
        "schema: calaudit-overlay/v1\neffective_on: 2098-01-01\nparams: {complexity_max: 1}\n"
    )
    early = run("verify", port, "--policy", acme, "--at", "2097-12-31T23:59:59Z", "-o", "json").stdout
    late = run("verify", port, "--policy", acme, "--at", "2098-01-01T00:00:00Z", "-o", "json").stdout
    assert "From 2098-01-01 on, acme/next.yaml tightens complexity_max." in early
    assert "1 value tightened" in late


# policy test, lint and list


def test_its_cases_alone_are_run(acme: Path) -> None:
    assert run("policy", "test", "--policy", acme).stdout == "3 cases of 1 rules: all as expected.\n"
    assert run("policy", "lint", "--policy", acme).exit_code == 0
    assert "port.acme-stage" in run("policy", "list", "--policy", acme).stdout


FAULTS = {
    "a case that is wrong": (("test",), "expect: pass", "expect: fail", "expected fail, found pass"),
    "a kind without a case": (("test", "lint"), CASES.splitlines()[-1], "", "no case expects open"),
    "a rule that is not there": (("test", "lint"), "no manifest", "x}\n  - {rule: lost, name: y", "has no rule lost"),
}


@pytest.mark.parametrize(("verbs", "old", "new", "message"), FAULTS.values(), ids=FAULTS)
def test_its_cases_must_be_whole(acme: Path, verbs: tuple[str, ...], old: str, new: str, message: str) -> None:
    assert old in CASES
    text = CASES.replace(old, new, 1)
    if "lost" in new:
        text = CASES + "  - {rule: lost, name: x, facts: {}, expect: open}\n"
    (acme / "stage.test.yaml").write_text(text)
    for verb in verbs:
        done = run("policy", verb, "--policy", acme)
        assert (done.exit_code, message in done.stdout) == (1, True), done.stdout


def test_rules_without_cases_are_faults(acme: Path) -> None:
    (acme / "stage.test.yaml").unlink()
    for verb in ("test", "lint"):
        done = run("policy", verb, "--policy", acme)
        assert (done.exit_code, "it has no cases" in done.stdout) == (1, True)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("id: acme-stage", "id: license-acme", "it is about licences, so it must be unwaivable"),
        ("level: error", "level: error\n    trust: true", "it is about signatures, so it must be unwaivable"),
        ("level: error", "level: error\n    since: '7.0'", "a rule cannot be newer"),
        ("id: acme-stage", "id: kickoff-incomplete", "port.kickoff-incomplete: 2 rules have this name"),
        ("id: acme-stage", "id: symlink", "a rule of every gate has this id"),
        ("fix: Make", "fix: make", "fix begins with a small letter"),
    ],
)
def test_lint_asks_of_it_what_it_asks_of_ours(acme: Path, old: str, new: str, message: str) -> None:
    (acme / "stage.yaml").write_text(RULE.replace(old, new))
    done = run("policy", "lint", "--policy", acme)
    assert (done.exit_code, message in done.stdout) == (1, True), done.stdout


def test_cases_of_cue_policies(acme: Path, engine: Callable[..., list[Path | None]]) -> None:
    (acme / "shape.cue").write_text("port: stage: string\n")
    engine(Engine())
    assert "it has no cases; write" in run("policy", "test", "--policy", acme).stdout
    (acme / "shape.test.yaml").write_text(CUE_CASES)
    assert run("policy", "test", "--policy", acme).stdout == "5 cases of 2 rules: all as expected.\n"
    assert run("policy", "test", "shape", "--policy", acme).stdout == "2 cases of 1 rules: all as expected.\n"
    assert run("policy", "lint", "--policy", acme).exit_code == 0
    (acme / "shape.test.yaml").write_text(
        CUE_CASES.replace("facts: {port: null}", "params: {prompts_min: 1}, facts: {}")
    )
    assert "sees the facts only" in run("policy", "test", "--policy", acme).stdout
    engine(Engine(lambda _: (Fault("never"),)))
    (acme / "shape.test.yaml").write_text(CUE_CASES)
    assert "expected pass, found fail (never)" in run("policy", "test", "--policy", acme).stdout
    engine(None)
    done = run("policy", "test", "--policy", acme)
    assert (done.exit_code, "need the cue command" in done.stderr) == (2, True)


def test_lint_says_what_it_could_not_look_at(acme: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calaudit.cli._case_tables.data_root", lambda: acme)
    done = run("policy", "lint", "--policy", acme)
    assert (done.exit_code, "was not looked at" in done.stdout) == (0, True)

"""``calaudit explain``: everything about a rule, and never a rule that does not exist."""

import json

import pytest
from click.testing import CliRunner

from calaudit.checks.catalogue import catalogue
from calaudit.cli import cli


def run(*args):
    result = CliRunner().invoke(cli, ["explain", *args])
    return result.exit_code, result.output


def test_an_id_is_every_gates_rule_of_that_id():
    code, output = run("greedy-mismatch")
    assert code == 0
    assert output.startswith("G2.greedy-mismatch: ")
    assert "\nG7.greedy-mismatch: " in output
    assert "calaudit/checks/g02_onnx/greedy_mismatch.py" in output


def test_a_key_is_one_rule():
    code, output = run("G2.greedy-mismatch")
    assert code == 0
    assert "G7" not in output
    assert "greedy_prompts_min = 100 by default, stricter higher" in output
    assert "hard threshold" in output
    assert "waivable   no" in output


def test_a_gate_tells_what_its_marks_mean():
    code, output = run("G1")
    assert code == 0
    assert "Rules (+: a hard threshold, which no waiver covers). Each fails the gate, but\n[warning] and" in output


def test_what_this_version_cannot_judge_is_told():
    code, output = run("rollback-undemonstrated")
    assert code == 0
    assert "this version cannot judge" in " ".join(output.split())


def test_a_policy_shows_its_expressions():
    code, output = run("complexity-too-high")
    assert code == 0
    assert "require    facts.complexity.total <= params.complexity_max" in output
    assert "param      complexity_max = 3" in output
    assert "where      policies/g00-" in output


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("greedy-missmatch", "greedy-mismatch"),
        ("G2.gredy-mismatch", "G2.greedy-mismatch"),
        ("zzzzzz", "explain --list"),
    ],
)
def test_an_unknown_rule_is_a_usage_error_with_what_is_near(name, near):
    code, output = run(name)
    assert code == 2
    assert f"There is no rule or gate '{name}'" in output
    assert near in output


def test_name_one_rule_or_list():
    assert run()[0] == 2
    assert run("--list", "greedy-mismatch")[0] == 2


def test_the_list_holds_every_rule(contract):
    code, output = run("--list")
    assert code == 0
    shown = output.split()
    for item in catalogue(contract):
        assert item.rule.id in shown


@pytest.mark.parametrize("name", ["--list", *("greedy-mismatch", "symlink", "complexity-too-high", "signoff-missing")])
def test_it_fits_eighty_columns(name):
    assert max(map(len, run(name)[1].splitlines())) <= 80


def test_every_rule_can_be_explained(contract):
    code, output = run("--list", "--json")
    assert code == 0
    rules = {item["key"]: item for item in json.loads(output)["rules"]}
    for item in catalogue(contract):
        told = rules[item.rule.key]
        assert told["why"]
        assert told["fix"]
        assert told["where"]
        assert told["kinds"] == sorted(item.rule.kinds)
        assert told["waivable"] is not item.rule.unwaivable
    assert rules["G7.greedy-mismatch"]["pending"] is True
    assert run("--json", "G2.greedy-mismatch")[1].count('"key"') == 1

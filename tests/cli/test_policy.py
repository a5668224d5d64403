"""``calaudit policy``: lint finds every fault of a rule, test runs every case, and nothing tested is not a success."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from calaudit.cli import cli
from calaudit.contract.resources import data_root

POLICY = """\
schema: calaudit-policy/v1
gate: G0
rules:
  - id: lists-too-few
    level: error
    title: There are enough lists
    why: Because few lists say little.
    fix: Write more lists.
    when: port.stage == "release"
    require: facts.digests.count >= params.lists_min
    message: "string(facts.digests.count) + ' lists'"
"""
CASES = """\
schema: calaudit-policy-test/v1
cases:
  - {rule: lists-too-few, name: enough, port: {stage: release}, facts: {digests: {count: 5}}, expect: pass}
  - {rule: lists-too-few, name: few, port: {stage: release}, facts: {digests: {count: 1}}, expect: fail,
     message: 1 lists}
  - {rule: lists-too-few, name: none, port: {stage: release}, facts: {}, expect: open, message: no fact digests}
  - {rule: lists-too-few, name: early, facts: {}, expect: notApplicable}
"""
PARAMS = """\
schema: calaudit-params/v1
params:
  lists_min: {value: 2, stricter: higher, title: Fewest lists}
"""


@pytest.fixture
def root(tmp_path):
    """A contract of one policy."""
    shutil.copytree(data_root() / "schemas", tmp_path / "schemas")
    (tmp_path / "policies").mkdir()
    shutil.copy(data_root() / "policies" / "gates.yaml", tmp_path / "policies")
    (tmp_path / "policies" / "params.yaml").write_text(PARAMS)
    write(tmp_path, POLICY, CASES)
    return tmp_path


def write(root: Path, policy: str, cases: str | None = None) -> None:
    (root / "policies" / "g00-lists.yaml").write_text(policy)
    if cases is not None:
        (root / "policies" / "g00-lists.test.yaml").write_text(cases)


def run(*args):
    result = CliRunner().invoke(cli, ["policy", *map(str, args)])
    return result.exit_code, result.output


def test_a_good_policy(root):
    code, output = run("lint", "--root", root)
    assert (code, output.splitlines()[-1].endswith("1 rules in 1 policies: nothing to mend.")) == (0, True)
    assert run("test", "--root", root) == (0, "4 cases of 1 rules: all as expected.\n")
    assert "G0.lists-too-few" in run("list", "--root", root)[1]


AT = "policies/g00-lists.yaml"
FAULTS = {
    "not YAML": ("rules:", "rules: [", "policies/g00-lists.yaml:"),
    "against its schema": ("level: error", "level: fatal", "policies/g00-lists.yaml:5:12: "),
    "id not kebab-case": ("id: lists-too-few", "id: Lists_too_few", "policies/g00-lists.yaml:4:9: "),
    "no why": ("    why: Because few lists say little.\n", "", "why"),
    "why without a full stop": ("say little.", "say little", f"{AT}:4:9: lists-too-few: why is a sentence"),
    "fix begins small": ("fix: Write", "fix: write", "fix begins with a small letter"),
    "a title too long": ("title: There", "title: " + "There " * 20, "the title has"),
    "a fact that does not exist": ("count >=", "cuont >=", f"{AT}:10:14: lists-too-few: facts.digests.cuont does not"),
    "a param that does not exist": ("params.lists_min", "params.list_min", "no param list_min; lists_min is near"),
    "a syntax error": (">= params", ">== params", f"{AT}:10:36: lists-too-few: require: Syntax error"),
    "a message that does not compile": ("+ ' lists'", "+ 1", f"{AT}:11:43: lists-too-few: message: "),
    "a message that is no text": (POLICY[POLICY.index("    message:") :], "    message: 1 == 1", "gives a BOOL"),
    "a stage that does not exist": ('"release"', '"relase"', "port.stage can never be 'relase'"),
    "the kinds of another rule": ("    when:", "    kinds: [pass, fail, open]\n    when:", "leave kinds out"),
    "another gate's file": ("gate: G0", "gate: G3", "the file is named for G0, its gate is G3"),
    "a place that is no file": ("    when:", "    at: 00-source/x.txt\n    when:", "knows no file 00-source/x.txt"),
    "an id of every gate": ("id: lists-too-few", "id: symlink", "a rule of every gate has this id"),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "fault"), FAULTS.values(), ids=FAULTS)
def test_lint_finds(root, old, new, fault):
    assert old in POLICY
    write(root, POLICY.replace(old, new))
    code, output = run("lint", "--root", root)
    assert code == 1
    assert fault in output


CASE_FAULTS = {
    "a kind without a case": ("expect: notApplicable", "expect: open", "no case expects notApplicable"),
    "an unknown rule": ("rule: lists-too-few, name: early", "rule: lists-few, name: early", "has no rule lists-few"),
    "a name twice": ("name: few", "name: enough", "has this name already"),
    "a fact that does not exist": ("{count: 5}", "{cont: 5}", "facts.digests.cont does not exist; count is near"),
    "a subject that does not exist": ("{digests: {count: 5}}", "{digest: {count: 5}}", "facts.digest does not exist"),
    "a subject that is no map": ("{digests: {count: 5}}", "{digests: 5}", "not a map of members"),
    "a param that does not exist": ("facts: {digests: {count: 5}}", "params: {x: 1}, facts: {}", "declares no param x"),
    "against its schema": ("expect: pass", "expect: passed", "policies/g00-lists.test.yaml:3:"),
    "no cases": (CASES, "schema: calaudit-policy-test/v1\ncases: []\n", "policy-test/v1"),
}


@pytest.mark.parametrize(("old", "new", "fault"), CASE_FAULTS.values(), ids=CASE_FAULTS)
@pytest.mark.parametrize("verb", ["lint", "test"])
def test_lint_and_test_find_faulty_cases(root, verb, old, new, fault):
    assert old in CASES
    write(root, POLICY, CASES.replace(old, new))
    code, output = run(verb, "--root", root)
    assert code == 1
    assert fault in output


@pytest.mark.parametrize("verb", ["lint", "test"])
def test_a_policy_needs_cases(root, verb):
    (root / "policies" / "g00-lists.test.yaml").unlink()
    code, output = run(verb, "--root", root)
    assert code == 1
    assert "it has no cases; write policies/g00-lists.test.yaml" in output


@pytest.mark.parametrize("verb", ["lint", "test"])
def test_cases_need_a_policy(root, verb):
    (root / "policies" / "g00-lists.yaml").unlink()
    code, output = run(verb, "--root", root)
    assert code == 1
    assert "there is no policy policies/g00-lists.yaml" in output


def test_no_cases_is_not_a_success(root):
    for path in (root / "policies").glob("g00*"):
        path.unlink()
    code, output = run("test", "--root", root)
    assert code == 1
    assert "nothing was tested" in output


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("{count: 5}", "{count: 1}", "enough: expected pass, found fail (1 lists)."),
        ("{count: 1}", "{count: 7}", "few: expected fail, found pass."),
        ("message: 1 lists", "message: 2 lists", "few: expected a message with '2 lists', found '1 lists'."),
        ("{count: 5}", "{count: null}", "enough: expected pass, found open (facts.digests.count is null.)."),
        ("name: few, port", "name: few, params: {lists_min: 1}, port", "few: expected fail, found pass."),
    ],
)
def test_a_failing_case_says_expected_and_found(root, old, new, says):
    assert old in CASES
    write(root, POLICY, CASES.replace(old, new))
    code, output = run("test", "--root", root)
    assert code == 1
    assert says in output
    assert output.startswith("policies/g00-lists.test.yaml:")
    assert run("test", "--root", root, "lists-too-few")[0] == 1


def test_every_param_says_which_way_is_stricter(root):
    (root / "policies" / "params.yaml").write_text(PARAMS.replace("stricter: higher, ", ""))
    code, output = run("lint", "--root", root)
    assert (code, "stricter" in output) == (2, True)


def test_one_rule_can_be_tested(root):
    assert run("test", "--root", root, "lists-too-few")[0] == 0
    code, output = run("test", "--root", root, "lists")
    assert code == 2
    assert "No policy has a rule lists" in output


def test_a_manifest_can_be_missing_in_a_case(root):
    cases = CASES + "  - {rule: lists-too-few, name: no manifest, facts: {port: null}, expect: open}\n"
    write(root, POLICY, cases)
    assert run("test", "--root", root) == (0, "5 cases of 1 rules: all as expected.\n")


def test_a_folder_without_policies_is_a_usage_error(tmp_path):
    assert run("lint", "--root", tmp_path)[0] == 2
    assert run("test", "--root", tmp_path / "absent")[0] == 2


def test_output_is_free_of_control_characters(root):
    write(root, POLICY, CASES.replace("name: few", 'name: "few\\x1b[2J"').replace("{count: 1}", "{count: 9}"))
    assert "\x1b" not in run("test", "--root", root)[1]


def test_the_shipped_rules_have_nothing_to_mend():
    assert run("lint") == (0, run("lint")[1])
    code, output = run("test")
    assert (code, output.count("\n")) == (0, 1)


def test_the_list_fits_a_terminal(root):
    title = "There are enough lists and " + "more words than a line of eighty columns holds " * 3
    write(root, POLICY.replace("There are enough lists", title.strip()), CASES)
    code, output = run("list", "--root", root)
    assert (code, max(map(len, output.splitlines())) <= 80) == (0, True)
    assert " ".join(title.split()) in " ".join(output.split())


def test_the_shipped_list_fits_a_terminal():
    assert max(map(len, run("list")[1].splitlines())) <= 80


@pytest.mark.parametrize("tag", ["calaudit-overlayy/v1", "calaudit-params/v1"])
def test_a_wrong_tag_is_one_fault(tmp_path, tag):
    (tmp_path / "limits.yaml").write_text(f"# Ours.\nschema: {tag}\nparams: {{complexity_max: 2}}\n")
    code, output = run("lint", "--policy", tmp_path)
    first, *_, last = output.splitlines()
    assert (code, last) == (1, "1 fault(s).")
    assert first.startswith(f"{tmp_path}/limits.yaml:2:9: its schema is '{tag}'; ")
    (tmp_path / "limits.test.yaml").write_text(CASES)
    assert run("lint", "--policy", tmp_path)[1].endswith("\n1 fault(s).\n")

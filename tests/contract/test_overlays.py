"""Overlays: an organisation may add and tighten, and can loosen nothing, by no file and in no order."""

import os
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calaudit.checks.catalogue import catalogue
from calaudit.contract import Contract, load_contract
from calaudit.contract.params import Param, Stricter, Value, is_as_strict, stricter_of
from calaudit.errors import ContractError, UsageError
from calaudit.model import Level

POLICY = """\
schema: calaudit-policy/v1
gate: "{gate}"
rules:
  - id: {id}
    level: {level}
    title: The corpus is large
    why: Few prompts hide what the export changed.
    fix: Add prompts.
    require: facts.prompts.legal_count >= params.prompts_min
    message: "'Few prompts'"
{more}"""
BEFORE, AFTER = date(2026, 12, 31), date(2027, 1, 1)


def rule(id_: str = "acme-corpus", gate: str = "G1", level: str = "error", more: str = "") -> str:
    return POLICY.format(id=id_, gate=gate, level=level, more=more)


def tightening(body: str) -> str:
    return f"schema: calaudit-overlay/v1\n{body}\n"


@pytest.fixture
def acme(tmp_path: Path) -> Path:
    (tmp_path / "acme").mkdir()
    return tmp_path / "acme"


def load(folder: Path, *, today: date | None = None, **files: str) -> Contract:
    """A contract with an overlay of these files; ``_`` in a name stands for the dot."""
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text, encoding="utf-8")
    return load_contract(overlays=[folder], today=today)


def refused(folder: Path, message: str, **files: str) -> None:
    with pytest.raises(ContractError, match=message):
        catalogue(load(folder, **files))


# What an overlay adds and tightens


def test_a_rule_is_added(acme: Path, contract: Contract) -> None:
    found = load(acme, corpus_yaml=rule())
    keys = {item.rule.key: item.rule for item in catalogue(found)}
    assert keys.keys() - {item.rule.key for item in catalogue(contract)} == {"G1.acme-corpus"}
    assert keys["G1.acme-corpus"].tier == "policy"
    assert found.digest != contract.digest


def test_a_param_is_tightened_in_every_profile(acme: Path, contract: Contract) -> None:
    found = load(acme, limits_yaml=tightening("params: {complexity_max: 2, parameters_min: 2000000000, chips: [1]}"))
    assert {id_: profile.params["complexity_max"] for id_, profile in found.profiles.items()} == {
        "dense-single-chip": 2, "example": 2, "moe-dual-chip": 2,
    }  # fmt: skip
    assert found.profiles["example"].params["parameters_min"] == 2_000_000_000
    assert found.profiles["moe-dual-chip"].params["chips"] == (1,)
    assert found.params["complexity_max"].value == 2
    assert found.profiles["dense-single-chip"].params["context_max"] == 8192
    assert found.digest != contract.digest


def test_a_stricter_profile_keeps_its_own_value(acme: Path) -> None:
    found = load(acme, limits_yaml=tightening("params: {parameters_min: 1000000000}"))
    assert found.profiles["example"].params["parameters_min"] == 1_000_000_000
    found = load(acme, limits_yaml=tightening("profiles: {moe-dual-chip: {complexity_max: 15, context_max: 9000}}"))
    assert found.profiles["moe-dual-chip"].params["context_max"] == 9000
    assert found.profiles["dense-single-chip"].params["context_max"] == 8192
    assert found.params["context_max"].value == 8192


def test_several_overlays_combine_by_what_is_strictest(tmp_path: Path) -> None:
    texts = [
        "params: {complexity_max: 2, boundary_lengths: [1, 16, 128, 1024, 17]}",
        "params: {complexity_max: 1, boundary_lengths: [1, 16, 128, 1024, 33]}",
    ]
    for n, text in enumerate(texts):
        (tmp_path / str(n)).mkdir()
        (tmp_path / str(n) / "limits.yaml").write_text(tightening(text))
    one = load_contract(overlays=[tmp_path / "0", tmp_path / "1"])
    other = load_contract(overlays=[tmp_path / "1", tmp_path / "0"])
    assert one.params["complexity_max"].value == 1
    assert set(one.params["boundary_lengths"].value) == {1, 16, 128, 1024, 17, 33}  # type: ignore[arg-type]
    assert one.digest == other.digest
    assert one.digest not in {load_contract(overlays=[tmp_path / n]).digest for n in "01"}


def test_lists_that_share_nothing_are_an_error(tmp_path: Path) -> None:
    for name, batch in (("a", 1), ("b", 4)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "limits.yaml").write_text(tightening(f"profiles: {{moe-dual-chip: {{batches: [{batch}]}}}}"))
    with pytest.raises(ContractError, match=r"batches: \[.\] and \[.\] have nothing in common"):
        load_contract(overlays=[tmp_path / "a", tmp_path / "b"])


def test_a_level_is_raised(acme: Path) -> None:
    found = load(acme, levels_yaml=tightening("levels: {G0.complexity-too-high: error, G2.greedy-mismatch: error}"))
    levels = {item.rule.key: item.rule.level for item in catalogue(found)}
    assert levels["G0.complexity-too-high"] is Level.ERROR


def test_an_overlay_without_a_word_of_prose_is_the_same_contract(acme: Path) -> None:
    one = load(acme, corpus_yaml=rule())
    other = load(acme, corpus_yaml=rule().replace("Add prompts.", "Add some more prompts."), README_md="Ours.")
    assert one.digest == other.digest
    assert load(acme, corpus_yaml=rule().replace(">=", ">")).digest != one.digest
    assert load(acme, corpus_yaml=rule(), shape_cue="port: id: string").digest != one.digest


STRICTER = st.sampled_from(list(Stricter))


@st.composite
def triples(draw: Any) -> tuple[Param, Value, Value]:
    way = draw(STRICTER)
    values = {
        Stricter.LOWER: st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 9),
        Stricter.HIGHER: st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 9),
        Stricter.TRUE: st.booleans(),
        Stricter.FALSE: st.booleans(),
    }.get(way, st.lists(st.integers(0, 4), unique=True).map(lambda found: (9, *found)))
    one, other = draw(values), draw(values)
    return Param(name="p", title="t", value=one, stricter=way), one, other


@given(triples())
def test_the_stricter_of_two_is_as_strict_as_both(given_: tuple[Param, Value, Value]) -> None:
    param, one, other = given_
    found = stricter_of(param, one, other)
    assert is_as_strict(param, one, found)
    assert is_as_strict(param, other, found)


# What an overlay cannot do

LOOSE = {
    "lower": ("params: {complexity_max: 4}", r"complexity_max is 4, and policies/params\.yaml has 3.*\(lower\)"),
    "higher": ("params: {prompts_min: 99}", r"prompts_min is 99, and .* has 100.*\(higher\)"),
    "subset": ("params: {batches: [1, 2]}", r"batches is \[1, 2\], and .* has \[1\].*\(subset\)"),
    "superset": ("params: {boundary_lengths: [1]}", r"boundary_lengths is \[1\], and .*\(superset\)"),
    "true": ("params: {container_required: false}", r"container_required is false, and .* has true.*\(true\)"),
    "false": ("params: {moe_allowed: true}", r"moe_allowed is true, and .* has false.*\(false\)"),
    "profile": ("profiles: {moe-dual-chip: {complexity_max: 16}}", "the profile moe-dual-chip has 15"),
    "dated": ("effective_on: 2099-01-01\nparams: {complexity_max: 4}", "complexity_max is 4"),
}


@pytest.mark.parametrize(("body", "message"), LOOSE.values(), ids=LOOSE)
def test_nothing_is_loosened(acme: Path, body: str, message: str) -> None:
    refused(acme, message, limits_yaml=tightening(body))


UNFIT = {
    "not a number": ("params: {complexity_max: .nan}", "not a finite number"),
    "infinite": ("params: {prompts_min: .inf}", "not a finite number"),
    "overflowing": ("params: {prompts_min: 1e999}", "limits.yaml"),
    "a boolean": ("params: {prompts_min: true}", "needs a finite number"),
    "a boolean for zero": ("params: {complexity_max: false}", "needs a finite number"),
    "text": ("params: {complexity_max: '2'}", "#/params/complexity_max"),
    "null": ("params: {complexity_max: null}", "#/params/complexity_max"),
    "a fraction of a count": ("params: {complexity_max: 2.5}", "of another kind than 3"),
    "a word among lengths": ("params: {boundary_lengths: [1, 16, 128, 1024, x]}", "of another kind"),
    "an empty list": ("params: {batches: []}", "batches is empty, which demands nothing or forbids everything"),
    "unknown": ("params: {complexity_mx: 2}", "no param complexity_mx.*Did you mean complexity_max"),
    "an unknown profile": ("profiles: {moe-dual: {complexity_max: 2}}", "no profile moe-dual.*mean moe-dual-chip"),
    "an unknown rule": ("levels: {G0.complexity-to-high: error}", "Did you mean G0.complexity-too-high"),
    "an unknown level": ("levels: {G0.complexity-too-high: off}", "#/levels"),
    "an unknown member": ("disable: [G0.complexity-too-high]\nparams: {complexity_max: 2}", "disable"),
    "a bad date": ("effective_on: 2027-02-30\nparams: {complexity_max: 2}", "#/effective_on"),
    "nothing": ("effective_on: 2027-02-03", '"levels" is needed'),
    "no params": ("params: {}", "#/params"),
}


@pytest.mark.parametrize(("body", "message"), UNFIT.values(), ids=UNFIT)
def test_what_says_nothing_sound_is_refused(acme: Path, body: str, message: str) -> None:
    refused(acme, message, limits_yaml=tightening(body))


def test_no_level_is_lowered(acme: Path) -> None:
    refused(acme, "unwaivable", limits_yaml=tightening("levels: {G2.greedy-mismatch: warning}"))
    refused(acme, "only raises", limits_yaml=tightening("levels: {G0.complexity-too-high: note}"))
    refused(acme, "only raises", limits_yaml=tightening("levels: {G0.model-id-mismatch: warning}"))


def test_no_shipped_rule_is_shadowed(acme: Path) -> None:
    refused(acme, r"Two rules are called G1\.prompt-coverage", x_yaml=rule("prompt-coverage", "G1"))
    refused(acme, r"Two rules are called G0\.complexity-too-high", x_yaml=rule("complexity-too-high", "G0"))
    refused(acme, "id of a rule of every gate", x_yaml=rule("symlink", "G1"))
    refused(acme, "id of a rule of every gate", x_yaml=rule("greedy-mismatch", "*"))


@pytest.mark.parametrize("gate", ["G5", "*", "port"])
def test_no_rule_answers_for_a_threshold_that_this_version_lacks(acme: Path, gate: str) -> None:
    refused(acme, "rebuild-missing is a hard threshold", x_yaml=rule("rebuild-missing", gate))


def test_no_cue_policy_answers_for_a_threshold(acme: Path) -> None:
    (acme / "rebuild-missing.cue").write_text("port: id: string\n")
    with pytest.raises(ContractError, match="is a hard threshold"):
        catalogue(load_contract(overlays=[acme]))


def test_two_overlays_cannot_have_one_rule(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.yaml").write_text(rule())
    with pytest.raises(ContractError, match=r"Two rules are called G1\.acme-corpus"):
        catalogue(load_contract(overlays=[tmp_path / "a", tmp_path / "b"]))


def test_an_overlay_is_given_once(acme: Path) -> None:
    load(acme, x_yaml=rule())
    for again in (acme, acme / ".." / "acme"):
        with pytest.raises(ContractError, match="given twice"):
            load_contract(overlays=[acme, again])


# What a directory may hold


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("notes.txt", "nothing is passed over"),
        ("x.yml", "nothing is passed over"),
        ("policy.json", "nothing is passed over"),
        (".hidden.yaml", "lower-case words"),
        ("Upper.yaml", "lower-case words"),
        ("two words.cue", "lower-case words"),
        ("orphan.test.yaml", "no policy of this name"),
        ("x.cue", "would share their cases"),
    ],
)
def test_unknown_files_are_errors(acme: Path, name: str, message: str) -> None:
    (acme / name).write_text("")
    refused(acme, message, x_yaml=rule())


@pytest.mark.parametrize("name", ["more.yaml", "README.md", "x.test.yaml"])
def test_links_and_special_files_are_refused(acme: Path, tmp_path: Path, name: str) -> None:
    (acme / name).symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").write_text(rule("other-rule"))
    refused(acme, f"{name}: it is a symbolic link", x_yaml=rule())
    (acme / name).unlink()
    os.mkfifo(acme / name)
    refused(acme, f"{name}: it is no regular file")
    (acme / name).unlink()
    (acme / name).mkdir()
    refused(acme, f"{name}: it is no regular file")


def test_a_directory_without_a_policy_is_refused(acme: Path) -> None:
    refused(acme, "nothing would be judged")
    refused(acme, "nothing would be judged", README_md="None yet.")
    refused(acme / "absent", "cannot be read: No such file")
    refused(acme / "README.md", "cannot be read: Not a directory")


def test_a_file_beyond_all_measure_is_refused(acme: Path) -> None:
    (acme / "README.md").write_bytes(b"x" * ((4 << 20) + 1))
    refused(acme, r"README\.md: it is larger than 4194304 bytes", x_yaml=rule())


def test_a_policy_without_rules_is_refused(acme: Path) -> None:
    refused(acme, "#/rules", x_yaml="schema: calaudit-policy/v1\ngate: G0\nrules: []\n")


@pytest.mark.parametrize("tag", ["calaudit-params/v1", "calaudit-gates/v1", "calaudit-profile/v1", "other", None])
def test_other_documents_are_refused(acme: Path, tag: str | None) -> None:
    refused(acme, "a .yaml file of a policy directory has the schema", x_yaml=f"schema: {tag}\nparams: {{}}\n")
    refused(acme, "a .yaml file of a policy directory has the schema", x_yaml="[]")


def test_a_fault_has_its_place(acme: Path) -> None:
    refused(
        acme, r"acme/x\.yaml:9:14: acme-corpus: facts\.prompts\.leagl", x_yaml=rule().replace(".legal_count", ".leagl")
    )
    refused(acme, r"acme/x\.yaml#/rules/0: The member \"why\"", x_yaml=rule().replace("    why:", "    #"))


PLACES = {
    "looser": ("params:\n  prompts_min: 200\n  complexity_max: 4", r"limits\.yaml:4:19: complexity_max is 4, and "),
    "another kind": ("params:\n  complexity_max: 2.5", r"limits\.yaml:3:19: complexity_max is 2\.5, of another kind"),
    "unfit": ("params:\n  prompts_min: true", r"limits\.yaml:3:16: prompts_min is True"),
    "empty": ("params:\n  batches: []", r"limits\.yaml:3:12: batches is empty"),
    "unknown": ("params:\n  complexity_mx: 2", r"limits\.yaml:3:18: there is no param complexity_mx"),
    "in a profile": (
        "profiles:\n  moe-dual-chip:\n    complexity_max: 16", r"limits\.yaml:4:21: .* the profile moe-dual-chip has 15"
    ),
    "a profile": ("profiles:\n  moe-dual:\n    complexity_max: 2", r"limits\.yaml:4:5: there is no profile moe-dual;"),
}  # fmt: skip


@pytest.mark.parametrize(("body", "message"), PLACES.values(), ids=PLACES)
def test_a_value_that_is_refused_has_its_place(acme: Path, body: str, message: str) -> None:
    refused(acme, f"acme/{message}", limits_yaml=tightening(body))


# Dates


def test_a_dated_tightening_is_another_contract_from_its_day_on(acme: Path) -> None:
    text = tightening("effective_on: 2027-01-01\nparams: {complexity_max: 2}\nlevels: {G0.complexity-too-high: error}")
    early, late = load(acme, today=BEFORE, next_yaml=text), load(acme, today=AFTER)
    assert [c.params["complexity_max"].value for c in (early, late)] == [3, 2]
    levels = [
        {item.rule.key: item.rule.level for item in catalogue(c)}["G0.complexity-too-high"] for c in (early, late)
    ]
    assert levels == [Level.WARNING, Level.ERROR]
    assert early.digest != late.digest
    assert load(acme, today=date(2026, 1, 1)).digest == early.digest
    assert load(acme, today=date(2028, 1, 1)).digest == late.digest
    assert "From 2027-01-01 on, acme/next.yaml tightens G0.complexity-too-high, complexity_max." in early.notes
    assert late.notes == ("The policies in acme judged as well: 0 rules in CEL, 0 rules in CUE, 2 values tightened.",)


def test_a_contract_of_another_day_judges_nothing(acme: Path) -> None:
    dated = load(acme, today=BEFORE, next_yaml=tightening("effective_on: 2027-01-01\nparams: {complexity_max: 2}"))
    with pytest.raises(UsageError, match="loaded for 2026-12-31 and is to judge on 2027-01-01"):
        catalogue(dated, today=AFTER)
    plain = load(acme, today=BEFORE, next_yaml=tightening("params: {complexity_max: 2}"))
    assert catalogue(plain, today=AFTER)


# Where a directory may be


def test_a_port_cannot_bring_its_own_judge(tmp_path: Path) -> None:
    port = tmp_path / "port"
    (port / "configs" / "acme").mkdir(parents=True)
    (tmp_path / "link").symlink_to(port / "configs" / "acme")
    load(port / "configs" / "acme", x_yaml=rule())
    for policies in (port / "configs" / "acme", tmp_path / "link", port / "configs" / ".." / "configs" / "acme"):
        found = load_contract(overlays=[policies])
        with pytest.raises(UsageError, match="stands inside the port"):
            found.refuse_inside(port)
    found.refuse_inside(tmp_path / "other")
    (tmp_path / "other").mkdir()
    found.refuse_inside(tmp_path / "other")

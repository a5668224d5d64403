"""What may be waived, over one report."""

from dataclasses import replace

import pytest

from calaudit.contract import Contract
from calaudit.errors import UsageError
from calaudit.model import PORT as OWN
from calaudit.model import Verdict
from calaudit.sign.waivable import WaiverWish, roles_for
from calaudit.sign.waive import WaiverDraft, prepare_waiver, sign_waiver
from tests.sign.judged import Judged, judged
from tests.sign.make import NOW

RULE, FILE = "artifact-unexpected", "01-reference/notes.txt"
WISH = WaiverWish(gate="G1", rule=RULE, artifact=FILE, reason="kept", ticket="PORT-17", until="2027-01-31")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory, contract: Contract) -> Judged:
    return judged(tmp_path_factory.mktemp("judged"), contract, **{FILE.replace("/", "__"): "a note\n"})


def draft(found: Judged, wish: WaiverWish) -> WaiverDraft:
    return prepare_waiver(found.port, found.report, found.contract, found.registry, wish, now=NOW)


def test_what_a_waiver_says(found: Judged) -> None:
    made = draft(found, replace(WISH, id="w-1"))
    assert made.path == "waivers/w-1.dsse.json"
    assert made.roles == ("model", "release")
    assert made.statement["predicate"] == {
        "id": "w-1",
        "port": "tiny-dense",
        "gate": "G1",
        "rule": RULE,
        "reason": "kept",
        "ticket": "PORT-17",
        "until": "2027-01-31T00:00:00Z",
        "signed_on": "2026-11-30T12:00:00Z",
    }
    assert [item["name"] for item in made.statement["subject"]] == [FILE]
    assert draft(found, replace(WISH, rule=f"common.{RULE}")).path == draft(found, WISH).path


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"until": "2020-01-01"}, "has passed"),
        ({"until": "2026-11-30T12:00:00Z"}, "has passed"),
        ({"until": "2027-12-02"}, "days ahead"),
        ({"until": "forever"}, "no moment"),
        ({"until": "2027-02-30"}, "no moment"),
        ({"until": "2027-01-31T00:00:00+02:00"}, "no moment"),
        ({"reason": " "}, "--reason is missing"),
        ({"reason": None, "ticket": None, "until": None}, "--reason, --ticket, --until is missing"),
        ({"id": "../x"}, "cannot be signed"),
        ({"gate": "G99"}, "no gate G99"),
        ({"gate": "G2"}, "only a failure"),
        ({"artifact": "01-reference/prompts.jsonl"}, "does not fail on"),
        ({"artifact": "absent"}, "does not fail on"),
        ({"rule": "no-such-rule"}, "There is no rule"),
        ({"rule": "prompt-coverage"}, "only a failure"),
        ({"rule": "digest-mismatch"}, "cannot be waived"),
        ({"rule": "signoff-missing"}, "cannot be waived"),
        ({"rule": "invocation-unattested"}, "cannot be waived"),
        ({"rule": "reference-not-reproducible"}, "waive"),
        ({"rule": "tokenizer-not-unique"}, "waive"),
    ],
)
def test_what_nobody_may_waive(found: Judged, change: dict[str, str | None], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        draft(found, replace(WISH, **change))


def test_every_hard_threshold_is_out_of_reach(found: Judged) -> None:
    for gate in ("G0", "G1", "G2"):
        for rule in found.contract.gates.gates[gate].threshold:
            with pytest.raises(UsageError, match=r"cannot be waived|hard threshold"):
                draft(found, replace(WISH, gate=gate, rule=rule))


def test_a_block_is_not_waived(found: Judged) -> None:
    gates = [
        replace(g, results=tuple(replace(r, blocks=Verdict.BLOCKED_REPRODUCIBILITY) for r in g.results))
        if g.gate == "G1"
        else g
        for g in found.report.gates
    ]
    report = replace(found.report, gates=tuple(gates))
    with pytest.raises(UsageError, match="blocks G1"):
        prepare_waiver(found.port, report, found.contract, found.registry, WISH, now=NOW)


@pytest.mark.parametrize(
    ("role", "key", "sentence"),
    [("export", "export", "has no say"), ("model", "export", "speaks for export"), ("release", "model", "speaks for")],
)
def test_who_cannot_waive(found: Judged, role: str, key: str, sentence: str) -> None:
    signer = found.made.owners[key][0]
    with pytest.raises(UsageError, match=sentence):
        sign_waiver(found.port, draft(found, WISH), role, signer, trust=found.trust, registry=found.registry)
    assert not (found.port / "waivers").exists()


def test_who_has_to_agree(contract: Contract) -> None:
    assert roles_for(contract, "G4") == ("quant", "model", "release")
    assert roles_for(contract, "G10") == roles_for(contract, OWN) == ("release",)


def test_a_gate_whose_role_nobody_owns_is_not_waived(found: Judged) -> None:
    roles = {name: role for name, role in found.registry.roles.items() if name != "release"}
    registry = replace(found.registry, roles=roles)
    with pytest.raises(UsageError, match="Nobody owns the role release"):
        prepare_waiver(found.port, found.report, found.contract, registry, WISH, now=NOW)

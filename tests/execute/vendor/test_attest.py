"""Attesting what was built elsewhere: what is seen and what is only said are kept apart."""

import hashlib
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from calaudit.errors import UsageError
from calaudit.execute.vendor.claim import BUILT_ELSEWHERE
from calaudit.trust.envelope import parse_envelope
from calaudit.trust.link import parse_link
from tests.execute.vendor.trade import ANSWERS, MATRIX, SEED, STEPS, Trade, payload
from tests.trust import authority as kit
from tests.trust.chained import declare
from tests.trust.signed_port import MANIFEST

ID8 = kit.key(SEED).public_key.keyid[:8]


def test_what_is_signed(trade: Trade) -> None:
    signed = trade.attest("answers")
    assert sorted(signed) == [f"attestations/answers.{ID8}.1.dsse.json", f"attestations/answers.{ID8}.link"]
    statement = payload(signed[f"attestations/answers.{ID8}.1.dsse.json"])
    link = parse_link(parse_envelope("x", signed[f"attestations/answers.{ID8}.link"]), trade.port.contract.schemas)
    definition, details = (statement["predicate"][name] for name in ("buildDefinition", "runDetails"))
    assert {item["name"] for item in definition["resolvedDependencies"]} == {MANIFEST} == set(link["materials"])
    assert {item["name"] for item in statement["subject"]} == {ANSWERS} == set(link["products"])
    assert details["builder"]["id"] == BUILT_ELSEWHERE
    assert details["metadata"] == {
        "invocationId": "answers-1",
        "startedOn": "2026-11-29T08:00:00Z",
        "finishedOn": "2026-11-29T09:00:00Z",
    }
    # Nothing is told that nobody saw: no output, no digests of logs, no isolation; what is only said is named.
    assert link["byproducts"] == {"return-value": 0}
    assert link["environment"] == {"variables": ["LANG=C"]}
    internal = definition["internalParameters"]
    assert internal["executor"]["kind"] == "elsewhere"
    assert internal["executor"]["guarantees"] == {
        "isolation": "none",
        "networkEnforced": False,
        "inputsEnforced": False,
        "fixed": [],
    }
    assert internal["observed"] == ["materials", "products"]
    assert {"command", "exitCode", "builder"} <= set(internal["claimed"])
    assert not {"logs", "durationMs", "peakRssBytes"} & set(internal)


def test_a_report_among_the_products_names_the_run(trade: Trade) -> None:
    declare(trade.port, {**STEPS, "answers": {**STEPS["answers"], "products": ["vendor/responses/*.json"]}})
    trade.write(trade.vendor, {"port.yaml": (trade.port.path / "port.yaml").read_bytes()})
    report = {"vendor/responses/report.json": b'{"invocation": {"id": "run-of-the-report"}}'}
    trade.write(trade.vendor, report | {"vendor/responses/other.json": b"[1]"})
    (trade.vendor / ANSWERS).unlink()
    run = trade.draft("answers", invocation=None).provenance["predicate"]["runDetails"]
    assert run["metadata"]["invocationId"] == "run-of-the-report"
    with pytest.raises(UsageError, match=r"report\.json is of the invocation run-of-the-report, not another"):
        trade.draft("answers", invocation="another")
    trade.write(trade.vendor, {"vendor/responses/second.json": b'{"invocation": {"id": "of-another-run"}}'})
    with pytest.raises(UsageError, match="several runs"):
        trade.draft("answers", invocation=None)


def test_a_run_that_no_report_names_gets_an_id_of_its_own(trade: Trade) -> None:
    one, other = (trade.draft("matrix", invocation=None).provenance["predicate"]["runDetails"] for _ in range(2))
    assert one["metadata"]["invocationId"] != other["metadata"]["invocationId"]


def test_runs_are_counted(trade: Trade) -> None:
    trade.attest("matrix")
    assert f"attestations/matrix.{ID8}.2.dsse.json" in trade.attest("matrix", invocation="again")
    # Of other files, the first two say nothing that is true any more.
    trade.write(trade.vendor, {MATRIX: trade.matrix + b"# later\n"})
    draft = trade.draft("matrix", invocation="later")
    assert draft.gone() == [f"attestations/matrix.{ID8}.{end}" for end in ("link", "1.dsse.json", "2.dsse.json")]
    assert f"attestations/matrix.{ID8}.1.dsse.json" in draft.sign(kit.key(SEED))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"command": ("calcc", "--print-matrix")}, r"another command.*Expected: calcc --print-matrix 'it'\"'\"'s'"),
        ({"started": datetime(2026, 11, 29, 10, tzinfo=UTC)}, "before --started"),
        ({"finished": kit.NOW + timedelta(seconds=1)}, "in the future"),
        ({"builder": "the build farm"}, "expected a URI"),
        ({"builder": "urn:calaudit:executor:bwrap:v1"}, "calaudit's own"),
        ({"invocation": ""}, "printable"),
        ({"invocation": "a\nb"}, "printable"),
    ],
)
def test_claims_that_cannot_be(trade: Trade, changes: dict[str, object], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        trade.draft("matrix", **changes)


def test_a_step_that_is_not_there(trade: Trade, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(STEPS, "nothing", STEPS["matrix"])
    with pytest.raises(UsageError, match=r"no step 'nothing'; it has answers, matrix\."):
        trade.draft("nothing")


def test_what_is_missing_is_named(trade: Trade) -> None:
    (trade.vendor / MATRIX).unlink()
    with pytest.raises(UsageError, match=r"Nothing fits vendor/op-matrix\.yaml"):
        trade.draft("matrix")
    trade.write(trade.vendor, {MATRIX: trade.matrix})
    (trade.vendor / MANIFEST).unlink()
    with pytest.raises(UsageError, match="Nothing fits 00-source"):
        trade.draft("matrix")


def test_folders_of_their_own(trade: Trade) -> None:
    read, wrote = trade.root / "read", trade.root / "wrote"
    manifest = (trade.vendor / MANIFEST).read_bytes()
    trade.write(read, {MANIFEST: manifest, "notes.txt": b""})
    trade.write(wrote, {MATRIX: trade.matrix})
    draft = trade.draft("matrix", materials=read, products=wrote)
    assert (set(draft.materials), set(draft.products), draft.undeclared) == ({MANIFEST}, {MATRIX}, ("notes.txt",))
    assert draft.materials[MANIFEST] == hashlib.sha256(manifest).hexdigest()
    trade.write(wrote, {"vendor/log.txt": b""})
    with pytest.raises(UsageError, match=r"holds vendor/log\.txt, which port\.yaml does not name"):
        trade.draft("matrix", materials=read, products=wrote)


def test_inputs_that_are_not_those_of_the_kit(trade: Trade) -> None:
    trade.write(trade.vendor, {MANIFEST: b"{}"})
    with pytest.raises(UsageError, match=rf"{MANIFEST} is not what the port had when it made this kit"):
        trade.draft("matrix")
    (trade.vendor / "manifest.json").unlink()
    assert trade.draft("matrix").materials, "a folder that is no kit has nothing to compare with"


def test_links_are_followed_nowhere(trade: Trade) -> None:
    (trade.vendor / ANSWERS).unlink()
    (trade.vendor / ANSWERS).symlink_to("/etc/hostname")
    with pytest.raises(UsageError, match="symlink"):
        trade.draft("answers")


def test_what_in_toto_run_signs_is_received(trade: Trade, tmp_path: Path) -> None:
    """The other way that the kit's README tells."""
    key = tmp_path / "key.pem"
    key.write_bytes(kit.key(SEED)._private_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    (trade.vendor / "calcc").write_text(f"#!/bin/sh\ncp ../matrix {MATRIX}\n")
    (trade.vendor / "calcc").chmod(0o755)
    (tmp_path / "matrix").write_bytes(trade.matrix)
    (trade.vendor / MATRIX).unlink()
    (trade.vendor / "attestations").mkdir(exist_ok=True)
    bin_ = Path(sys.executable).parent
    subprocess.run(
        [
            bin_ / "in-toto-run",
            *("--step-name", "matrix", "--use-dsse", "--signing-key", key),
            *("--metadata-directory", "attestations", "--materials", MANIFEST, "--products", MATRIX),
            *("--", *STEPS["matrix"]["run"]),
        ],
        cwd=trade.vendor,
        check=True,
        capture_output=True,
        env={**os.environ, "PATH": f"{trade.vendor}:{os.environ['PATH']}"},
    )
    link = f"attestations/matrix.{ID8}.link"
    trade.land({link: (trade.vendor / link).read_bytes(), MATRIX: trade.matrix})
    assert not [r for r in trade.port.audit().findings if r.rule.startswith(("link", "attestation"))]

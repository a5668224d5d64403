"""What comes back lands whole, where everything about it holds; else the port is, byte for byte, what it was."""

import hashlib
import json
import os
import signal
import tarfile
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest

from calaudit.errors import UsageError
from calaudit.execute import journal
from calaudit.execute.lock import locked
from calaudit.trust.steps import LAYOUT
from tests.execute.vendor.trade import ANSWERS, MATRIX, SEED, Trade, payload
from tests.trust import authority as kit
from tests.trust.signed_port import MANIFEST

ID8 = kit.key(SEED).public_key.keyid[:8]
LINK, STATEMENT = f"attestations/matrix.{ID8}.link", f"attestations/matrix.{ID8}.1.dsse.json"
KICKOFF, LATER = "vendor/kickoff.json", "2030-01-01T00:00:00Z"


def test_a_round_trip(trade: Trade) -> None:
    parcel = trade.parcel("matrix", "answers")
    before = trade.picture()
    with trade.receive(parcel) as delivery:
        assert trade.picture() == before
        assert {one.path for one in delivery.fresh} == set(parcel)
        assert set(delivery.signers) == {path for path in parcel if path.startswith("attestations/")}
        assert set(delivery.signers.values()) == {"Compiler-functionary team (compiler-functionary)"}
        assert delivery.unsigned == ()
        delivery.land()
    assert not any((trade.root / "spaces").iterdir())
    for path, data in parcel.items():
        assert (trade.port.path / path).read_bytes() == data
    assert trade.picture().keys() - before.keys() >= {LINK, STATEMENT, MATRIX, ANSWERS}
    # Verification accepts what the vendor signed.
    report = trade.port.audit()
    assert not [r for r in report.findings if r.rule.startswith(("link", "attestation", "envelope"))]
    assert "kickoff-item-unproven" not in {r.rule for r in report.findings}


def test_what_is_there_already_is_nothing_new(trade: Trade) -> None:
    parcel = trade.parcel()
    trade.land(parcel)
    before = trade.picture()
    with trade.receive(parcel) as delivery:
        assert delivery.fresh == ()
        delivery.land()
    assert trade.picture() == before


def test_a_document_that_no_step_makes_is_received_and_said_to_be_unsigned(trade: Trade) -> None:
    with trade.receive({"vendor/kv-contract.md": b"# In flight: 1\n"}) as delivery:
        assert delivery.unsigned == ("vendor/kv-contract.md",)
        assert delivery.signers == {}


def test_verdicts_before_and_after(trade: Trade) -> None:
    with trade.receive(trade.parcel()) as delivery:
        rules = [{r.rule for r in report.findings} for report in (delivery.before, delivery.after)]
    assert "kickoff-item-unproven" in rules[0] - rules[1]


# What is refused -----------------------------------------------------------------------------------------------------


def sign(document: dict[str, Any], seed: str = SEED) -> bytes:
    import rfc8785

    return kit.sign_payload(rfc8785.dumps(document), [kit.key(seed)])


def twisted(path: str, change: Callable[[dict[str, Any]], object], seed: str = SEED) -> Callable[[Trade], Any]:
    """A good parcel in which one attestation says something else, signed all the same."""

    def make(trade: Trade) -> dict[str, bytes]:
        parcel = trade.parcel()
        document = payload(parcel[path])
        change(document)
        return {**parcel, path: sign(document, seed)}

    return make


def with_file(path: str, data: bytes = b"x") -> Callable[[Trade], Any]:
    return lambda trade: {**trade.parcel(), path: data}


def without(path: str) -> Callable[[Trade], Any]:
    return lambda trade: {name: data for name, data in trade.parcel().items() if name != path}


def signed_by(seed: str) -> Callable[[Trade], Any]:
    return lambda trade: {MATRIX: trade.matrix, **trade.attest(seed=seed)}


def renamed(old: str, new: str) -> Callable[[Trade], Any]:
    return lambda trade: {new if name == old else name: data for name, data in trade.parcel().items()}


def as_type(kind: bytes) -> Callable[[Trade], Any]:
    def make(trade: Trade) -> bytes:
        out = BytesIO()
        with tarfile.open(fileobj=out, mode="w") as archive:
            member = tarfile.TarInfo("vendor/responses/x")
            member.type, member.linkname = kind, "../../port.yaml"
            archive.addfile(member)
        return out.getvalue()

    return make


def grafted(trade: Trade) -> dict[str, bytes]:
    """A link with the signature of the statement."""
    parcel = trade.parcel()
    link, other = json.loads(parcel[LINK]), json.loads(parcel[STATEMENT])
    return {**parcel, LINK: json.dumps({**link, "signatures": other["signatures"]}).encode()}


def other_predicate(path: str, value: object) -> Callable[[dict[str, Any]], None]:
    """Change a member of the external parameters."""
    return lambda d: d["predicate"]["buildDefinition"]["externalParameters"].__setitem__(path, value)


REFUSED: dict[str, tuple[Callable[[Trade], Any], str]] = {
    "another product": (with_file(MATRIX, b"schema: calaudit-op-matrix/v1\n"), "cannot be used"),
    "a product with other bytes": (
        lambda t: {**t.parcel(), MATRIX: t.matrix + b"# later\n"},
        r"attests vendor/op-matrix\.yaml with the digest",
    ),
    "no product": (without(MATRIX), "no such file"),
    "no attestation": (lambda t: {MATRIX: t.matrix}, "no link that came with it attests it"),
    "provenance alone": (without(LINK), "no link that came with it attests it"),
    "a layout": (with_file(LAYOUT), "is not received"),
    "a signoff": (with_file("signoffs/port.compiler.dsse.json"), "is not received"),
    "a waiver": (with_file("waivers/w-1.dsse.json"), "is not received"),
    "port.yaml": (with_file("port.yaml"), "is not received"),
    "the journal": (with_file(".calaudit/commit.json"), "is not received"),
    "a tool": (with_file("tools/x.py"), "is not received"),
    "weights": (with_file("00-source/weights/x.safetensors"), "is not received"),
    "an unknown document": (with_file("vendor/notes.txt"), "is not received"),
    "a step that is not declared": (renamed(LINK, f"attestations/other.{ID8}.link"), "does not declare"),
    "a link under another step": (renamed(LINK, f"attestations/answers.{ID8}.link"), "under the name of another"),
    "a link under another key": (renamed(LINK, "attestations/matrix.01234567.link"), "link-wrong-functionary"),
    "another name in case": (
        lambda t: {**t.parcel("answers"), "vendor/responses/A.txt": b""}, "letter case"
    ),
    "a folder of the port in another case": (with_file("Vendor/kickoff.json"), "is not received"),
    "a file where a folder is": (
        lambda t: {**t.parcel("answers"), "vendor/responses/a.txt/b": b""}, "a file, and a folder"
    ),
    "a name that leads out": (with_file("vendor/../../x"), "straight down"),
    "an absolute name": (with_file("/etc/passwd"), "absolute"),
    "a symbolic link": (as_type(tarfile.SYMTYPE), "a symbolic link"),
    "a hard link": (as_type(tarfile.LNKTYPE), "a hard link"),
    "a device": (as_type(tarfile.CHRTYPE), "a character device"),
    "a pipe": (as_type(tarfile.FIFOTYPE), "a named pipe"),
    "an unknown member": (with_file(KICKOFF, b'{"schema":"calaudit-kickoff/v1","x":1}'), "schema-invalid"),
    "a kick-off that says two things": (with_file(KICKOFF, b'{"schema":"x","schema":"y"}'), "malformed"),
    "no envelope": (with_file(LINK, b"{}"), "exactly the members"),
    "a stranger": (signed_by("nobody"), "link-wrong-functionary|attestation-wrong-role"),
    "an owner's own key": (signed_by("compiler"), "link-wrong-functionary|attestation-wrong-role"),
    "a functionary of another role": (signed_by("model-functionary"), "link-wrong-functionary|signed for model"),
    "another command": (twisted(LINK, lambda d: d["command"].append("--cheat")), "link-command-mismatch"),
    "a failed command": (twisted(LINK, lambda d: d["byproducts"].update({"return-value": 1})), "link-return-value"),
    "a hidden input": (
        twisted(LINK, lambda d: d["materials"].update({"port.yaml": {"sha256": "00" * 32}})), "link-hidden-input"
    ),
    "another input": (twisted(LINK, lambda d: d["materials"][MANIFEST].update({"sha256": "00" * 32})), "link-stale"),
    "another port": (twisted(STATEMENT, other_predicate("port", "other")), "of the port other"),
    "another gate": (twisted(STATEMENT, other_predicate("gate", "G1")), "should be compiler, G0"),
    "provenance that disagrees": (twisted(STATEMENT, other_predicate("command", ["x"])), "link-statement-disagree"),
    "a run in the future": (
        twisted(STATEMENT, lambda d: d["predicate"]["runDetails"]["metadata"].update(finishedOn=LATER)),
        "attestation-replayed",
    ),
    "a signature over something else": (grafted, "link-signature-invalid"),
    "nothing": (lambda _: {}, "no file in it"),
    "a key in the place of the archive": (
        lambda _: b"-----BEGIN PUBLIC KEY-----\n" + b"x" * 60,
        "It is no tar archive: it is shorter than the header of one",
    ),
    "no archive": (lambda _: b"PK\x03\x04" + b"x" * 600, "no POSIX or GNU tar"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_hold_is_refused_and_the_port_is_as_it_was(trade: Trade, case: str) -> None:
    make, told = REFUSED[case]
    files = make(trade)
    before = trade.picture()
    with pytest.raises(UsageError, match=told) as caught, trade.receive(files):
        pytest.fail("it was let in")
    assert "Nothing was received." in str(caught.value)
    assert trade.picture() == before
    assert not any((trade.root / "spaces").iterdir())


def test_an_archive_that_is_no_file(trade: Trade) -> None:
    from calaudit.execute.vendor.receive import received

    for path in (trade.root / "missing.tar", trade.root):
        with pytest.raises(UsageError, match=r"cannot be read|no regular file"), received(path, trade.desk()):
            pass
    os.mkfifo(trade.root / "pipe")
    with pytest.raises(UsageError, match="no regular file"), received(trade.root / "pipe", trade.desk()):
        pass


# What is in the port already -----------------------------------------------------------------------------------------


def second(trade: Trade) -> dict[str, bytes]:
    """The answers in a second version: one file has other bytes, one came, one went."""
    trade.write(trade.vendor, {"vendor/responses/b.txt": b"B", ANSWERS: b"No.\n"})
    (trade.vendor / "vendor/responses/c.txt").unlink()
    for old in (trade.vendor / "attestations").glob("answers.*"):
        old.unlink()
    return {**trade.parcel("answers"), "vendor/responses/b.txt": b"B"}


@pytest.fixture
def received_once(trade: Trade) -> Trade:
    trade.write(trade.vendor, {"vendor/responses/c.txt": b"C"})
    trade.land({**trade.parcel("answers"), "vendor/responses/c.txt": b"C"})
    return trade


def test_nothing_is_overwritten_unless_somebody_says_so(received_once: Trade) -> None:
    files, before = second(received_once), received_once.picture()
    with pytest.raises(UsageError, match=r"would go: .*replaced.*--replace lets them"), received_once.receive(files):
        pass
    assert received_once.picture() == before


def test_what_is_replaced_is_told_and_what_it_made_stale_goes(received_once: Trade) -> None:
    files, before = second(received_once), received_once.picture()
    with received_once.receive(files, replace=True) as delivery:
        link = f"attestations/answers.{ID8}.link"
        assert set(delivery.replaced) == {ANSWERS, link, f"attestations/answers.{ID8}.1.dsse.json"}
        assert delivery.replaced[ANSWERS] == before[ANSWERS]
        assert delivery.removed == ("vendor/responses/c.txt",)
        delivery.land()
    after = received_once.picture()
    assert "vendor/responses/c.txt" not in after
    report = received_once.port.audit()
    assert not [r for r in report.findings if r.rule.startswith(("link", "attestation"))]


def test_statements_of_other_files_go(received_once: Trade) -> None:
    """A statement of an earlier run, by a number that did not come again."""
    parcel = received_once.attest("answers", invocation="answers-2")
    received_once.land(parcel)
    assert (received_once.port.path / f"attestations/answers.{ID8}.2.dsse.json").exists()
    with received_once.receive(second(received_once), replace=True) as delivery:
        assert f"attestations/answers.{ID8}.2.dsse.json" in delivery.removed


def test_a_port_that_changes_meanwhile(trade: Trade) -> None:
    with trade.receive(trade.parcel()) as delivery:
        (trade.port.path / "configs").mkdir(exist_ok=True)
        (trade.port.path / "configs/new.txt").write_text("x")
        before = trade.picture()
        with pytest.raises(UsageError, match="changed while this ran"):
            delivery.land()
    assert trade.picture() == before


def test_nobody_runs_steps_meanwhile(trade: Trade) -> None:
    with (
        trade.receive(trade.parcel()),
        pytest.raises(UsageError, match="Another calaudit run"),
        locked(trade.port.path),
    ):
        pass


def test_a_publication_that_was_cut_off_comes_first(trade: Trade) -> None:
    (trade.port.path / journal.FOLDER).mkdir()
    with pytest.raises(UsageError, match="was cut off"), trade.receive({}):
        pass


def test_without_a_registry_digests_still_have_to_fit(trade: Trade) -> None:
    with trade.receive(signed_by("nobody")(trade), registry=None) as delivery:
        assert delivery.signers == {}
    files = {**signed_by("nobody")(trade), MATRIX: trade.matrix + b"#\n"}
    with pytest.raises(UsageError, match="with the digest"), trade.receive(files, registry=None):
        pass


@pytest.mark.parametrize("point", range(0, 20, 3))
def test_a_kill_leaves_the_old_port_or_the_new_one(trade: Trade, point: int) -> None:
    before = trade.picture()
    parcel = trade.parcel("matrix", "answers")
    with trade.receive(parcel) as delivery:
        pid = os.fork()
        if not pid:
            seen: list[str] = []

            def reached(name: str) -> None:
                if len(seen) == point:
                    os.kill(os.getpid(), signal.SIGKILL)
                seen.append(name)

            try:
                delivery.land(reached=reached)
            finally:
                os._exit(0)
        os.waitpid(pid, 0)
        journal.recover(trade.port.path)
        after = trade.picture()
    if after != before:
        with_parcel = {**before, **{p: hashlib.sha256(data).hexdigest() for p, data in parcel.items()}}
        assert {p: d for p, d in after.items() if d != "folder"} == {
            p: d for p, d in with_parcel.items() if d != "folder"
        }

"""What is signed, garbled in every way: never a crash, and never a pass unless nothing but white space changed."""

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from securesystemslib.formats import encode_canonical

from calaudit import Report
from calaudit.contract import Contract
from calaudit.errors import Malformed
from calaudit.evidence.strict_json import parse_json
from calaudit.model import Verdict
from calaudit.trust import establish
from tests.trust import authority as kit
from tests.trust.forgeries.registries import sign_json
from tests.trust.signed_port import G0, PORT_SIGNOFF, WAIVER, WAIVER_SIGNERS, SignedPort, signed_copy

ROUNDS = 20
"""Mutations of one file; all of them by one seed, so that a failure comes again."""

VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    2,
    1.5,
    1 << 62,
    "",
    " ",
    "x",
    "G1",
    [],
    {},
    [None],
    {"sha256": "x"},
)


@pytest.fixture
def port(tmp_path: Path, contract: Contract) -> SignedPort:
    """A port with one of everything: signoffs, a waiver that counts, an attestation that the signoff relies on."""
    made = signed_copy("waived", tmp_path / "tiny-dense", contract)
    made.attest(name=ATTESTATION.rpartition("/")[2])
    made.signoff("G0.model", waivers=kit.named({WAIVER: kit.payload_digest(made.path / WAIVER)}))
    assert made.audit().exit_code == 0
    return made


ATTESTATION = f"attestations/fetch.{kit.key('model-functionary').public_key.keyid[:8]}.1.dsse.json"
SIGNERS = {G0: ["model"], PORT_SIGNOFF: ["compiler"], WAIVER: WAIVER_SIGNERS, ATTESTATION: ["model-functionary"]}


def garbled(data: bytes, dice: random.Random) -> bytes:
    """Flip a bit, cut, double, drop, insert or overwrite some bytes."""
    at = dice.randrange(len(data))
    size = dice.choice((1, 1, 2, 7, 64))
    match dice.randrange(6):
        case 0:
            return data[:at] + bytes([data[at] ^ 1 << dice.randrange(8)]) + data[at + 1 :]
        case 1:
            return data[:at]
        case 2:
            return data[: at + size] + data[at:]
        case 3:
            return data[:at] + data[at + size :]
        case 4:
            return data[:at] + dice.choice((b" ", b"\n", b"\0", b'"', b"{", b"}", b",", b"\\u0000", b"1e9")) + data[at:]
        case _:
            return data[:at] + dice.randbytes(size) + data[at + size :]


def same(one: bytes, other: bytes) -> bool:
    try:
        return parse_json(one) == parse_json(other)
    except Malformed:
        return False


def check(report: Report) -> None:
    assert report.exit_code in (0, 1, 3), report.notes
    assert (report.verdict is Verdict.PASSED) == (report.exit_code == 0)


@pytest.mark.parametrize("name", SIGNERS)
def test_garbled_bytes_of_what_is_signed(name: str, port: SignedPort) -> None:
    dice = random.Random(name)  # noqa: S311 - repeatable
    good = (port.path / name).read_bytes()
    for _ in range(ROUNDS):
        bad = garbled(good, dice)
        (port.path / name).write_bytes(bad)
        report = port.audit()
        check(report)
        assert report.exit_code != 0 or same(good, bad), bad


@pytest.mark.parametrize("name", ["roots", "registry"])
def test_garbled_bytes_of_whom_to_trust(name: str, port: SignedPort) -> None:
    dice = random.Random(name)  # noqa: S311 - repeatable
    source = port.authority.source(seen=port.seen)
    assert source.registry is not None
    good = source.roots[0][1] if name == "roots" else source.registry
    for _ in range(ROUNDS):
        bad = garbled(good, dice)
        port.source = replace(source, **{name: (("1.root.json", bad),) if name == "roots" else bad})
        report = port.audit()
        check(report)
        assert report.exit_code != 0 or same(good, bad), bad


def test_garbled_payloads_under_good_signatures(port: SignedPort) -> None:
    """The owner signed something that is no statement."""
    dice = random.Random("payload")  # noqa: S311 - repeatable
    good = kit.payload(port.path / G0)
    for _ in range(ROUNDS):
        bad = garbled(good, dice)
        if not bad:
            continue
        port.sign_bytes(bad)
        report = port.audit()
        check(report)
        assert report.exit_code != 0 or _innocent(good, bad), bad


def _innocent(good: bytes, bad: bytes) -> bool:
    """Whether two statements differ in what is only told, never held against anything."""
    one, other = (json.loads(payload)["predicate"] for payload in (good, bad))
    told = {"signed_on", "contract"}
    return {k: v for k, v in one.items() if k not in told} == {k: v for k, v in other.items() if k not in told}


PARAMETERS = "/predicate/buildDefinition/externalParameters"
FREE = {
    G0: {"/predicate/signed_on", "/predicate/contract/version", "/predicate/evidence", "/predicate/evidence/0",
         "/predicate/waivers", "/predicate/waivers/0"},
    PORT_SIGNOFF: {"/predicate/signed_on", "/predicate/contract/version"},
    WAIVER: {"/predicate/reason", "/predicate/ticket"},
    ATTESTATION: {f"{PARAMETERS}/gate", f"{PARAMETERS}/command",
                  "/predicate/runDetails/builder/id", "/predicate/runDetails/metadata/invocationId"},
}  # fmt: skip
"""Members that may hold something else; they are told, and held against nothing of this port."""


@pytest.mark.parametrize("name", SIGNERS)
def test_another_value_under_good_signatures(name: str, port: SignedPort) -> None:
    dice = random.Random(name)  # noqa: S311 - repeatable
    good = port.statement(name)
    places = list(pointers(good))
    for _ in range(ROUNDS):
        place = dice.choice(places)
        bad = mutated(good, place, dice)
        port.sign_bytes(json.dumps(bad).encode(), *SIGNERS[name], path=name)
        report = port.audit()
        check(report)
        assert report.exit_code != 0 or bad == good or place in FREE[name], (place, bad)


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("kind", ["root", "registry"])
def test_another_value_in_whom_to_trust(kind: str, signed: bool, contract: Contract) -> None:
    dice = random.Random(kind)  # noqa: S311 - repeatable
    authority = kit.Authority()
    source = authority.source()
    good = json.loads(source.roots[0][1] if kind == "root" else kit.to_bytes(authority.registry()))
    places = list(pointers(good["signed"]))
    for _ in range(8 * ROUNDS):
        bad = mutated(good["signed"], dice.choice(places), dice)
        try:
            encode_canonical(bad)
            data = sign_json(bad) if signed else json.dumps({**good, "signed": bad}).encode()
        except Exception:  # noqa: BLE001 - a fraction has no canonical form
            data = json.dumps({**good, "signed": bad}).encode()
        changes: dict[str, Any] = {"roots": (("1.root.json", data),)} if kind == "root" else {"registry": data}
        trust = establish(replace(source, **changes), kit.NOW, contract.schemas)
        assert trust.registry is None or signed or bad == good["signed"], bad
        assert (trust.registry is None) == bool(trust.faults)


def pointers(value: Any, at: str = "") -> Iterator[str]:
    """Every place in a document; of long lists the beginning."""
    if at:
        yield at
    members = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    for name, member in members:
        yield from pointers(member, f"{at}/{name}")


def mutated(document: Any, place: str, dice: random.Random) -> Any:
    """A copy in which one place is gone, another value, or has one member more."""
    changed = json.loads(json.dumps(document))
    *parents, last = place.split("/")[1:]
    holder = changed
    for name in parents:
        holder = holder[int(name) if isinstance(holder, list) else name]
    key: Any = int(last) if isinstance(holder, list) else last
    change: Callable[[], object] = dice.choice(
        (
            lambda: holder.pop(key),
            *[lambda: holder.__setitem__(key, dice.choice(VALUES))] * 4,
            lambda: _more(holder[key]),
        )
    )
    change()
    return changed


def _more(value: Any) -> None:
    if isinstance(value, dict):
        value["more"] = "x"
    elif isinstance(value, list):
        value.append(value[0] if value else "x")

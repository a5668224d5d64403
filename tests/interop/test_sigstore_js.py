"""sigstore-js and calaudit accept each other's bundles, and refuse the same forgeries.

The packages are the real ones, at the versions of ``sigstore-js/package-lock.json``; ``make test`` installs them.
"""

import base64
import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from calaudit.sign.keyless import sign_bundle
from calaudit.trust.envelope import parse_bundle
from calaudit.trust.keyless import KeylessFault, verify_bundle
from tests.sigstore.bundles import Document, edited, entry, material
from tests.sigstore.certificates import Period
from tests.sigstore.log import b64
from tests.sigstore.loopback import ISSUER, OWNER, STATEMENT, SUBJECT, Loopback

HERE = Path(__file__).parent / "sigstore-js"
TIMEOUT_S = 120


@dataclass(frozen=True)
class Case:
    """A bundle, and what it is verified against."""

    bundle: Document
    root: Document
    subject: str = SUBJECT
    issuer: str = ISSUER

    def verdict(self) -> str | None:
        """Why calaudit refuses it, or None."""
        bundle, root = (json.dumps(part).encode() for part in (self.bundle, self.root))
        try:
            verify_bundle(bundle, trusted_root=root, identities=[(self.subject, self.issuer)])
        except KeylessFault as fault:
            return fault.message
        return None


def node(script: str, given: Document) -> Document:
    """What a script answers."""
    program = shutil.which("node")
    if program is None:
        pytest.fail("node is not installed: this test runs sigstore-js, which needs Node.js 20.17 or newer.")
    if not (HERE / "node_modules").is_dir():
        pytest.fail(f"sigstore-js is not installed: run `make test`, or `npm ci --prefix {HERE}`.")
    run = [program, str(HERE / script)]
    done = subprocess.run(run, input=json.dumps(given), capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    assert done.returncode == 0, done.stderr
    answer: Document = json.loads(done.stdout)
    return answer


@pytest.fixture(scope="module")
def theirs(loopback: Loopback) -> Document:
    """Bundles that sigstore-js made."""
    return node("sign.mjs", {"url": loopback.url, "token": loopback.token(), "statement": b64(STATEMENT)})


@pytest.fixture(scope="module")
def ours(loopback: Loopback, tmp_path_factory: pytest.TempPathFactory) -> Document:
    """Bundles that calaudit made."""
    folder = tmp_path_factory.mktemp("ours")

    def sign(rekor: int, *, timestamps: bool) -> Any:
        config = loopback.write_config(folder, rekor=rekor, timestamps=timestamps)
        return json.loads(sign_bundle(STATEMENT, trust_config=config, token=loopback.token()))

    return {
        "v1": sign(1, timestamps=False),
        "v1_stamped": sign(1, timestamps=True),
        "v2": sign(2, timestamps=True),
    }


def _forged_payload(d: Document) -> None:
    d["dsseEnvelope"]["payload"] = b64(STATEMENT.replace(b"approve", b"reject!"))


def _forged_entry(d: Document) -> None:
    body = json.loads(base64.b64decode(entry(d)["canonicalizedBody"]))
    body["spec"]["payloadHash"]["value"] = "00" * 32
    entry(d)["canonicalizedBody"] = b64(json.dumps(body).encode())


def _forged_time(d: Document) -> None:
    entry(d)["integratedTime"] = str(int(entry(d)["integratedTime"]) + 1)


FORGERIES: dict[str, Callable[[Document], object]] = {
    "payload": _forged_payload,
    "log entry": _forged_entry,
    "time": _forged_time,
    "no log entry": lambda d: material(d).update(tlogEntries=[]),
    "two signatures": lambda d: d["dsseEnvelope"].update(signatures=d["dsseEnvelope"]["signatures"] * 2),
}


@pytest.fixture(scope="module")
def cases(loopback: Loopback, ours: Document, theirs: Document) -> dict[str, Case]:
    """Everything that both verify; node takes a second to start, so it is started once."""
    root = loopback.trusted_root()
    found = {f"ours: {name}": Case(bundle, root) for name, bundle in ours.items()}
    for origin, bundles in (("ours", ours), ("theirs", theirs)):
        good = bundles["v1"]
        forged = {what: json.loads(edited(json.dumps(good).encode(), edit)) for what, edit in FORGERIES.items()}
        found |= {f"{origin}: {what}": Case(bundle, root) for what, bundle in forged.items()}
        found |= {
            f"{origin}: wrong subject": Case(good, root, subject=SUBJECT + "x"),
            f"{origin}: wrong issuer": Case(good, root, issuer="https://login.evil.example"),
            f"{origin}: foreign root": Case(good, Loopback().trusted_root()),
            f"{origin}: expired authority": Case(good, loopback.trusted_root(ca=Period.over())),
            f"{origin}: expired log": Case(good, loopback.trusted_root(log=Period.over())),
        }
    return found


@pytest.fixture(scope="module")
def verdicts(cases: dict[str, Case]) -> Document:
    """What sigstore-js says of each case: None, or why it refuses."""
    return node("verify.mjs", {name: asdict(case) for name, case in cases.items()})


def test_the_packages_are_pinned_by_digest_wherever_they_come_from() -> None:
    packages: Document = json.loads((HERE / "package-lock.json").read_text())["packages"]
    assert [path for path, package in packages.items() if path and "integrity" not in package] == []
    assert [path for path, package in packages.items() if "resolved" in package] == []


@pytest.mark.parametrize("name", ["v1", "v1_stamped"])
def test_calaudit_verifies_what_sigstore_js_signed(loopback: Loopback, theirs: Document, name: str) -> None:
    bundle = json.dumps(theirs[name]).encode()
    root = json.dumps(loopback.trusted_root()).encode()
    assert verify_bundle(bundle, trusted_root=root, identities=[OWNER]) == 0
    assert parse_bundle("x", bundle).payload == STATEMENT


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("message", "no DSSE envelope"),
        ("stamped_only", "tlogEntries: Field required"),
        ("v1_legacy", "does not verify"),
        ("v2", "Unsupported DSSE log entry type: dsse/0.0.2"),
    ],
)
def test_what_sigstore_js_can_sign_and_calaudit_does_not_take(
    loopback: Loopback, theirs: Document, name: str, message: str
) -> None:
    root = json.dumps(loopback.trusted_root()).encode()
    with pytest.raises(KeylessFault, match=message):
        verify_bundle(json.dumps(theirs[name]).encode(), trusted_root=root, identities=[OWNER])


def test_sigstore_js_verifies_what_calaudit_signed(verdicts: Document) -> None:
    assert verdicts["ours: v1"] is None
    assert verdicts["ours: v1_stamped"] is None


def test_sigstore_js_cannot_verify_the_newer_log_yet(verdicts: Document) -> None:
    """Version 2 of the log knows two kinds of entry for an envelope.

    sigstore-python makes and takes the one by the digest of the signed bytes; sigstore-js makes the other, and takes
    the first from its release 5 on, which needs Node.js 22. When this test fails, it does: expect None.
    """
    assert verdicts["ours: v2"] == "TLOG_BODY_ERROR: digest mismatch"


def test_both_refuse_the_same(cases: dict[str, Case], verdicts: Document) -> None:
    accepted = {name for name, reason in verdicts.items() if reason is None}
    assert accepted == {"ours: v1", "ours: v1_stamped"}
    assert {name for name, case in cases.items() if case.verdict() is None} == accepted | {"ours: v2"}

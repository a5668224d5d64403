"""`calaudit layout`: compiled, shown, signed by one release owner after the other, and replaced when it must be."""

import base64
import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from calaudit.cli import cli
from calaudit.trust.steps import LAYOUT
from tests.execute.small import make_port, raw
from tests.trust import authority as kit
from tests.trust.authority import Authority

LATER = datetime(2090, 1, 1, tzinfo=UTC)


class Laid:
    """A port, a trust directory that speaks for it, and the verb."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.port = make_port(root / "port", {"make": raw()})
        self.authority = Authority(ports=["small"], expires=LATER, root_expires=LATER)
        (root / "trust").mkdir()
        self.write_trust()

    def write_trust(self) -> None:
        (self.root / "trust/1.root.json").write_bytes(kit.to_bytes(self.authority.root()))
        (self.root / "trust/roles.json").write_bytes(kit.to_bytes(self.authority.registry()))

    def key(self, seed: str) -> str:
        private = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(seed.encode()).digest())
        path = self.root / f"{seed}.pem"
        path.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        path.chmod(0o600)
        return str(path)

    def layout(self, *seeds: str, more: tuple[str, ...] = ()) -> Result:
        keys = [word for seed in seeds for word in ("--key", self.key(seed))]
        trust = ("--trust", str(self.root / "trust"))
        return CliRunner().invoke(cli, ["layout", str(self.port), *trust, "--yes", *keys, *more])

    @property
    def signed_by(self) -> list[str]:
        return [s["keyid"] for s in json.loads((self.port / LAYOUT).read_bytes())["signatures"]]

    @property
    def expires(self) -> str:
        return str(json.loads(kit.payload(self.port / LAYOUT))["expires"])


@pytest.fixture
def laid(tmp_path: Path) -> Laid:
    return Laid(tmp_path)


def keyids(*seeds: str) -> list[str]:
    return [kit.key(seed).public_key.keyid for seed in seeds]


def test_without_a_key_it_is_only_shown(laid: Laid) -> None:
    done = laid.layout()
    assert done.exit_code == 0
    assert "  make (G1)" in done.output
    assert f"    by 1 of model-functionary: {keyids('model-functionary')[0][:8]}" in done.output
    assert "    runs  sh tools/make.sh" in done.output
    assert done.output.endswith("Nothing was written: no --key.\n")
    assert not (laid.port / "attestations").exists()


def test_one_after_the_other_signs_the_same_layout(laid: Laid) -> None:
    first = laid.layout("release", more=("--expires", "30d"))
    assert "by 1 of 2 owner(s) of release" in first.output
    assert "1 more have to sign" in first.output
    until = laid.expires
    second = laid.layout("release-2")
    assert "Signed before, and still right: by 1 key(s)." in second.output
    assert "by 2 of 2 owner(s) of release" in second.output
    assert (laid.signed_by, laid.expires) == (keyids("release", "release-2"), until)


def test_both_at_once(laid: Laid) -> None:
    assert laid.layout("release", "release-2").exit_code == 0
    assert laid.signed_by == keyids("release", "release-2")


@pytest.mark.parametrize("change", ["the port", "the functionaries", "the end"])
def test_what_changed_is_signed_anew(laid: Laid, change: str) -> None:
    laid.layout("release", "release-2")
    more: tuple[str, ...] = ()
    if change == "the port":
        path = laid.port / "port.yaml"
        path.write_text(path.read_text().replace("in.txt", "input.txt"))
    elif change == "the functionaries":
        laid.authority = replace(laid.authority, version=2)
        laid.authority.delegations["model-functionary"] = (["another"], 1)
        laid.authority.owners[:] = [o for o in laid.authority.owners if o["role"] != "model-functionary"]
        laid.authority.add("model-functionary", ["another"], 1)
        laid.write_trust()
    else:
        more = ("--expires", "7d")
    done = laid.layout("release", more=more)
    assert "Another layout is there; this one takes its place, and its signatures go." in done.output
    assert laid.signed_by == keyids("release")


@pytest.mark.parametrize("there", [b"{", b'{"payload": "", "payloadType": "x", "signatures": []}'])
def test_whatever_else_is_there_is_replaced(laid: Laid, there: bytes) -> None:
    (laid.port / "attestations").mkdir()
    (laid.port / LAYOUT).write_bytes(there)
    assert "Another layout is there" in laid.layout("release").output
    assert laid.signed_by == keyids("release")


@pytest.mark.parametrize(
    ("seed", "says"),
    [
        ("model", "speaks for model; here a key of release signs"),
        ("model-functionary", "speaks for model-functionary; here a key of release signs"),
        ("stranger", "is nobody's in the registry; here a key of release signs"),
    ],
)
def test_only_release_owners_sign(laid: Laid, seed: str, says: str) -> None:
    done = laid.layout(seed)
    assert done.exit_code == 2
    assert says in done.output
    assert not (laid.port / "attestations").exists()


def test_nobody_signs_twice(laid: Laid) -> None:
    laid.layout("release")
    done = laid.layout("release")
    assert done.exit_code == 2
    assert "has signed this already" in done.output


def test_a_signature_that_does_not_fit_is_not_built_upon(laid: Laid) -> None:
    laid.layout("release")
    envelope = json.loads((laid.port / LAYOUT).read_bytes())
    other = kit.key("release").sign(b"something else").signature
    envelope["signatures"][0]["sig"] = base64.b64encode(bytes.fromhex(other)).decode()
    (laid.port / LAYOUT).write_text(json.dumps(envelope))
    done = laid.layout("release-2")
    assert done.exit_code == 2
    assert "layout-signature-invalid" in done.output


def test_another_place(laid: Laid, tmp_path: Path) -> None:
    out = tmp_path / "my.layout"
    done = laid.layout("release", more=("--out", str(out)))
    assert (done.exit_code, out.is_file(), (laid.port / LAYOUT).exists()) == (0, True, False)


@pytest.mark.parametrize(
    ("steps", "says"),
    [
        ({}, "port.yaml"),
        (
            {"a": raw(products=["out/x"]), "b": raw(products=["out/*"])},
            r"port.yaml: The steps a (out/x) and b (out/*) may write one file",
        ),
        (
            {"a": raw(materials=["y"], products=["x"]), "b": raw(materials=["x"], products=["y"])},
            "port.yaml: The steps go round in a circle",
        ),
        ({"a": raw(products=["o/**/x/**/x/**/x/**/x/**/x/**/x/**/x"])}, "has more than 6 ** before its end"),
    ],
)
def test_what_cannot_be_laid_out(laid: Laid, steps: dict[str, object], says: str) -> None:
    document = json.loads((laid.port / "port.yaml").read_text())
    (laid.port / "port.yaml").write_text(json.dumps({**document, "steps": steps}))
    done = laid.layout("release")
    assert done.exit_code == 2
    assert says in done.output


def test_a_port_without_steps(laid: Laid) -> None:
    document = json.loads((laid.port / "port.yaml").read_text())
    del document["steps"]
    (laid.port / "port.yaml").write_text(json.dumps(document))
    assert "declares no steps" in laid.layout("release").output


def test_no_port(laid: Laid) -> None:
    (laid.port / "port.yaml").unlink()
    done = laid.layout("release")
    assert (done.exit_code, "Is this a port?" in done.output) == (2, True)


def test_a_port_that_the_registry_does_not_know(laid: Laid) -> None:
    path = laid.port / "port.yaml"
    path.write_text(path.read_text().replace('"small"', '"large"'))
    assert "does not speak for the port large" in laid.layout("release").output

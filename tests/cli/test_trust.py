"""``calaudit trust`` as its keepers and users run it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from calaudit.cli import _keys, cli
from calaudit.pins import read_pin
from calaudit.trust.roles import ROLES
from tests.sign.make import Keepers, keepers, key_file

SECRET = "correct horse battery"
PROMISE = ["--contact", "mailto:crew@example.org", "--delivery-date", "2026-12-01", "--delivery-version", "1.0"]

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run ``calaudit trust``; exit code 0, or the one expected; no secret in what it says."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CALAUDIT_PASSPHRASE", SECRET)
    monkeypatch.setenv("CALAUDIT_STATE_DIR", str(tmp_path / "state"))

    def invoke(*args: str, code: int = 0, typed: str | None = None) -> Result:
        done = CliRunner().invoke(cli, ["trust", *args], input=typed)
        assert done.exit_code == code, done.output
        assert SECRET not in done.output
        assert "PRIVATE KEY" not in done.output
        assert "Traceback" not in done.output
        return done

    return invoke


@pytest.fixture
def made(tmp_path: Path) -> Keepers:
    return keepers(tmp_path)


def shown(run: Run, directory: str = "trust") -> dict[str, object]:
    return json.loads(run("show", directory, "--json").stdout)


def listed() -> list[str]:
    return sorted(path.name for path in Path("trust").iterdir())


def begin(run: Run, *extra: str) -> None:
    run("init", "trust", "--new-key", "r1.pem", "--port", "tiny-dense", "--label", "tests", *extra)


def test_a_root_of_one_is_published_at_once(run: Run, tmp_path: Path) -> None:
    begin(run)
    assert listed() == ["1.root.json", "roles.json"]
    assert (tmp_path / "r1.pem").stat().st_mode & 0o777 == 0o600
    document = shown(run)
    assert document["pending"] == []
    assert document["root"]["threshold"] == 1
    assert [role["name"] for role in document["registry"]["roles"]] == list(ROLES)


def test_three_people_on_three_machines(run: Run, tmp_path: Path) -> None:
    # Each has a key; the first begins with the public halves of the others.
    for name in ("a", "b", "c"):
        run("init", f"other-{name}", "--new-key", f"{name}.pem", "--port", "p", "--label", "x")
    run(
        *("init", "trust", "--key", "a.pem", "--public-key", "b.pem.pub", "--public-key", "c.pem.pub"),
        *("--port", "tiny-dense", "--label", "tests"),
    )
    assert listed() == ["pending"]
    assert [item["missing"] for item in shown(run)["pending"]] == [1, 1]
    told = run("sign", "trust", "--key", "a.pem", "--yes").stdout
    assert "has signed already" in told
    told = run("sign", "trust", "--key", "c.pem", "--yes").stdout
    assert "Published: 1.root.json, roles.json." in told
    assert listed() == ["1.root.json", "roles.json"]
    assert "Nothing waits" in run("sign", "trust", "--key", "b.pem", "--yes").stdout


def test_owners_are_appointed_and_count_once_signed(run: Run, made: Keepers) -> None:
    run("add-owner", "trust", "model", "--name", "Second crew", *PROMISE, "--new-key", "second.pem")
    document = shown(run)
    assert document["registry"]["version"] == 1
    assert document["pending"][0]["version"] == 2
    assert "model" in document["pending"][0]["changes"][0]
    for n, missing in ((1, 1), (3, 0)):
        run("sign", "trust", "--key", made.key(f"root-{n}"), "--yes")
        assert sum(item["missing"] for item in shown(run)["pending"]) == missing
    document = shown(run)
    assert (document["registry"]["version"], document["registry"]["signed"], document["pending"]) == (2, True, [])
    model = document["registry"]["roles"][0]
    assert [owner["name"] for owner in model["owners"]] == ["Model crew AA", "Second crew"]


def test_an_edit_takes_the_signatures_away(run: Run, made: Keepers) -> None:
    run(
        "add-owner",
        "trust",
        "quant",
        "--name",
        "B crew",
        *PROMISE,
        "--new-key",
        "b.pem",
        "--sign-with",
        made.key("root-1"),
    )
    assert shown(run)["pending"][0]["missing"] == 1
    run("add-owner", "trust", "quant", "--name", "C crew", *PROMISE, "--new-key", "c.pem")
    pending = shown(run)["pending"][0]
    assert (pending["version"], pending["missing"], pending["signed"]) == (3, 2, [])
    assert len(pending["changes"]) == 2


def test_functionaries_and_keyless_owners(run: Run, made: Keepers, tmp_path: Path) -> None:
    run(
        "add-owner",
        "trust",
        "model",
        "--functionary",
        "--name",
        "ci-17",
        "--contact",
        "https://ci.example",
        "--new-key",
        "f.pem",
    )
    keyless = ["add-owner", "trust", "model", "--name", "Keyless crew", *PROMISE, "--identity", "crew@example.org"]
    assert "half an identity" in run(*keyless, code=2).output
    keyless += ["--issuer", "https://issuer.example"]
    assert "--sigstore-root" in run(*keyless, code=2).output
    (tmp_path / "root.json").write_text("{}")
    run(*keyless, "--sigstore-root", "root.json")
    assert not (made.path / "sigstore").exists()
    for n in (1, 2):
        run("sign", "trust", "--key", made.key(f"root-{n}"), "--yes")
    assert (made.path / "sigstore/trusted_root.json").read_text() == "{}"
    roles = {role["name"]: role for role in shown(run)["registry"]["roles"]}
    assert "model-functionary" in roles
    assert [k["identity"] for o in roles["model"]["owners"] for k in o["keys"] if "identity" in k] == [
        "crew@example.org"
    ]
    assert "crew@example.org by https://issuer.example" in run("show", "trust").stdout


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["model", "--name", "vendor support", *PROMISE, "--new-key", "x.pem"], "says nobody"),
        (["model", "--name", "\u3000", *PROMISE, "--new-key", "x.pem"], "says nobody"),
        (["pilot", "--name", "A crew", *PROMISE, "--new-key", "x.pem"], "no role"),
        (["model", *PROMISE, "--new-key", "x.pem"], "--name is missing"),
        (["model", "--name", "A crew", *PROMISE], "--key, --new-key or --identity is missing"),
        (["model", "--name", "A crew", *PROMISE, "--key", "keys/root-1.pem"], "is a root key"),
        (["model", "--name", "A crew", *PROMISE, "--key", "keys/quant-1.pem"], "one role"),
        (["release", "--name", "A crew", *PROMISE, "--new-key", "x.pem", "--threshold", "1"], "at least 2"),
        (["model", "--name", "A crew", *PROMISE, "--new-key", "trust/x.pem"], "keep private keys elsewhere"),
        (
            ["model", "--name", "A crew", *PROMISE, "--new-key", "x.pem", "--sign-with", "keys/quant-1.pem"],
            "no root key",
        ),
        (
            [
                "model",
                "--name",
                "A crew",
                *PROMISE,
                "--new-key",
                "x.pem",
                "--threshold",
                "9",
                "--sign-with",
                "keys/root-1.pem",
            ],
            "9",
        ),
    ],
)
def test_appointments_that_are_refused(run: Run, made: Keepers, args: list[str], sentence: str) -> None:
    assert sentence in run("add-owner", "trust", *args, code=2).output
    assert not (made.path / "pending").exists()


def test_revoking(run: Run, made: Keepers) -> None:
    keyid = made.owners["quant"][0].public_key.keyid
    assert "--reason is missing" in run("revoke", "trust", keyid[:8], code=2).output
    run("revoke", "trust", keyid[:8], "--reason", "lost laptop", "--sign-with", made.key("root-1"))
    run("sign", "trust", "--key", made.key("root-2"), "--yes")
    document = shown(run)
    assert [entry["keyid"] for entry in document["registry"]["revoked"]] == [keyid]
    told = run("add-owner", "trust", "quant", "--name", "Back again", *PROMISE, "--key", made.key("quant-1"), code=2)
    assert "revoked" in told.output


def test_rotation_needs_old_and_new_keepers(run: Run, made: Keepers) -> None:
    gone = [signer.public_key.keyid for signer in made.roots[:2]]
    run(
        "rotate",
        "trust",
        "--new-key",
        "r4.pem",
        "--new-key",
        "r5.pem",
        "--remove-key",
        gone[0][:8],
        "--remove-key",
        gone[1],
    )
    document = shown(run)
    assert [item["file"] for item in document["pending"]] == ["2.root.json", "roles.json"]
    assert document["root"]["version"] == 1
    run("sign", "trust", "--key", made.key("root-1"), "--yes")
    assert shown(run)["root"]["version"] == 1
    told = run("sign", "trust", "--key", made.key("root-2"), "--yes").stdout
    assert "Published: 2.root.json, roles.json." in told
    document = shown(run)
    assert (document["root"]["version"], document["registry"]["version"], document["registry"]["signed"]) == (
        2,
        2,
        True,
    )
    # Who left can sign nothing any more.
    run("set", "trust", "--add-port", "other")
    assert "no place" in run("sign", "trust", "--key", made.key("root-1"), "--yes", code=2).output
    run("sign", "trust", "--key", "r4.pem", "--yes")
    run("sign", "trust", "--key", "r5.pem", "--yes")
    assert shown(run)["registry"]["ports"] == ["other", "tiny-dense"]


def test_new_keepers_alone_rotate_nothing(run: Run, made: Keepers) -> None:
    ids = [signer.public_key.keyid for signer in made.roots]
    remove = [part for keyid in ids for part in ("--remove-key", keyid[:8])]
    run("rotate", "trust", "--new-key", "r4.pem", "--new-key", "r5.pem", *remove)
    assert shown(run)["root"]["version"] == 1
    assert "waits for signatures" in run("rotate", "trust", "--expires", "90d", code=2).output
    run(
        "rotate",
        "trust",
        "--expires",
        "90d",
        "--replace-pending",
        "--key",
        made.key("root-1"),
        "--key",
        made.key("root-3"),
    )
    assert shown(run)["root"]["version"] == 2
    assert shown(run)["registry"]["version"] == 1  # the same keys vouch for it


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["--new-key", "k.pem", "--label", "x"], "--port is missing"),
        (["--new-key", "k.pem", "--port", "p"], "--label is missing"),
        (["--port", "p", "--label", "x"], "--new-key, --key or --public-key is missing"),
        (["--new-key", "k.pem", "--port", "p", "--label", "x", "--threshold", "2"], "does not fit"),
        (["--new-key", "k.pem", "--port", "p", "--label", "x", "--expires", "yesterday"], "no expiry"),
        (["--new-key", "new/k.pem", "--port", "p", "--label", "x"], "keep private keys elsewhere"),
        (["--new-key", "k.pem", "--port", "a b", "--label", "x"], "would be refused"),
    ],
)
def test_beginnings_that_are_refused(run: Run, tmp_path: Path, args: list[str], sentence: str) -> None:
    assert sentence in run("init", "new", *args, code=2).output
    assert not (tmp_path / "new").exists()


def test_no_trust_in_a_port_nor_over_another(run: Run, tmp_path: Path, made: Keepers) -> None:
    (tmp_path / "port").mkdir()
    (tmp_path / "port/port.yaml").touch()
    options = ["--new-key", "k.pem", "--port", "p", "--label", "x"]
    assert "inside the port" in run("init", "port/trust", *options, code=2).output
    assert "is not empty" in run("init", "trust", *options, code=2).output
    assert not (tmp_path / "k.pem").exists()


def test_a_tampered_root_is_noticed(run: Run, made: Keepers) -> None:
    path = made.path / "1.root.json"
    path.write_text(path.read_text().replace('"threshold": 2', '"threshold": 1', 1))
    assert "not signed as it has to be" in run("show", "trust", code=2).output


def test_nobody_signs_what_would_be_refused(run: Run, made: Keepers) -> None:
    run("set", "trust", "--add-port", "other")
    path = made.path / "pending/roles.json"
    path.write_text(
        path.read_text().replace("Quant crew AA", "Model crew AA").replace('"role": "quant"', '"role": "export"')
    )
    assert "would be refused" in run("sign", "trust", "--key", made.key("root-1"), "--yes", code=2).output


def test_signing_asks(run: Run, made: Keepers, monkeypatch: pytest.MonkeyPatch) -> None:
    run("set", "trust", "--label", "other")
    assert "say --yes" in run("sign", "trust", "--key", made.key("root-1"), code=2).output
    monkeypatch.setattr(_keys, "terminal", lambda: True)
    assert "Nothing was written" in run("sign", "trust", "--key", made.key("root-1"), code=2, typed="n\n").output
    assert shown(run)["pending"][0]["signed"] == []
    run("sign", "trust", typed=f"{made.key('root-1')}\ny\n")
    assert len(shown(run)["pending"][0]["signed"]) == 1


def test_a_passphrase_is_asked_twice_on_a_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CALAUDIT_PASSPHRASE")
    assert "CALAUDIT_PASSPHRASE" in run("init", "t", "--new-key", "k.pem", "--port", "p", "--label", "x", code=2).output
    monkeypatch.setattr(_keys, "terminal", lambda: True)
    run("init", "t", typed=f"k.pem\np\nx\n{SECRET}\n{SECRET}\n")
    run("set", "t", "--label", "y", "--sign-with", "k.pem", typed=f"{SECRET}\n")
    assert (
        "does not open" in run("set", "t", "--label", "z", "--sign-with", "k.pem", code=2, typed="wrong wrong\n").output
    )


def test_pinning(run: Run, made: Keepers) -> None:
    assert "No root is pinned" in run("show", code=2).output
    assert "say --yes" in run("pin", "trust", code=2).output
    assert read_pin() is None
    assert "fingerprint is not" in run("pin", "trust", "--fingerprint", "ab" * 32, code=2).output
    told = run("pin", "trust", "--yes").stdout
    pin = read_pin()
    assert pin is not None
    assert pin.fingerprint in told
    assert (pin.source, pin.seen.registry_version) == (made.path, 1)
    assert pin.fingerprint in run("show").stdout
    run("pin", "trust/1.root.json", "--fingerprint", pin.fingerprint.upper())


def test_another_root_is_not_pinned_by_mistake(run: Run, made: Keepers, tmp_path: Path) -> None:
    run("pin", "trust", "--yes")
    other = keepers(tmp_path / "other")
    assert "--replace" in run("pin", str(other.path), "--yes", code=2).output
    run("pin", str(other.path), "--yes", "--replace")
    pin = read_pin()
    assert pin is not None
    assert pin.source == other.path


def test_what_does_not_hold_is_not_pinned(run: Run, made: Keepers, tmp_path: Path) -> None:
    path = made.path / "roles.json"
    good = path.read_text()
    path.write_text(good.replace("tests only", "tests once"))
    assert "registry-unsigned" in run("pin", "trust", "--yes", code=2).output
    path.unlink()
    assert "registry-missing" in run("pin", "trust", "--yes", code=2).output
    assert "does not exist" in run("pin", "trust/roles.json", "--yes", code=2).output
    assert "cannot be read" in run("pin", "absent/1.root.json", "--yes", code=2).output
    assert read_pin() is None


def test_an_older_registry_is_not_pinned_again(run: Run, made: Keepers) -> None:
    old = (made.path / "roles.json").read_bytes()
    run("set", "trust", "--label", "new", "--sign-with", made.key("root-1"), "--sign-with", made.key("root-2"))
    run("pin", "trust", "--yes")
    (made.path / "roles.json").write_bytes(old)
    assert "seen before" in run("pin", "trust", "--yes", code=2).output


def test_what_ends_soon_is_told(run: Run, made: Keepers) -> None:
    run("set", "trust", "--expires", "20d", "--sign-with", made.key("root-1"), "--sign-with", made.key("root-2"))
    assert "(IN 19 DAYS)" in run("show", "trust").stdout or "(IN 20 DAYS)" in run("show", "trust").stdout


def test_key_files_that_others_read_are_refused(run: Run, made: Keepers) -> None:
    run("set", "trust", "--label", "other")
    Path(made.key("root-1")).chmod(0o644)
    assert "chmod 600" in run("sign", "trust", "--key", made.key("root-1"), "--yes", code=2).output


def test_a_public_key_is_enough_for_an_owner(run: Run, made: Keepers, tmp_path: Path) -> None:
    begin_elsewhere = key_file(tmp_path / "elsewhere.pem")
    run("add-owner", "trust", "export", "--name", "Far crew", *PROMISE, "--key", "elsewhere.pem")
    assert begin_elsewhere.public_key.keyid[:8] in run("show", "trust").stdout


def test_names_from_a_registry_cannot_steer_a_terminal(run: Run, made: Keepers) -> None:
    run("set", "trust", "--label", "\x1b[2Jevil")
    assert "\x1b" not in run("show", "trust").output


def test_a_publication_that_was_cut_short_is_finished(run: Run, made: Keepers, monkeypatch: pytest.MonkeyPatch) -> None:
    remove = [part for signer in made.roots for part in ("--remove-key", signer.public_key.keyid[:8])]
    rotation = ["rotate", "trust", "--new-key", "r4.pem", *remove, "--key", made.key("root-1")]
    assert "say --threshold 1" in run(*rotation, code=2).output
    assert not Path("r4.pem").exists()
    run(*rotation, "--threshold", "1")
    whole = Path.replace

    def cut_short(self: Path, target: Path) -> Path:
        if target == Path("trust/roles.json"):
            raise OSError(28, "No space left on device")
        return whole(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", cut_short)
        assert "No space left" in run("sign", "trust", "--key", made.key("root-2"), "--yes", code=2).output
    document = shown(run)
    assert (document["root"]["version"], document["registry"]["signed"]) == (2, False)
    assert "Published: roles.json" in run("sign", "trust", "--key", "r4.pem", "--yes").output
    assert shown(run)["registry"]["signed"]


@pytest.mark.parametrize(
    "verb", ["init", "add-owner", "edit-owner", "rotate", "revoke", "set", "sign", "drop", "show", "pin"]
)
def test_every_verb_has_help(run: Run, verb: str) -> None:
    assert "Usage:" in run(verb, "--help").output


def test_an_owner_is_edited(run: Run, made: Keepers) -> None:
    edit = ["edit-owner", "trust", "model", "model CREW aa", "--name", "New crew", "--contact", "tel:+49"]
    run(*edit, "--delivery-date", "2027-01-31", "--delivery-version", "2.0", "--sign-with", made.key("root-1"))
    edited = "~ model: New crew (was Model crew AA), contact: tel:+49 (was mailto:crew@example.org), "
    promised = "promise: delivers 2.0 on 2027-01-31 (was delivers 1.0 on 2026-12-01)"
    assert shown(run)["pending"][0]["changes"] == [edited + promised]
    assert "~ model: New crew (was Model crew AA), contact:" in run("show", "trust").stdout
    run("sign", "trust", "--key", made.key("root-2"), "--yes")
    owner = shown(run)["registry"]["roles"][0]["owners"][0]
    assert (owner["name"], owner["contact"], owner["delivery_version"]) == ("New crew", "tel:+49", "2.0")
    assert [key["keyid"] for key in owner["keys"]] == [made.owners["model"][0].public_key.keyid]


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["model", "Nobody here", "--name", "X crew"], "it has Model crew AA"),
        (["pilot", "Model crew AA", "--name", "X crew"], "it has none"),
        (["model", "Model crew AA"], "Nothing changes for Model crew AA"),
        (["model", "Model crew AA", "--contact", "mailto:crew@example.org "], "Nothing changes"),
        (["model", "Model crew AA", "--name", "vendor support"], "says nobody"),
        (["model", "Model crew AA", "--contact", "somewhere"], "reaches nobody"),
        (["model", "Model crew AA", "--delivery-date", "soon"], "is no date"),
        (["release", "Release crew AA", "--name", "release  CREW bb"], "one name is one owner"),
    ],
)
def test_edits_of_owners_that_are_refused(run: Run, made: Keepers, args: list[str], sentence: str) -> None:
    assert sentence in run("edit-owner", "trust", *args, code=2).output
    assert not (made.path / "pending").exists()


def test_a_machine_promises_nothing(run: Run, made: Keepers) -> None:
    machine = ["--functionary", "--contact", "https://ci.example"]
    run("add-owner", "trust", "model", *machine, "--name", "ci-17", "--new-key", "f.pem")
    told = run("edit-owner", "trust", "model", "ci-17", "--functionary", "--delivery-date", "2027-01-31", code=2)
    assert "promises no delivery" in told.output
    run("edit-owner", "trust", "model", "ci-17", "--functionary", "--contact", "https://ci2.example")
    assert "https://ci2.example" in shown(run)["pending"][0]["changes"][0]


def test_what_waits_is_dropped(run: Run, made: Keepers, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Nothing waits" in run("drop", "trust").output
    before = listed()
    run("set", "trust", "--label", "other", "--sign-with", made.key("root-1"))
    assert "say --yes" in run("drop", "trust", code=2).output
    assert "what waits is the registry" in run("drop", "trust", "root", "--yes", code=2).output
    with monkeypatch.context() as patch:
        patch.setattr(_keys, "terminal", lambda: True)
        assert "Nothing was written" in run("drop", "trust", code=2, typed="n\n").output
    assert len(shown(run)["pending"]) == 1
    told = run("drop", "trust", "registry", "--yes").stdout
    assert "label: other" in told
    assert f"was signed by {made.roots[0].public_key.keyid[:8]}: others can still complete a copy" in told
    assert (listed(), shown(run)["pending"]) == (before, [])


def test_a_root_takes_its_registry_with_it(run: Run, made: Keepers) -> None:
    gone = [part for signer in made.roots[:2] for part in ("--remove-key", signer.public_key.keyid[:8])]
    rotation = ["rotate", "trust", "--new-key", "r4.pem", "--new-key", "r5.pem", *gone]
    run(*rotation)
    assert "wait together" in run("drop", "trust", "registry", "--yes", code=2).output
    assert "2.root.json, roles.json" in run("drop", "trust", "root", "--yes").stdout
    assert shown(run)["pending"] == []
    run("rotate", "trust", "--expires", "90d")
    run("set", "trust", "--label", "other")
    run("drop", "trust", "root", "--yes")
    assert [item["file"] for item in shown(run)["pending"]] == ["roles.json"]


def test_a_beginning_is_dropped_as_a_whole(run: Run) -> None:
    for name in ("a", "b"):
        run("init", f"other-{name}", "--new-key", f"{name}.pem", "--port", "p", "--label", "x")
    run("init", "trust", "--key", "a.pem", "--public-key", "b.pem.pub", "--port", "p", "--label", "x")
    for part in ("root", "registry"):
        assert "wait together" in run("drop", "trust", part, "--yes", code=2).output
    run("drop", "trust", "--yes")
    assert listed() == []
    begin(run)


def test_what_is_shown_fits_a_terminal(run: Run, made: Keepers) -> None:
    run("add-owner", "trust", "model", "--name", "A crew " * 12, *PROMISE, "--new-key", "second.pem")
    assert max(map(len, run("show", "trust").stdout.splitlines()[1:])) <= 80

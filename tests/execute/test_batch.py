"""Several steps: what is up to date, what is stale and why, whose key signs."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Self

import pytest
from securesystemslib.signer import Signer

from calaudit.errors import UsageError
from calaudit.execute.batch import Batch
from calaudit.execute.means import Means, Wish
from calaudit.execute.nouns import StepFailed
from calaudit.pins import load_directory
from examples.toolchain.owners import Owners
from tests.execute.small import NAME, make_port, raw, snapshot, write

STEPS = {
    "join": {
        **raw("join.sh", materials=["out/made.txt", "more.txt"], products=["joined/**"]),
        "gate": "G2",
        "role": "export",
    },
    "make": raw(),
}
FILES = {
    "in.txt": "input\n",
    "more.txt": "more\n",
    "tools/make.sh": "cat in.txt > out/made.txt\n",
    "tools/join.sh": "cat out/made.txt more.txt > joined/both.txt\n",
}


class Said:
    """Remembers what was told."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def begin(self, step: str, what: str) -> None:
        pass

    def line(self, text: str) -> None:
        self.lines.append(text)

    def end(self) -> None:
        pass


class House:
    """A port, its owners, and their trust directory."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.port = make_port(root / "port", STEPS, FILES)
        self.owners = Owners.make()
        self.owners.write_trust(root / "trust", ports=[NAME])

    @property
    def keys(self) -> list[Signer]:
        return [self.owners.roles[f"{role}-functionary"][0] for role in ("model", "export")]

    def batch(self, **more: object) -> Batch:
        made: dict[str, object] = {"port": self.port, "trust": load_directory(self.root / "trust"), **more}
        return Batch(Wish(**made))  # type: ignore[arg-type]

    def run(self, **more: object) -> list[str]:
        return [record.step.name for record in self.batch(**more).run(self.keys, Said())]

    def listing(self, **more: object) -> dict[str, str]:
        lines = [line.split(maxsplit=2) for line in self.batch(**more).listing()]
        return {name: rest for _, name, rest in lines}


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path / "house")


def test_everything_runs_once(house: House) -> None:
    assert house.listing()["make"] == "never run   Nobody attests a run of it."
    assert house.run() == ["make", "join"]
    assert (house.port / "joined" / "both.txt").read_text() == "input\nmore\n"
    names = sorted(path.name.split(".", 1)[0] for path in (house.port / "attestations").iterdir())
    assert names == ["join", "join", "make", "make"]
    before = snapshot(house.port)
    assert house.run() == []
    assert house.listing() == {"make": "up to date", "join": "up to date"}
    assert snapshot(house.port) == before


def test_force_runs_again_and_counts(house: House) -> None:
    house.run()
    assert house.run(force=True) == ["make", "join"]
    names = [path.name for path in (house.port / "attestations").iterdir() if path.name.startswith("make.")]
    # The same files were read and written, so the first run still is a witness.
    endings = sorted(name.split(".", 2)[2] for name in names if not name.endswith(".link"))
    assert endings == ["1.dsse.json", "2.dsse.json"]


@pytest.mark.parametrize(
    ("files", "make", "join"),
    [
        ({"in.txt": "other\n"}, "stale       in.txt changed since", "waits       It reads what make will write anew."),
        ({"tools/make.sh": "cat in.txt in.txt > out/made.txt"}, "stale       tools/make.sh changed", "waits "),
        ({"out/made.txt": "by hand\n"}, "stale       out/made.txt changed since the run", "stale       out/made.txt"),
        ({"more.txt": "other\n"}, "up to date", "stale       more.txt changed since"),
        ({"joined/x": "added\n"}, "up to date", "stale       joined/x is not what the run wrote."),
    ],
)
def test_a_change_makes_stale(house: House, files: dict[str, str], make: str, join: str) -> None:
    house.run()
    write(house.port, files)
    found = house.listing()
    assert found["make"].startswith(make)
    assert found["join"].startswith(join)
    house.run()
    assert house.listing() == {"make": "up to date", "join": "up to date"}


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (Path.unlink, "Its link is missing."),
        (lambda path: path.write_text("{"), "attestations/make."),
        (lambda path: path.write_bytes(next(path.parent.glob("join.*.link")).read_bytes()), "attestations/make."),
    ],
)
def test_a_link_that_does_not_hold_makes_stale(house: House, spoil: Callable[[Path], object], why: str) -> None:
    house.run()
    spoil(next((house.port / "attestations").glob("make.*.link")))
    assert house.listing()["make"].startswith(f"stale       {why}")
    assert house.run() == ["make"]
    assert house.listing() == {"make": "up to date", "join": "up to date"}


def test_an_executor_for_one_step_is_not_for_those_before_it(house: House) -> None:
    house.run()
    said = Said()
    house.batch(step="join", kind="bwrap").run(house.keys, said)
    assert [line.partition(" in ")[0] for line in said.lines] == ["join: wrote 1 file"]


def test_what_comes_out_the_same_does_not_run_on(house: House) -> None:
    house.run()
    write(house.port, {"tools/make.sh": FILES["tools/make.sh"] + "\n"})
    assert house.run() == ["make"]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('"tools/make.sh"], "tools"', '"tools/make.sh", "x"], "tools"', "Its command or gate changed."),
        ('"products": ["out/made.txt"]', '"products": ["out/*"]', ""),
        ('"products": ["out/made.txt"]', '"env": {"A": "1"}, "products": ["out/made.txt"]', "The environment"),
        ('"kind": "local", "network": "none"', '"kind": "bwrap", "network": "none"', "It ran with the executor local"),
        ('"gate": "G1"', '"gate": "G2"', "Its command or gate changed."),
        ('"role": "model"', '"role": "export"', "is signed for model"),
    ],
)
def test_a_change_of_the_manifest_makes_stale(house: House, old: str, new: str, why: str) -> None:
    house.run()
    manifest = house.port / "port.yaml"
    text = manifest.read_text()
    assert old in text
    head, tail = text.rsplit(old, 1) if '"kind"' in old else text.split(old, 1)
    manifest.write_text(head + new + tail)
    assert why in house.listing()["make"]
    assert house.listing()["make"].startswith("stale" if why else "up to date")


def test_the_toolchain_counts(house: House, tmp_path: Path) -> None:
    write(tmp_path, {"chain/bin/x": "1"})
    manifest = house.port / "port.yaml"
    manifest.write_text(
        manifest.read_text().replace('"tools": ["tools/make.sh"]', '"toolchain": "c", "tools": ["tools/make.sh"]')
    )
    named = {"toolchains": {"c": (tmp_path / "chain",)}}
    house.run(**named)
    assert house.listing(**named)["make"] == "up to date"
    write(tmp_path, {"chain/bin/x": "2"})
    assert "The toolchain changed." in house.listing(**named)["make"]
    unnamed = house.listing()
    assert unnamed["make"].startswith("unknown     Nobody says where the toolchain c is.")
    assert unnamed["join"].startswith("waits")


def test_without_a_trust_root_nothing_is_known(house: House) -> None:
    house.run()
    assert house.listing(trust=None)["make"].startswith("unknown")
    batch = house.batch(trust=None)
    assert [record.step.name for record in batch.run(house.keys[:1], Said())] == ["make", "join"]
    with pytest.raises(UsageError, match="nothing says which key is whose"):
        batch.run(house.keys, Said())


def test_a_stranger_s_signature_proves_nothing(house: House) -> None:
    house.run()
    house.owners = Owners.make()
    house.owners.write_trust(house.root / "trust", ports=[NAME])
    assert house.listing()["make"].startswith("stale")


def test_keys_of_the_wrong_role_are_refused_before_anything_runs(house: House) -> None:
    before = snapshot(house.port)
    with pytest.raises(UsageError, match="speaks for export-functionary, which attests the step join"):
        house.batch().run(house.keys[:1], Said())
    with pytest.raises(UsageError, match="speaks for model-functionary"):
        house.batch().run(list(house.owners.roles["model"]), Said())
    assert snapshot(house.port) == before


def test_whoever_brings_a_revoked_key_is_told(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = house.batch()
    registry = batch._means.registry
    assert registry is not None
    keyid = house.keys[0].public_key.keyid
    left = {name: role for name, role in registry.roles.items() if keyid not in role.keys}
    monkeypatch.setattr(Means, "registry", replace(registry, roles=left, revoked={keyid: "lost"}))
    with pytest.raises(UsageError, match=rf"speaks for model-functionary, .*; revoked: {keyid[:8]}\). Say --key"):
        batch.run(house.keys, Said())


def test_one_step_from_a_gate_and_unknown_ones(house: House) -> None:
    said = Said()
    with pytest.raises(UsageError, match=r"reads out/made\.txt, and the port has no such file"):
        house.batch(step="join").run(house.keys, said)
    assert house.run(step="make") == ["make"]
    assert house.run(first="G2") == ["join"]
    write(house.port, {"in.txt": "other\n"})
    house.batch(first="G2", force=True).run(house.keys, said)
    assert any("join: it reads what make wrote, which is stale." in line for line in said.lines)
    for wish, told in (
        ({"step": "x"}, "no step 'x'"),
        ({"first": "G7"}, "no step of G7"),
        ({"first": "2"}, "such as G2"),
    ):
        with pytest.raises(UsageError, match=told):
            house.batch(**wish)


def test_a_failure_keeps_what_ran_before(house: House) -> None:
    write(house.port, {"tools/join.sh": "exit 1\n"})
    with pytest.raises(StepFailed, match="The step join ended with exit code 1"):
        house.run()
    assert house.listing()["make"] == "up to date"
    assert not (house.port / "joined").exists()
    assert not [path for path in (house.port / "attestations").iterdir() if path.name.startswith("join.")]


def test_without_keys_nothing_is_signed_and_what_was_goes(house: House) -> None:
    house.run()
    write(house.port, {"in.txt": "other\n"})
    house.batch().run([], Said())
    assert (house.port / "out" / "made.txt").read_text() == "other\n"
    left = [path.name for path in house.port.glob("attestations/*")]
    assert not [name for name in left if name.startswith("make.")]


def test_a_publication_that_was_cut_off_is_taken_up(house: House) -> None:
    house.run()
    write(house.port, {".calaudit/0": "half"})
    assert next(iter(house.batch().listing())).startswith("A publication was cut off")
    assert (house.port / ".calaudit").exists(), "a listing writes nothing"
    said = Said()
    house.batch().run(house.keys, said)
    assert "A publication that was cut off is rolled back." in said.lines
    assert not (house.port / ".calaudit").exists()

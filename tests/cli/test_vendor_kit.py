"""``calaudit vendor-kit``: one archive, and what is in it said in a few lines."""

import os
import shlex
import subprocess

from calaudit.cue import Cue
from tests.cli.trading import Sides, made, sides
from tests.cue.conftest import cue

__all__ = ["cue", "made", "sides"]


def test_it_says_what_it_wrote(sides: Sides) -> None:
    told = sides("vendor-kit", sides.port, "-o", sides.root / "kit.tar").output
    assert f"Wrote {sides.root / 'kit.tar'}: 14 files, " in told
    assert "for compiler." in told
    assert "matrix (G0) reads 1 file(s) of the port" in told
    assert "Missing of the kick-off: compiler-image, compile-replay, quant-tooling" in told
    assert "There is no layout yet" in told


def test_twice_is_the_same(sides: Sides) -> None:
    before = sides.picture()
    for name in ("a", "b"):
        sides("vendor-kit", sides.port, "-o", sides.root / name, "--role", "model", "--role", "compiler")
    assert (sides.root / "a").read_bytes() == (sides.root / "b").read_bytes()
    assert sides.picture() == before


def test_materials_that_are_not_there_yet(sides: Sides) -> None:
    (sides.port / "00-source/source-manifest.json").unlink()
    told = sides("vendor-kit", sides.port, "-o", sides.root / "kit.tar").output
    assert "reads 0 file(s) of the port, still without 00-source/source-manifest.json" in told


def test_refused(sides: Sides) -> None:
    assert "lies in the port" in sides("vendor-kit", sides.port, "-o", sides.port / "kit.tar", code=2).output
    assert "cannot be written" in sides("vendor-kit", sides.port, "-o", sides.root / "no/kit.tar", code=2).output
    assert "There is no role 'x'" in sides("vendor-kit", sides.port, "-o", "k", "--role", "x", code=2).output
    assert "Is this a port?" in sides("vendor-kit", sides.made.path, "-o", sides.root / "k", code=2).output
    assert not (sides.root / "k").exists()


def test_cue_vets_with_what_is_in_it(sides: Sides, cue: Cue) -> None:
    """The commands of the README, with the real cue."""
    sides.unpacked()
    readme = (sides.vendor / "README.md").read_text()
    lines = [line.removeprefix("$ ") for line in readme.splitlines() if line.startswith("$ cue vet")]
    assert len(lines) == 2
    environment = {**os.environ, "PATH": f"{cue.path.parent}:{os.environ['PATH']}"}
    for line in lines:
        done = subprocess.run(["sh", "-c", line], cwd=sides.vendor, env=environment, capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, b""), line
    path = sides.vendor / shlex.split(lines[1])[-1]
    path.write_bytes(path.read_bytes().replace(b"vendor:", b"seller:"))
    assert subprocess.run(["sh", "-c", lines[1]], cwd=sides.vendor, env=environment, check=False).returncode == 1

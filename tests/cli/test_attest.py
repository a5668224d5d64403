"""``calaudit attest``: whoever signs is shown what is seen and what is only said."""

from tests.cli.trading import COMMAND, TIMES, Sides, made, sides
from tests.execute.vendor.trade import MATRIX

__all__ = ["made", "sides"]


def names(sides: Sides) -> list[str]:
    folder = sides.vendor / "attestations"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_it_signs_what_lies_there(sides: Sides) -> None:
    sides.unpacked()
    told = sides.attest("--invocation", "job-17", "--builder", "urn:example:farm:v1", *COMMAND).output
    assert "You say, and nobody here saw:" in told
    assert "it ran      calcc --print-matrix 'it'\"'\"'s'" in told
    assert "invocation  job-17" in told
    assert "builder     urn:example:farm:v1; no isolation is claimed" in told
    assert f"  {MATRIX}" in told
    assert "Without a trust root nothing says whether the key" in told
    link, statement = names(sides)[1], names(sides)[0]
    assert link.startswith("matrix.")
    assert link.endswith(".link")
    assert statement.endswith(".1.dsse.json")
    assert f"Signed: attestations/{link}" in told


def test_the_command_after_dashes(sides: Sides) -> None:
    sides.unpacked()
    sides.attest("--", "calcc", "--print-matrix", "it's")
    assert len(names(sides)) == 2


def test_a_dry_run_writes_nothing_and_needs_no_key(sides: Sides) -> None:
    sides.unpacked()
    told = sides("attest", "matrix", sides.vendor, *TIMES, *COMMAND, "--dry-run").output
    assert "Nothing was signed (--dry-run)." in told
    assert names(sides) == []


def test_what_is_of_other_files_goes(sides: Sides) -> None:
    sides.unpacked()
    sides.attest()
    sides.attest()
    assert len(names(sides)) == 3
    (sides.vendor / MATRIX).write_bytes(sides.matrix + b"#\n")
    told = sides.attest().output
    assert "Attested before, of other files, and removed when this is signed:" in told
    assert ".2.dsse.json, which was of other files." in told
    assert len(names(sides)) == 2


def test_a_trust_root_says_whose_key_it_is(sides: Sides) -> None:
    sides.unpacked()
    trust = ("--trust", str(sides.made.path))
    told = sides.attest(*trust, *COMMAND, key="model-functionary-1", code=2).output
    assert "speaks for model-functionary; here a key of compiler-functionary signs" in told
    told = sides.attest(*trust, *COMMAND, key="compiler-1", code=2).output
    assert "speaks for compiler; here a key of compiler-functionary signs" in told
    assert names(sides) == []
    assert "Without a trust root" not in sides.attest(*trust, *COMMAND).output


def test_refused(sides: Sides) -> None:
    sides.unpacked()
    for args, told in (
        ((*TIMES,), "Say the command that ran"),
        ((*TIMES, *COMMAND, "--", "x"), "Say the command that ran"),
        ((*TIMES, "--command", "it's"), "cannot be read as a shell would"),
        ((*TIMES, "--command", "calcc"), "link-command-mismatch"),
        (COMMAND, "--started is missing"),
        (("--started", "yesterday", *COMMAND), "is no moment in UTC"),
        ((*TIMES, *COMMAND), "--key is missing"),
        ((*TIMES, *COMMAND, "--key", sides.made.key("compiler-functionary-1")), "needs a confirmation"),
        ((*TIMES, *COMMAND, "--products", sides.root / "none"), "cannot be opened|is not a directory"),
    ):
        output = sides("attest", "matrix", sides.vendor, *args, code=2).output
        assert any(part in output for part in told.split("|")), output
    assert names(sides) == []

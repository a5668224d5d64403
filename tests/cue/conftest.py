"""The real cue: the tests fail without it, because a test that is left out proves nothing."""

import os
from pathlib import Path

import pytest

from calaudit.cue import Cue, find

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def cue() -> Cue:
    """The program that CALAUDIT_CUE names, or the one that scripts/build_cue.py built."""
    named = os.environ.get("CALAUDIT_CUE")
    program = Path(named) if named else ROOT / ".cache" / "cue" / "cue"
    if not program.is_file():
        pytest.fail(
            f"There is no cue at {program}. Run `python scripts/build_cue.py` (`make test` does): it says what it "
            "lacks, if it cannot build one. Or name a cue 0.12 or newer with CALAUDIT_CUE."
        )
    found = find(program)
    assert found is not None
    return found

"""The built wheel carries schemas and policies: installed into an empty environment it audits from anywhere."""

import json
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from calaudit.contract import Contract
from tests.casebook import PORT

ROOT = Path(__file__).parent.parent


def run(*argv: str | Path, cwd: Path, code: int = 0) -> str:
    done = subprocess.run([str(a) for a in argv], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def test_a_wheel_in_an_empty_environment_audits(tmp_path: Path, contract: Contract) -> None:
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path / "dist", ROOT, cwd=tmp_path)
    (wheel,) = (tmp_path / "dist").glob("calaudit-*.whl")
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv" / "bin" / "python"
    # The pip from outside installs into it, and compiles nothing: what the audit imports is compiled when it does.
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--disable-pip-version-check")
    pip = (*pip, "--no-compile")
    run(*pip, "--require-hashes", "--requirement", ROOT / "requirements" / "core.txt", cwd=tmp_path)
    run(*pip, "--no-deps", wheel, cwd=tmp_path)

    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.copytree(PORT, elsewhere / "port")
    calaudit = tmp_path / "venv" / "bin" / "calaudit"
    report = json.loads(run(calaudit, "verify", "port", "-o", "json", cwd=elsewhere, code=3))
    assert report["contract"]["digest"] == contract.digest
    results = [r for gate in report["gates"] for r in gate["results"]]
    assert len(results) > 100
    failed = [r for r in results if r["kind"] == "fail" and r["level"] == "error"]
    assert failed == []
    assert "G2.greedy-mismatch" in run(calaudit, "explain", "greedy-mismatch", cwd=elsewhere)

"""Build the example port: write what is given, then run the steps of its own ``port.yaml``, one process each.

The same frozen source gives the same bytes on one machine; on another CPU the outputs agree within tolerance.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

import yaml
from tokenizers import Tokenizer

from calaudit.errors import UsageError
from calaudit.files import write_atomic
from calaudit.harness.documents import sha256_file, write_jsonl
from examples.toolchain.checkpoint import Config
from examples.toolchain.invocation import environment_lock
from examples.toolchain.prompts import prompt_records
from examples.toolchain.reference import DETERMINISM, expected_tokens
from examples.toolchain.source import write_manifest
from examples.toolchain.vendor import write_kickoff

__all__ = ["FROZEN_SOURCE", "GATES", "SOURCE_DATE_EPOCH", "build"]

HERE = Path(__file__).resolve().parent
FROZEN_SOURCE = HERE.parent / "model-port" / "tiny-dense" / "00-source"
GATES = ("G0", "G1", "G2")
SOURCE_DATE_EPOCH = "1795910400"
"""The moment that a build stands for: 2026-11-29T00:00:00Z."""


def build(port: Path, gates: Collection[str] = GATES) -> None:
    """Build the given gates of the port in ``port``; earlier ones must be there already.

    Raises:
        UsageError: a gate is not one of :data:`GATES`.
        subprocess.CalledProcessError: a step failed; it has said why.
    """
    unknown = sorted(set(gates) - set(GATES))
    if unknown:
        raise UsageError(f"There is no gate {', '.join(unknown)} in this toolchain; it builds {', '.join(GATES)}.")
    if "G0" in gates:
        _intake(port)
    if "G1" in gates:
        _corpus(port)
        _run_steps(port, "G1")
    if "G2" in gates:
        _run_steps(port, "G2")


def _intake(port: Path) -> None:
    """G0 and what belongs to the port as a whole: template, frozen source, its manifest, the vendor's deliverables."""
    shutil.copytree(HERE / "template", port, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    source = port / "00-source"
    if source.resolve() != FROZEN_SOURCE:
        for folder in ("hf-config", "weights"):
            shutil.copytree(FROZEN_SOURCE / folder, source / folder, dirs_exist_ok=True)
    write_manifest(source)
    write_kickoff(port)


def _corpus(port: Path) -> None:
    """The inputs of the reference: environment, checksums, quality set, and prompts with their expected tokens."""
    source, reference = port / "00-source", port / "01-reference"
    reference.mkdir(exist_ok=True)
    write_atomic(reference / "environment.lock", environment_lock().encode())
    configs = sorted((source / "hf-config").iterdir())
    listing = "".join(f"{sha256_file(path)}  {path.relative_to(port).as_posix()}\n" for path in configs)
    write_atomic(reference / "source-sha256.txt", listing.encode())
    write_atomic(reference / "quality-set.jsonl", (HERE / "data" / "held-out.jsonl").read_bytes())
    tokenizer = Tokenizer.from_file(str(source / "hf-config" / "tokenizer.json"))
    prompts = list(prompt_records(tokenizer, Config.load(source).context))
    for prompt, tokens in zip(prompts, expected_tokens(source, prompts), strict=True):
        prompt["expected_token_ids"] = list(tokens)
    write_jsonl(reference / "prompts.jsonl", prompts)


def _run_steps(port: Path, gate: str) -> None:
    steps: dict[str, dict[str, Any]] = yaml.safe_load((port / "port.yaml").read_bytes())["steps"]
    for step in steps.values():
        if step["gate"] == gate:
            python, *arguments = step["run"]
            command = [sys.executable if python == "python" else python, *arguments]
            subprocess.run(command, cwd=port, env=_environment(step.get("env", {})), check=True)


def _environment(extra: dict[str, str]) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "PYTHONPATH": str(HERE.parent.parent),
        "PYTHONDONTWRITEBYTECODE": "1",
        "SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH", SOURCE_DATE_EPOCH),
        **DETERMINISM,
        **extra,
    }

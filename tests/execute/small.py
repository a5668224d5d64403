"""A small port whose steps are shell scripts, and what is needed to run them."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calaudit.execute.executor import Executor, executor_for
from calaudit.execute.nouns import Job, Outcome, Step
from calaudit.execute.running import Setting

NAME = "small"


def make_port(root: Path, steps: Mapping[str, Any], files: Mapping[str, str] | None = None) -> Path:
    """A port with steps (members as in ``port.yaml``) and files."""
    root.mkdir(parents=True)
    document = {
        "schema": "calaudit-port/v1",
        "id": NAME,
        "profile": "example",
        "stage": "development",
        "claim": "G2",
        "steps": steps,
    }
    write(root, {"port.yaml": json.dumps(document), **(files or {})})
    return root


def write(root: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def raw(script: str = "make.sh", **more: Any) -> dict[str, Any]:
    """A step as ``port.yaml`` has it."""
    return {
        "gate": "G1",
        "role": "model",
        "run": ["sh", f"tools/{script}"],
        "tools": [f"tools/{script}"],
        "materials": ["in.txt"],
        "products": ["out/made.txt"],
        "executor": {"kind": "local", "network": "none"},
        **more,
    }


def step(**more: Any) -> Step:
    """The same, read."""
    made: dict[str, Any] = {
        "name": "make",
        "gate": "G1",
        "role": "model",
        "run": ("sh", "tools/make.sh"),
        "tools": ("tools/make.sh",),
        "materials": ("in.txt",),
        "products": ("out/made.txt",),
        "kind": "local",
        **more,
    }
    return Step(**made)


@dataclass
class Bench:
    """One port, one script, and a setting to run it in."""

    root: Path
    kind: str = "local"

    @property
    def port(self) -> Path:
        return self.root / "port"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def runs(self) -> Path:
        return self.root / "runs"

    def script(self, text: str) -> None:
        write(self.port, {"tools/make.sh": text, "in.txt": "input\n"})

    def setting(self, **more: Any) -> Setting:
        made: dict[str, Any] = {
            "port": self.port,
            "name": NAME,
            "executor": executor_for(self.kind),
            "toolchain": None,
            "runs": self.runs,
            "logs": self.logs,
            "environment": {},
            **more,
        }
        return Setting(**made)

    def log(self, stream: str = "stdout") -> str:
        (path,) = self.logs.glob(f"{NAME}/*.{stream}.log")
        return path.read_text()


def job(tmp: Path, *argv: str, **more: Any) -> Job:
    """A job in folders of its own."""
    for name in ("work", "private/home", "private/tmp"):
        (tmp / name).mkdir(parents=True, exist_ok=True)
    made: dict[str, Any] = {
        "argv": argv,
        "invocation": "b7f1ad0e-0000-4000-8000-000000000000",
        "workspace": tmp / "work",
        "private": tmp / "private",
        "stdout": tmp / "stdout.log",
        "stderr": tmp / "stderr.log",
        "log_cap": 1 << 20,
        "env": {},
        **more,
    }
    return Job(**made)


def shell(tmp: Path, script: str, kind: str = "local", **more: Any) -> Outcome:
    """How a shell script ends under an executor."""
    executor: Executor = executor_for(kind)
    return executor.run(job(tmp, "sh", "-c", script, **more))


def snapshot(root: Path) -> dict[str, str]:
    """Every file of a folder by digest, links and folders that hold nothing too."""
    found = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            found[name] = f"link {path.readlink()}"
        elif path.is_dir():
            found[name] = "folder"
        else:
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found

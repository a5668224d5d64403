"""Who ran, when, and with what.

A rebuild must give the same bytes, so invocation ids and times here are derived, not measured: the id is a UUIDv5 of
the step and its run number, and the clock is a logical one that starts at ``SOURCE_DATE_EPOCH`` and lets every
invocation take one second; under ``calaudit run`` the id is that of the run. A real port records real ones; that the
two runs of the reference really were two processes is what their attestations are for. The environment, in contrast, is
what is installed.
"""

import importlib.metadata
import os
import platform
import re
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from calaudit.errors import UsageError
from calaudit.harness.invocation import VARIABLE
from calaudit.model import Json

__all__ = ["environment", "environment_lock", "invocation"]

NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:calaudit:example:tiny-dense")

DIRECT = ("ml-dtypes", "numpy", "onnx", "onnxruntime", "safetensors", "tokenizers")
"""What the toolchain imports; with what they need, this is the environment of the port."""


def invocation(step: str, *, run: int, order: int) -> dict[str, Json]:
    """The invocation record of the ``run``-th run of a step, which is the ``order``-th step of the build.

    Raises:
        UsageError: ``SOURCE_DATE_EPOCH`` is not set to a number of seconds.
    """
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not re.fullmatch(r"\d{1,10}", epoch):
        raise UsageError(f"SOURCE_DATE_EPOCH is {epoch!r}; set it to the seconds since 1970 that stand for this build.")
    started = datetime.fromtimestamp(int(epoch), UTC) + timedelta(seconds=order)
    return {
        "id": os.environ.get(VARIABLE) or str(uuid.uuid5(NAMESPACE, f"{step}/{run}")),
        "started": _time(started),
        "finished": _time(started + timedelta(seconds=1)),
    }


def environment(packages: Iterable[str]) -> dict[str, Json]:
    """Operating system, Python, and the versions of the packages that a step imports."""
    return {
        "os": platform.system(),
        "python": platform.python_version(),
        "packages": {name: importlib.metadata.version(name) for name in sorted(packages)},
        "cuda": None,
        "container": None,
    }


def environment_lock() -> str:
    """The installed versions of the toolchain's packages and of everything they need, as ``pip freeze`` writes them."""
    found: dict[str, str] = {}
    todo = list(DIRECT)
    while todo:
        distribution = importlib.metadata.distribution(todo.pop())
        name = re.sub(r"[-_.]+", "-", distribution.metadata["Name"]).lower()
        if name not in found:
            found[name] = distribution.version
            todo += _needs(distribution)
    return "".join(f"{name}=={version}\n" for name, version in sorted(found.items()))


def _needs(distribution: importlib.metadata.Distribution) -> list[str]:
    from packaging.requirements import Requirement  # noqa: PLC0415 - only the lock needs it

    requirements = [Requirement(text) for text in distribution.requires or ()]
    return [r.name for r in requirements if r.marker is None or r.marker.evaluate({"extra": ""})]


def _time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")

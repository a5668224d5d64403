"""Whether a requirement's marker holds in the environment that the reference report states.

A report tells the operating system and the Python version, seldom the machine. A marker that asks for what is not told
is undecided if its answer depends on that: every value that the marker itself names is tried, and one that it does not.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from calaudit.model import Json

if TYPE_CHECKING:
    from packaging.markers import Marker

_PYTHON = re.compile(r"(\d{1,3}\.\d{1,3})(?:\.\d{1,3}\S*)?", re.ASCII)
_MACHINE = re.compile(r"(?<![0-9A-Za-z_])(x86_64|amd64|aarch64|arm64|ppc64le|riscv64|s390x)(?![0-9A-Za-z_])", re.ASCII)
_LITERAL = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_SYSTEMS = (
    (re.compile("windows|win32", re.IGNORECASE), "nt", "win32", "Windows"),
    (re.compile("darwin|mac ?os", re.IGNORECASE), "posix", "darwin", "Darwin"),
)
_UNTOLD = ("python_version", "python_full_version", "platform_machine", "platform_release", "platform_version",
           "implementation_version")  # fmt: skip
_MOST = 4096
_OTHER = "0"
"""A value that no marker names."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is known of an environment, by the names that markers have for it (PEP 508)."""

    known: Mapping[str, str]

    @classmethod
    def of(cls, system: Json = None, python: Json = None) -> "Surroundings":
        """From a report's words; Linux and CPython unless they say otherwise."""
        system, python = system if isinstance(system, str) else "", python if isinstance(python, str) else ""
        named = next((names for pattern, *names in _SYSTEMS if pattern.search(system)), ["posix", "linux", "Linux"])
        pypy = "pypy" in python.lower()
        known = dict(zip(("os_name", "sys_platform", "platform_system"), named, strict=True))
        known["implementation_name"] = "pypy" if pypy else "cpython"
        known["platform_python_implementation"] = "PyPy" if pypy else "CPython"
        known["extra"] = ""  # a lock is installed as it is, without extras
        whole = _PYTHON.fullmatch(python)
        if whole is not None:
            known |= {"python_version": whole[1], "python_full_version": whole[0]}
            if not pypy:
                known["implementation_version"] = whole[0]
        machine = _MACHINE.search(system)
        if machine is not None:
            known["platform_machine"] = machine[1]
        return cls(known)

    def meet(self, marker: "Marker") -> bool | None:
        """Whether the marker holds; None where that depends on what is not known."""
        found = set(self._answers(marker))
        return found.pop() if len(found) == 1 else None

    def _answers(self, marker: "Marker") -> Iterator[bool | None]:
        from packaging.markers import UndefinedComparison, UndefinedEnvironmentName  # noqa: PLC0415 - by one rule only
        from packaging.version import InvalidVersion  # noqa: PLC0415 - as above

        text = str(marker)
        asked = [name for name in _UNTOLD if name not in self.known and re.search(rf"\b{name}\b", text)]
        values = sorted({one or other for one, other in _LITERAL.findall(text)} | {_OTHER})
        if len(values) ** len(asked) > _MOST:
            yield None
            return
        for chosen in product(values, repeat=len(asked)):
            environment = {**dict.fromkeys(_UNTOLD, _OTHER), **self.known, **dict(zip(asked, chosen, strict=True))}
            try:
                yield marker.evaluate(environment)
            except (UndefinedComparison, UndefinedEnvironmentName, InvalidVersion):
                yield None

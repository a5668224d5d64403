"""Reports: one module a format, each a pure function of the report; discovered by name, never listed.

A format is a module of this package with a ``render(report, options) -> str``; its name is the module's, without the
suffix ``_report`` that keeps ``json_report`` from being taken for the standard library's ``json``. Modules that begin
with an underscore are tools. Nothing here reads a clock, a file or the environment: one report gives the same bytes.

Every string of a report may come from the audited port. It passes :mod:`calaudit.report._escape` on its way out.
"""

import pkgutil
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol, cast

from calaudit.model import Report

__all__ = ["Options", "Renderer", "formats", "renderer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to write a report; a renderer ignores what has no meaning in its format.

    ``root`` is the port directory relative to where the reader's paths begin (a checkout's top), as a POSIX path
    without a slash at its end; empty where the port is that place, None where the port lies elsewhere.
    ``width`` is how many columns a text for a terminal has; ``ascii_only`` says that it can show no other characters.
    """

    colour: bool = False
    ascii_only: bool = False
    verbose: bool = False
    root: str | None = ""
    width: int = 80

    def path(self, path: str) -> str | None:
        """A port-relative path as the reader finds it; None where it is not below that place."""
        if self.root is None:
            return None
        return f"{self.root}/{path}" if self.root else path


PLAIN = Options()
"""No colour, the usual detail."""


class Renderer(Protocol):
    """What writes a report in one format."""

    def __call__(self, report: Report, options: Options = PLAIN) -> str:
        """The report as text that ends with a line feed."""
        ...


def formats() -> tuple[str, ...]:
    """The names of all formats, sorted; no renderer is imported for it."""
    return tuple(sorted(_modules()))


def renderer(name: str) -> Renderer:
    """The renderer of a format.

    Raises:
        KeyError: there is no such format.
    """
    module = import_module(f"{__name__}.{_modules()[name]}")
    return cast("Renderer", module.render)


def _modules() -> dict[str, str]:
    found = (info.name for info in pkgutil.iter_modules(__path__))
    return {name.removesuffix("_report"): name for name in found if not name.startswith("_")}

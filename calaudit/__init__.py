"""calaudit: a declarative manifest compiler and auditor for model ports.

>>> from calaudit import audit
>>> report = audit("model-port/tiny-dense")
>>> report.verdict, report.exit_code
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from calaudit.api import audit
    from calaudit.model import Report, Result, Verdict

__all__ = ["Report", "Result", "Verdict", "audit"]


def __getattr__(name: str) -> object:
    # `audit` brings the contract and the parsers with it, and even the nouns cost a third of `calaudit --help`.
    if name not in __all__:
        raise AttributeError(f"module 'calaudit' has no attribute {name!r}")
    return getattr(import_module("calaudit.api" if name == "audit" else "calaudit.model"), name)

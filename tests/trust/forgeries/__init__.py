"""Forgeries: what somebody may try who wants a port to pass that nobody approved.

Each is a function that edits a copy of a signed port, its registry or its root. It names the rule that must see it, by
key and gate, what the rule says, and the exit code. Those whose code is 0 are no forgeries: they are as near to one as
an honest signer comes, and show that the rules refuse the forgery and not the whole manner of signing.
"""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from tests.trust.signed_port import SignedPort

__all__ = ["Forgery", "find", "forge", "forgeries"]

Forge = Callable[[SignedPort], object]


@dataclass(frozen=True)
class Forgery:
    """One way to forge a port of a kind."""

    name: str
    forge: Forge
    kind: str
    rule: str
    says: str
    exit_code: int

    def __str__(self) -> str:
        return f"{self.kind}: {self.name}"


_FOUND: dict[str, Forgery] = {}


def forge(rule: str, says: str, *, kind: str = "g0", exit_code: int = 1) -> Callable[[Forge], Forge]:
    """Register a forgery under its function's name, with hyphens."""

    def wrap(function: Forge) -> Forge:
        name = function.__name__.replace("_", "-")
        assert name not in _FOUND, f"two forgeries are called {name}"
        _FOUND[name] = Forgery(name, function, kind, rule, says, exit_code)
        return function

    return wrap


@cache
def forgeries() -> dict[str, Forgery]:
    """Every forgery of this package, by name."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return dict(sorted(_FOUND.items()))


def find(name: str) -> Forgery:
    found = forgeries()
    assert name in found, f"there is no forgery {name}"
    return found[name]

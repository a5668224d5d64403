"""How much a run was shut in: what its provenance says, and what that is worth.

Only calaudit's own executors are known for what they enforce. Of every other builder, and of a build done elsewhere,
nothing is known: whoever needs to know builds it again here.
"""

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Any

__all__ = ["BUILDER", "ELSEWHERE", "ISOLATION", "Isolation", "attested_isolation", "builder_id"]

BUILDER = "urn:calaudit:executor:"
"""Begins the builder id of every executor of calaudit's own."""

ELSEWHERE = "elsewhere"
"""The kind of a step that is run at another place, by means that nobody here knows."""


class Isolation(IntEnum):
    """Levels of isolation; a higher one promises all that a lower one does.

    ``SANDBOX``: no network, and no file that is not declared, save the system's own. ``CONTAINER``: the system is an
    image that its digest names, too.
    """

    NONE = 0
    SANDBOX = 1
    CONTAINER = 2

    @property
    def word(self) -> str:
        """As provenance and messages say it."""
        return self.name.lower()


ISOLATION: Mapping[str, Isolation] = MappingProxyType(
    {"local": Isolation.NONE, "bwrap": Isolation.SANDBOX, "oci": Isolation.CONTAINER}
)
"""What each executor enforces, by its kind in ``port.yaml``."""


def builder_id(kind: str) -> str:
    """How provenance names an executor."""
    return f"{BUILDER}{kind}:v1"


def attested_isolation(builder: str, internal: Mapping[str, Any]) -> Isolation | None:
    """What a run's provenance proves of its isolation; None where nothing is known of the builder.

    ``internal`` are its internal parameters, which no schema describes. One that says less there than its builder
    enforces, or contradicts itself, proves nothing.
    """
    kind = next((kind for kind in ISOLATION if builder == builder_id(kind)), None)
    if kind is None:
        return None
    executor = internal.get("executor")
    said = executor.get("guarantees") if isinstance(executor, dict) and executor.get("kind") == kind else None
    level = ISOLATION[kind]
    whole = isinstance(said, dict) and said.get("isolation") == level.word
    if level > Isolation.NONE:
        whole = (
            whole and said is not None and said.get("networkEnforced") is True and said.get("inputsEnforced") is True
        )
    return level if whole else Isolation.NONE

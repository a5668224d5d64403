"""What whoever signs says of a build that nobody here saw, held against the step, the clock and the build's reports."""

import re
import shlex
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from calaudit.errors import Malformed, UsageError
from calaudit.evidence.strict_json import parse_json
from calaudit.trust.isolation import BUILDER, ELSEWHERE, builder_id
from calaudit.trust.steps import ChainStep

__all__ = ["BUILT_ELSEWHERE", "Claim", "check_claim", "invocation_of"]

BUILT_ELSEWHERE = builder_id(ELSEWHERE)
"""The builder of whom nothing is known."""

_REPORT_MAX = 1 << 20
"""Bytes of a report that may name its invocation."""

_URI = re.compile(r"[a-z][a-z0-9+.-]{1,30}:[\x21-\x7e]{1,900}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What whoever signs says of the build, and nobody here saw.

    ``invocation`` None is the one that a report among the products names, or else a new UUID.
    """

    step: str
    command: tuple[str, ...]
    invocation: str | None
    started: datetime
    finished: datetime
    builder: str = BUILT_ELSEWHERE


def check_claim(claim: Claim, step: ChainStep, now: datetime) -> None:
    """Hold a claim against the step and the clock.

    Raises:
        UsageError: verification would refuse it, or it cannot be.
    """
    if claim.command != step.command:
        raise UsageError(
            f"port.yaml says that {step.name} runs another command, so that this would be refused (link-command-"
            f"mismatch). Expected: {_told(step.command)}. Found: {_told(claim.command)}."
        )
    if not claim.started <= claim.finished:
        raise UsageError("--finished is before --started.")
    if claim.finished > now:
        raise UsageError("--finished is in the future; what is attested is over.")
    if not _URI.fullmatch(claim.builder):
        raise UsageError(f"--builder {claim.builder}: expected a URI, such as urn:example:build-farm:v1.")
    if claim.builder.startswith(BUILDER) and claim.builder != BUILT_ELSEWHERE:
        raise UsageError(
            f"--builder {claim.builder} is an executor of calaudit's own, which did not run this. Name what did, or "
            "leave the option out."
        )
    given = claim.invocation
    if given is not None and not (1 <= len(given) <= 256 and given.isprintable()):
        raise UsageError("--invocation is 1 to 256 printable characters, the same for no other run.")


def invocation_of(given: str | None, folder: Path, products: Mapping[str, str]) -> str:
    """What the run is called: as its reports call it, since verification holds the two against each other.

    Raises:
        UsageError: they call it otherwise, or differ.
    """
    named = {path: name for path in products if (name := _named_in(folder / path)) is not None}
    other = next((path for path, name in named.items() if name != (given or next(iter(named.values())))), None)
    if other is not None:
        raise UsageError(
            f"{other} is of the invocation {named[other]}, not {given or next(iter(named.values()))}; the products are "
            "of several runs, or --invocation is of another one."
        )
    return given or next(iter(named.values()), None) or str(uuid.uuid4())


def _named_in(path: Path) -> str | None:
    """The invocation that a report names (``/invocation/id``); None in any other file."""
    if path.suffix != ".json" or path.stat().st_size > _REPORT_MAX:
        return None
    try:
        document = parse_json(path.read_bytes())
    except Malformed:
        return None  # an audit reports it
    invocation = document.get("invocation") if isinstance(document, dict) else None
    name = invocation.get("id") if isinstance(invocation, dict) else None
    return name if isinstance(name, str) and name else None


def _told(command: Sequence[str]) -> str:
    text = shlex.join(command)
    return text if len(text) <= 500 else f"{text[:500]}…"

"""What verbs that audit are judged under: the trust root, and the moment."""

from datetime import UTC, datetime
from pathlib import Path

import click

from calaudit.errors import UsageError
from calaudit.model import TrustSummary
from calaudit.trust import Seen, TrustSource

__all__ = ["at_option", "moment", "remember", "trust_option", "trust_source", "unsafe_time_option"]

trust_option = click.option(
    "--trust",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="The trust directory for this call, instead of the pinned root; a rollback of it is then not noticed.",
)

at_option = click.option(
    "--at", metavar="TIME", help="Judge expiries at this moment (UTC), such as 2026-12-24T18:00:00Z; not in the past."
)

unsafe_time_option = click.option(
    "--unsafe-time", is_flag=True, help="Let --at be in the past, where expired things are alive; the verdict says so."
)


def trust_source(trust: Path | None) -> TrustSource | None:
    """The directory that is named, else the pinned root, else nothing.

    Raises:
        UsageError: the directory or the pin cannot be read.
    """
    from calaudit.pins import load_directory, load_pin

    return load_pin() if trust is None else load_directory(trust)


def remember(source: TrustSource | None, found: TrustSummary | None) -> None:
    """Remember the highest versions seen below the pinned root, at a terminal or not.

    The design lets only ``pin`` and an audit at a terminal write the pin. A newcomer showed what that costs: a script
    that saw a revocation accepted the older registry, and the stolen key, the next day. What is remembered can only
    rise, and only below the root that was pinned; where it cannot be written it stays as it is, and that is told.
    """
    if source is None or source.seen is None:
        return
    if found is None or found.registry_version is None or found.registry_digest is None:
        return
    from calaudit.pins import record_seen

    seen = Seen(
        root_version=found.root_version,
        registry_version=found.registry_version,
        registry_sha256=found.registry_digest,
        root_sha256=found.root_digest,
    )
    try:
        record_seen(seen)
    except UsageError as error:
        click.echo(f"calaudit: {error} A later rollback to a version that was seen today goes unnoticed.", err=True)


def moment(at: str | None, *, unsafe: bool) -> datetime | None:
    """The moment to judge at; None for now.

    Raises:
        UsageError: it cannot be read, or lies in the past without ``--unsafe-time``.
    """
    if at is None:
        if unsafe:
            raise UsageError("--unsafe-time says nothing without --at TIME.")
        return None
    try:
        when = datetime.strptime(at, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError as error:
        raise UsageError(f"--at {at} is no moment in UTC, such as 2026-12-24T18:00:00Z.") from error
    if when < datetime.now(UTC) and not unsafe:
        raise UsageError(f"--at {at} is in the past, where what has expired was alive. Say --unsafe-time to mean it.")
    return when

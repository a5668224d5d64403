"""``trust pin``: what is about to be trusted, verified before anybody is asked."""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from calaudit.cli._trust_common import schemas
from calaudit.errors import UsageError
from calaudit.pins import Pin, load_directory
from calaudit.pins.directory import ROOT_NAME
from calaudit.trust import Trust, establish
from calaudit.trust.source import Seen

__all__ = ["candidate", "described"]


def candidate(path: Path) -> tuple[Pin, Trust]:
    """The pin that ``path`` (a directory, or a root file in one) makes.

    Raises:
        UsageError: the chain from the root to the registry does not hold.
    """
    if not path.exists() and not ROOT_NAME.fullmatch(path.name):
        raise UsageError(f"{path} does not exist; name a trust directory, or a root file (1.root.json) in one.")
    directory, name = (path, None) if path.is_dir() else (path.parent, path.name)
    source = load_directory(directory)
    names = [root for root, _ in source.roots]
    if name is not None:
        if name not in names:
            raise UsageError(f"{path} is no root of {directory}; roots are {', '.join(names)}.")
        source = replace(source, roots=source.roots[names.index(name) :])
    trust = establish(source, datetime.now(UTC), schemas())
    if trust.registry is None or trust.faults:
        told = " ".join(f"{fault.rule}: {fault.message}" for fault in trust.faults)
        raise UsageError(f"{path} cannot be pinned. {told}")
    assert source.registry is not None  # noqa: S101 - there is a registry
    seen = Seen(
        root_version=trust.root_version,
        root_sha256=trust.root_digest,
        registry_version=trust.registry.version,
        registry_sha256=hashlib.sha256(source.registry).hexdigest(),
    )
    return Pin(anchor=source.roots[0], source=directory.absolute(), seen=seen), trust


def described(pin: Pin, trust: Trust) -> Iterator[str]:
    """What whoever pins it should look at."""
    registry = trust.registry
    assert registry is not None  # noqa: S101 - candidate made sure
    yield f"Root {pin.anchor[0]} of {pin.source}"
    yield f"  SHA-256 {pin.fingerprint}"
    yield f"  newest root: version {trust.root_version}, expires {trust.root_expires:%Y-%m-%d}"
    yield f"Registry version {registry.version}: {registry.label}, expires {registry.expires:%Y-%m-%d}"
    yield f"  ports: {', '.join(sorted(registry.ports))}"
    for role in registry.roles.values():
        yield f"  {role.name}: {', '.join(owner.name for owner in role.owners)}"

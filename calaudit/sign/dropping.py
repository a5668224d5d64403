"""Taking back what waits for signatures: which files go, and what cannot go alone."""

from calaudit.errors import UsageError
from calaudit.pins.directory import REGISTRY, SIGSTORE_ROOT
from calaudit.sign.folder import PENDING, Folder
from calaudit.sign.standing import registry_standing

__all__ = ["REGISTRY_PART", "ROOT_PART", "parts", "to_drop"]

ROOT_PART, REGISTRY_PART = "root", "registry"


def parts(folder: Folder) -> tuple[str, ...]:
    """What waits: ``root``, ``registry``."""
    root = folder.next_root is not None
    registry = folder.next_registry is not None or folder.next_sigstore_root is not None
    return tuple(part for part, waits in ((ROOT_PART, root), (REGISTRY_PART, registry)) if waits)


def to_drop(folder: Folder, part: str | None) -> tuple[str, ...]:
    """The files of ``pending/`` that go when ``part`` is taken back; everything if None.

    A registry that was only to be signed again for a new root goes with that root.

    Raises:
        UsageError: no such part waits, or what stays could never be published.
    """
    waiting = parts(folder)
    if part is not None and part not in waiting:
        raise UsageError(f"No {part} waits in {folder.path / PENDING}; what waits is the {' and the '.join(waiting)}.")
    gone = set(waiting) if part is None else {part}
    if gone == {ROOT_PART} and folder.next_registry is not None:
        if folder.root is None:
            raise UsageError(_together(folder, "the registry is the first root's"))
        if _same(folder):
            gone.add(REGISTRY_PART)
    if gone == {REGISTRY_PART} and folder.next_root is not None:
        published = folder.registry
        if published is None or not registry_standing(published, folder.next_root.signed).complete:
            raise UsageError(_together(folder, "the new root has signed no registry that is published"))
    files = []
    if ROOT_PART in gone and folder.next_root is not None:
        files.append(f"{folder.next_root.signed.version}.root.json")
    if REGISTRY_PART in gone:
        files += [] if folder.next_registry is None else [REGISTRY]
        files += [] if folder.next_sigstore_root is None else [SIGSTORE_ROOT]
    return tuple(files)


def _together(folder: Folder, why: str) -> str:
    return f"Root and registry in {folder.path / PENDING} wait together: {why}. Drop both: calaudit trust drop DIR"


def _same(folder: Folder) -> bool:
    """Whether the registry that waits says what the published one says."""
    assert folder.next_registry is not None  # noqa: S101 - who asks knows
    if folder.registry is None:
        return False
    waiting, published = folder.next_registry.signed.to_dict(), folder.registry.signed.to_dict()
    return {**waiting, "version": 0} == {**published, "version": 0}

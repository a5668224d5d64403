"""A trust directory as its keepers see it: what is published, and what waits for signatures in ``pending/``.

Readers look at what is published only. A file moves there when its last threshold is met, and is never written again:
one more signature would make another file of the same version, which who has seen the first one takes for a forgery.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tuf.api.metadata import Metadata, Root, Targets

from calaudit.errors import UsageError
from calaudit.files import write_atomic
from calaudit.pins.directory import REGISTRY, SIGSTORE_ROOT
from calaudit.sign.metadata import to_bytes
from calaudit.sign.standing import Standing, registry_standing, root_standing

__all__ = ["PENDING", "Folder"]

PENDING = "pending"


@dataclass(frozen=True, kw_only=True)
class Folder:
    """One trust directory.

    ``root`` and ``registry`` are the newest that are published; ``next_root`` and ``next_registry`` wait.
    """

    path: Path
    roots: tuple[Metadata[Root], ...]
    registry: Metadata[Targets] | None
    next_root: Metadata[Root] | None
    next_registry: Metadata[Targets] | None
    sigstore_root: bytes | None
    next_sigstore_root: bytes | None

    @property
    def coming_sigstore_root(self) -> bytes | None:
        """The Sigstore root that will speak once everything that waits is published."""
        return self.next_sigstore_root or self.sigstore_root

    @property
    def root(self) -> Metadata[Root] | None:
        """The newest published root."""
        return self.roots[-1] if self.roots else None

    @property
    def coming_root(self) -> Root:
        """The root that will speak once everything that waits is published."""
        metadata = self.next_root or self.root
        assert metadata is not None  # noqa: S101 - open_folder makes sure
        return metadata.signed

    @property
    def coming_registry(self) -> Metadata[Targets]:
        """The registry that will speak then: what the next edit begins with."""
        metadata = self.next_registry or self.registry
        if metadata is None:
            raise UsageError(f"{self.path} holds no {REGISTRY}. Begin with `calaudit trust init`.")
        return metadata

    @property
    def registry_version(self) -> int:
        """The version of the published registry; 0 where there is none."""
        return self.registry.signed.version if self.registry else 0

    def standing_of_root(self) -> Standing | None:
        """Who signed the root that waits."""
        if self.next_root is None:
            return None
        return root_standing(self.next_root, self.root.signed if self.root else None)

    def standing_of_registry(self) -> Standing | None:
        """Who signed the registry that waits, by the root that will speak then."""
        return None if self.next_registry is None else registry_standing(self.next_registry, self.coming_root)

    def write_root(self, metadata: Metadata[Root]) -> None:
        """Let a root wait for signatures."""
        self._write(Path(PENDING) / f"{metadata.signed.version}.root.json", to_bytes(metadata))

    def write_registry(self, metadata: Metadata[Targets]) -> None:
        """Let a registry wait for signatures."""
        self._write(Path(PENDING) / REGISTRY, to_bytes(metadata))

    def write_sigstore_root(self, data: bytes) -> None:
        """Let the trusted root of a Sigstore instance wait, as the registry that holds its digest does."""
        self._write(Path(PENDING) / SIGSTORE_ROOT, data)

    def withdraw(self, names: Iterable[str] | None = None) -> tuple[str, ...]:
        """Forget what waits, or the files of these names only; the names of the files."""
        gone = sorted(p.relative_to(self.path / PENDING).as_posix() for p in self._waiting())
        gone = gone if names is None else sorted(set(names) & set(gone))
        try:
            for name in gone:
                (self.path / PENDING / name).unlink()
            self._tidy()
        except OSError as error:
            raise UsageError(f"{self.path / PENDING} cannot be changed: {error.strerror}.") from error
        return tuple(gone)

    def publish(self) -> tuple[str, ...]:
        """Publish what waits, once all of it is complete; the names of the files, or none.

        Together, so that no reader meets a new root and a registry that it has not signed.
        """
        root, registry = self.standing_of_root(), self.standing_of_registry()
        if not all(standing is None or standing.complete for standing in (root, registry)):
            return ()
        published = [] if self.next_root is None else [f"{self.next_root.signed.version}.root.json"]
        published += [] if self.next_sigstore_root is None else [SIGSTORE_ROOT]
        published += [] if self.next_registry is None else [REGISTRY]
        # The root first: whoever stops between two renames finds a registry that waits, and publishes it the next time.
        for name in published:
            self._move(name)
        self._tidy()
        return tuple(published)

    def _move(self, name: str) -> None:
        target = self.path / name
        try:
            target.parent.mkdir(exist_ok=True)
            (self.path / PENDING / name).replace(target)
        except OSError as error:
            raise UsageError(f"{target} cannot be written: {error.strerror}.") from error

    def _waiting(self) -> list[Path]:
        return [path for path in (self.path / PENDING).rglob("*") if path.is_file()]

    def _tidy(self) -> None:
        for path in (self.path / PENDING / SIGSTORE_ROOT).parent, self.path / PENDING:
            if path.is_dir() and not any(path.iterdir()):
                path.rmdir()

    def _write(self, name: Path, data: bytes) -> None:
        target = self.path / name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(target, data)
        except OSError as error:
            raise UsageError(f"{target} cannot be written: {error.strerror}.") from error

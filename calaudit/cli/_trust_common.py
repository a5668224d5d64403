"""What the verbs that change a trust directory share: the keys they were given, and telling what waits."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from securesystemslib.signer import Key, Signer

from calaudit.cli._keys import say
from calaudit.contract import Schemas
from calaudit.contract.resources import data_root
from calaudit.errors import UsageError
from calaudit.pins.directory import inside_port
from calaudit.sign.folder import PENDING, Folder
from calaudit.sign.key_files import make_key, read_public
from calaudit.sign.opening import open_folder
from calaudit.sign.passphrases import Passphrases
from calaudit.sign.signers import load_signer
from calaudit.sign.standing import Standing
from calaudit.sign.summary import registry_changes, root_changes

__all__ = ["Keys", "finish", "schemas", "tell_waiting"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """Keys as the command line names them: files to make, URIs at hand, PEM files of others."""

    new: tuple[Path, ...]
    held: tuple[str, ...]
    public: tuple[Path, ...]
    algorithm: str

    @property
    def count(self) -> int:
        """How many keys that is."""
        return len(self.new) + len(self.held) + len(self.public)

    def check(self, directory: Path) -> None:
        """Refuse key files where they would be published.

        Raises:
            UsageError: a new key would lie in the trust directory or in a port.
        """
        inside = Path(os.path.realpath(directory))
        for path in self.new:
            full = Path(os.path.realpath(path))
            if full.is_relative_to(inside) or inside_port(full.parent) is not None:
                raise UsageError(f"{path} would be passed on with what lies around it; keep private keys elsewhere.")

    def signers(self, passphrases: Passphrases) -> list[Signer]:
        """Those that can sign here; the new ones are made."""
        return [*(load_signer(uri, passphrases) for uri in self.held), *self.make(passphrases)]

    def make(self, passphrases: Passphrases) -> list[Signer]:
        """Make the new ones, and say which key is in which file: everything else calls a key by its id."""
        made: list[Signer] = []
        for path in self.new:
            made.append(make_key(path, passphrases, algorithm=self.algorithm))
            say(f"Made {path}: key {made[-1].public_key.keyid[:8]}; {path.name}.pub is for others.")
        return made

    def publics(self) -> list[Key]:
        """Those of people elsewhere."""
        return [read_public(path) for path in self.public]


def tell_waiting(folder: Folder, *, changes: bool = True) -> None:
    """Say what waits: the changes, who signed, how many signatures are missing."""
    root, registry = folder.standing_of_root(), folder.standing_of_registry()
    if folder.next_root is not None and root is not None:
        old = None if folder.root is None else folder.root.signed
        _tell(
            f"{folder.next_root.signed.version}.root.json",
            root_changes(folder.next_root.signed, old) if changes else (),
            root,
        )
    if folder.next_registry is not None and registry is not None:
        version = folder.next_registry.signed.version
        title = f"roles.json version {version} (published: {folder.registry_version or 'none'})"
        _tell(title, registry_changes(folder.next_registry, folder.registry) if changes else (), registry)


def finish(directory: Path, *, changes: bool = True) -> int:
    """Publish what is complete; say what waits, with its ``changes`` unless they were told before."""
    folder = open_folder(directory)
    tell_waiting(folder, changes=changes)
    published = folder.publish()
    if published:
        say(f"Published: {', '.join(published)}.")
    else:
        say(f"It waits in {directory / PENDING}. Pass {directory} on: calaudit trust sign {directory} --key URI")
    return 0


def schemas() -> Schemas:
    """The schemas that calaudit ships."""
    return Schemas(data_root() / "schemas")


def _tell(title: str, changes: Iterable[str], standing: Standing) -> None:
    say(title)
    for line in changes:
        say(f"  {line}")
    for part in standing.parts:
        signed = ", ".join(keyid[:8] for keyid in part.signed) or "nobody"
        say(f"  signed by {len(part.signed)} of {part.whose}, {part.threshold} needed: {signed}")
    if standing.missing:
        wanted = ", ".join(keyid[:8] for keyid in standing.wanted)
        say(f"  {standing.missing} signature(s) missing; these keys can sign: {wanted}")

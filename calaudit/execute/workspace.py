"""A private workspace a run: what the step declares, and nothing else, in the places where the port has it.

The command may write anywhere in it, save where an executor can mount the inputs read-only. Afterwards everything there
is an unchanged input or a declared product, or the step fails by name. The port itself is neither seen nor touched.
"""

import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from calaudit.contract.globs import Glob
from calaudit.errors import UsageError
from calaudit.execute.nouns import Step, StepFailed
from calaudit.execute.record import Tree, matching
from calaudit.execute.removal import remove_tree

__all__ = ["Workspace", "collect", "copy_file", "fill", "sealed", "sweep", "workspace"]

_FICLONE = 0x40049409  # <linux/fs.h>: share the bytes of a file until one of both is written
_WILD = frozenset("*?")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """Folders of one run: ``port`` is what the command works in, ``private`` holds its home and temporary files."""

    port: Path
    private: Path


@contextmanager
def workspace(runs: Path, invocation: str) -> Iterator[Workspace]:
    """A workspace that is gone afterwards."""
    runs.mkdir(parents=True, exist_ok=True, mode=0o700)
    own = runs / invocation
    door = os.open(runs, _FOLDER)
    try:
        fcntl.flock(door, fcntl.LOCK_EX)  # or another run sweeps this one away before it is locked
        sweep(runs)
        own.mkdir(mode=0o700)
        lock = os.open(own, _FOLDER)
        fcntl.flock(lock, fcntl.LOCK_EX)
    finally:
        os.close(door)
    try:
        for name in ("port", "private", "private/home", "private/tmp"):
            (own / name).mkdir(mode=0o755)
        yield Workspace(port=own / "port", private=own / "private")
    finally:
        os.close(lock)
        remove_tree(own)


def sweep(runs: Path) -> None:
    """Delete workspaces whose run was killed: nobody holds their locks any more. What cannot be deleted is left."""
    for left in runs.iterdir():
        try:
            lock = os.open(left, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue  # gone meanwhile
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            continue  # its run is alive, or nobody can tell
        finally:
            os.close(lock)
        remove_tree(left)


def fill(space: Path, port: Path, step: Step, present: Mapping[str, str]) -> dict[str, str]:
    """Copy a step's inputs into its workspace; their digests, as they are there.

    ``present`` are the files of the port that fit the step's inputs.

    Raises:
        UsageError: an input is missing, or cannot be copied.
    """
    for pattern in step.inputs:
        if not matching([pattern], present):
            raise UsageError(
                f"The step {step.name} reads {pattern}, and the port has no such file. Make it first, or correct "
                "port.yaml."
            )
    for path in present:
        target = space / path
        target.parent.mkdir(parents=True, exist_ok=True)
        copy_file(port / path, target)
    for pattern in step.products:
        (space / _fixed_part(pattern)).mkdir(parents=True, exist_ok=True)
    return Tree(space).digests()


def collect(space: Path, step: Step, inputs: Mapping[str, str]) -> dict[str, str]:
    """The digests of the products.

    Raises:
        StepFailed: an input was changed, a product is missing, or something that nobody declared was written.
    """
    try:
        after = Tree(space).digests()
    except UsageError as error:
        raise StepFailed(f"The step {step.name} wrote what no port can hold: {error}") from error
    changed = next((path for path, digest in inputs.items() if after.get(path) != digest), None)
    if changed is not None:
        verb = "changed" if changed in after else "removed"
        raise StepFailed(f"The step {step.name} {verb} {changed}, which it declares as an input only.")
    written = {path: digest for path, digest in after.items() if path not in inputs}
    globs = [Glob(pattern) for pattern in step.products]
    stray = [path for path in written if not any(glob.matches(path) for glob in globs)]
    if stray:
        raise StepFailed(
            f"The step {step.name} wrote {_some(stray)}, which port.yaml does not name among its products. Declare it, "
            "or write it below $TMPDIR."
        )
    for pattern in step.products:
        if not matching([pattern], written):
            raise StepFailed(f"The step {step.name} did not write {pattern}, which is one of its products.")
    return written


def sealed(step: Step, inputs: Iterable[str]) -> tuple[str, ...]:
    """What an executor can mount read-only to shut every input: folders without a place for products, else files."""
    products = [Glob(pattern) for pattern in step.products]

    def below(folder: str, paths: Sequence[str]) -> Iterator[str]:
        inner: dict[str, list[str]] = {}
        for path in paths:
            name, _, rest = path.removeprefix(folder).partition("/")
            if rest:
                inner.setdefault(f"{folder}{name}/", []).append(path)
            else:
                yield path
        for child, members in inner.items():
            # A name may hold what a pattern takes for a wildcard; one for any character says no less.
            anything = Glob(child.replace("*", "?") + "**")
            if any(product.overlaps(anything) for product in products):
                yield from below(child, members)
            else:
                yield child.removesuffix("/")

    return tuple(below("", sorted(inputs)))


def _fixed_part(pattern: str) -> str:
    """The folder above the first wildcard, or above the file."""
    folders = pattern.split("/")[:-1]
    fixed = next((n for n, segment in enumerate(folders) if _WILD & set(segment)), len(folders))
    return "/".join(folders[:fixed])


def copy_file(source: Path, target: Path) -> None:
    """Copy a regular file, sharing its bytes where the file system can.

    Raises:
        UsageError: it is none, or cannot be copied.
    """
    try:
        reader = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(reader, "rb") as old, target.open("xb") as new:
            try:
                fcntl.ioctl(new.fileno(), _FICLONE, old.fileno())
            except OSError:  # this file system cannot share bytes
                shutil.copyfileobj(old, new, 1 << 20)
            target.chmod(0o755 if os.fstat(old.fileno()).st_mode & 0o100 else 0o644)
    except OSError as error:
        raise UsageError(f"{source} cannot be copied into the workspace: {error.strerror}.") from error


def _some(paths: Iterable[str]) -> str:
    first, *others = paths
    return f"{first} and {len(others)} more" if others else first

"""Container images by digest, from the engine's own store or an OCI image layout on this machine; nothing is pulled.

podman reads a layout itself. docker does not, and forgets the digest of a manifest that it did not pull: it is given
the blobs of the layout, each held against its digest, and then runs the image by the digest of its configuration, which
the manifest names.
"""

import hashlib
import io
import json
import re
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from calaudit.errors import Malformed, UsageError
from calaudit.evidence.strict_json import parse_json

__all__ = ["find_image"]

Ask = Callable[..., tuple[int, str]]
"""Asks the engine; its exit code, and what it said."""

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def find_image(ask: Ask, image: str, layouts: Sequence[Path], *, podman: bool) -> str:
    """How the engine knows an image (``name@sha256:…``), which is taken from a layout if the engine lacks it.

    Raises:
        UsageError: it is nowhere, or a layout is none or does not hold what its digests say.
    """
    if not ask("image", "inspect", image)[0]:
        return image
    for folder in layouts:
        entry = _listed(folder, image.partition("@")[2])
        if entry is not None:
            return _by_podman(ask, image, folder, entry) if podman else _by_docker(ask, image, folder)
    raise UsageError(
        f"The image {image} is not on this machine, and nothing is pulled. Name the OCI layout that holds it "
        "(--oci-layout DIR), or pull it by its digest before."
    )


def _listed(folder: Path, digest: str) -> Mapping[str, Any] | None:
    """What a layout's index says of a manifest, whose bytes are what its digest says; None where it has none."""
    try:
        index = parse_json((folder / "index.json").read_bytes())
        listed = index["manifests"] if isinstance(index, dict) else None
        entries = [m for m in listed if isinstance(m, dict)] if isinstance(listed, list) else []
    except (OSError, Malformed, KeyError) as error:
        raise UsageError(f"{folder} is no OCI image layout: {error}") from error
    found = next((entry for entry in entries if entry.get("digest") == digest), None)
    if found is not None:
        _blob(folder, digest)
    return found


def _blob(folder: Path, digest: str) -> Path:
    """A blob of a layout, whose bytes were held against its digest."""
    path = folder / "blobs" / "sha256" / digest.removeprefix("sha256:")
    try:
        with path.open("rb") as file:
            actual = f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
    except OSError as error:
        raise UsageError(f"{folder} is no OCI image layout: {error}") from error
    if actual != digest:
        raise UsageError(f"{folder}: the blob {digest} is not what its digest says.")
    return path


def _by_podman(ask: Ask, image: str, folder: Path, entry: Mapping[str, Any]) -> str:
    notes = entry.get("annotations")
    name = notes.get("org.opencontainers.image.ref.name") if isinstance(notes, dict) else None
    code, said = ask("pull", "--quiet", f"oci:{folder}:{name}" if name else f"oci:{folder}")
    if not code:
        # A digest is looked up among the images of its name only.
        code, said = ask("tag", said.split()[-1], f"{image.partition('@')[0]}:calaudit")
    if code or ask("image", "inspect", image)[0]:
        raise UsageError(f"The image {image} could not be taken from {folder}: {said.strip()}")
    return image


def _by_docker(ask: Ask, image: str, folder: Path) -> str:
    config, layers = _parts(folder, image.partition("@")[2])
    if not ask("image", "inspect", config)[0]:
        return config
    with tempfile.NamedTemporaryFile(prefix="calaudit-image-", suffix=".tar") as archive:
        with tarfile.open(fileobj=archive, mode="w") as tar:
            names = list(_pack(tar, folder, (config, *layers)))
            listing = json.dumps([{"Config": names[0], "RepoTags": None, "Layers": names[1:]}]).encode()
            member = tarfile.TarInfo("manifest.json")
            member.size = len(listing)
            tar.addfile(member, io.BytesIO(listing))
        archive.flush()
        code, said = ask("load", "--quiet", "--input", archive.name)
    if code or ask("image", "inspect", config)[0]:
        raise UsageError(f"The image {image} could not be taken from {folder}: {said.strip()}")
    return config


def _pack(tar: tarfile.TarFile, folder: Path, digests: Sequence[str]) -> Iterator[str]:
    for digest in digests:
        name = f"{digest.removeprefix('sha256:')}.blob"
        tar.add(_blob(folder, digest), name)
        yield name


def _parts(folder: Path, digest: str) -> tuple[str, list[str]]:
    """The digests of the configuration and the layers that a manifest names."""
    try:
        manifest: Any = parse_json(_blob(folder, digest).read_bytes())
        parts = [manifest["config"]["digest"], *(layer["digest"] for layer in manifest["layers"])]
    except (OSError, Malformed, KeyError, TypeError) as error:
        raise UsageError(
            f"{folder}: {digest} is no manifest of one image ({error}); an index of several has one for each machine, "
            "with a digest of its own."
        ) from error
    if not all(isinstance(part, str) and _DIGEST.fullmatch(part) for part in parts):
        raise UsageError(f"{folder}: the manifest {digest} names a part without a SHA-256 digest.")
    return parts[0], parts[1:]

"""Write a new port directory: all of it, or nothing."""

import json
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from calaudit.contract import Contract, Profile
from calaudit.errors import UsageError
from calaudit.facts.placeholders import left_in
from calaudit.facts.source.scoring import Row
from calaudit.facts.source.weights import INDEX
from calaudit.facts.vendor.kickoff import ITEMS
from calaudit.intake.checkpoint import Checkpoint, read_checkpoint
from calaudit.intake.manifest import ASKED, has_no_heads, score, write_manifest
from calaudit.model import Json
from calaudit.pins.directory import inside_port

FOLDERS = (
    "00-source/hf-config", "00-source/weights", "01-reference/run-2", "01-reference/tensor-golden", "02-onnx/repros",
    "02-onnx/tensors", "03-quant", "04-compiler/logs", "05-calbin/package", "06-runtime/correctness",
    "06-runtime/faults", "06-runtime/performance", "07-serving/conformance", "07-serving/soak", "08-release",
    "attestations", "configs", "signoffs", "tools", "vendor/responses", "waivers",
)  # fmt: skip
"""The folders of a port (runbook §3); an empty one does not count as begun."""

_PORT = """\
schema: calaudit-port/v1
id: {id}
profile: {profile}
stage: development
claim: G0
"""

_ID = re.compile(r"[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """What was written, for the report to whoever asked.

    ``missing`` holds, by document, the JSON pointers of what a person must still fill in: what ``placeholder-left``
    finds. ``notes`` is what one must know besides.
    """

    path: Path
    port_id: str
    profile: str
    checkpoint: Checkpoint
    rows: dict[str, Row]
    missing: Mapping[str, tuple[str, ...]]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What whoever begins a port may choose; ``port_id`` None: the name of the directory."""

    profile: str
    port_id: str | None = None
    copy_weights: bool = False


def begin(target: Path, model: Path, contract: Contract, wishes: Wishes) -> Begun:
    """Begin a port at ``target`` from the model directory ``model``.

    Raises:
        UsageError: the target is not free, the model directory is not one, the profile or the id will not do, or the
            disk refuses; the target is then as it was.
    """
    profile, copy_weights = wishes.profile, wishes.copy_weights
    if profile not in contract.profiles:
        raise UsageError(f"There is no profile {profile!r}; there are {', '.join(sorted(contract.profiles))}.")
    port_id = _checked_id(wishes.port_id or target.resolve().name, given=wishes.port_id is not None)
    _check_free(target)
    found = read_checkpoint(model)
    manifest = write_manifest(found, dict(contract.profiles[profile].params), with_weights=copy_weights)
    documents = {
        "port.yaml": _PORT.format(id=json.dumps(port_id), profile=profile),
        "00-source/source-manifest.json": _json(manifest),
        "vendor/kickoff.json": _json(_kickoff()),
    }
    _write(target, found, documents, copy_weights=copy_weights)
    return Begun(
        path=target,
        port_id=port_id,
        profile=profile,
        checkpoint=found,
        rows=score(found),
        missing=_missing({"00-source/source-manifest.json": manifest, "vendor/kickoff.json": _kickoff()}, contract),
        notes=tuple(_notes(found, profile, contract)),
    )


def _missing(documents: dict[str, dict[str, Json]], contract: Contract) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for path, document in documents.items():
        spec = contract.gates.match(path)
        assert spec is not None  # noqa: S101 - we write what the contract knows
        found[path] = tuple(pointer for pointer, _ in left_in(document, contract.gates.placeholders, spec))
    return found


def _notes(found: Checkpoint, profile: str, contract: Contract) -> Iterator[str]:
    if has_no_heads(found):
        yield (
            "The model has no attention heads. This version of calaudit takes only models that have some: the manifest "
            "says where, and the port cannot pass G0."
        )
    if not _fits(found, contract.profiles[profile]):
        others = [name for name, other in sorted(contract.profiles.items()) if _fits(found, other)]
        hint = f"{others[0]} fits it, so begin anew with --profile {others[0]}" if others else "no profile fits it"
        yield f"The model is outside the profile {profile} (number of parameters, or a mixture of experts); {hint}."


def _fits(found: Checkpoint, profile: Profile) -> bool:
    """Whether a profile takes the model, as far as its files say what it is."""
    low, high = profile.params["parameters_min"], profile.params["parameters_max"]
    size = None if found.counted is None else found.counted.parameters
    sized = size is None or (isinstance(low, int) and isinstance(high, int) and low <= size <= high)
    return sized and (found.architecture.moe is None or profile.params["moe_allowed"] is True)


def _checked_id(port_id: str, *, given: bool) -> str:
    if _ID.fullmatch(port_id) and len(port_id) <= 64:
        return port_id
    hint = "" if given else " Choose one with --id."
    raise UsageError(
        f"{port_id!r} cannot be the id of a port: letters and digits, joined by single dots, hyphens or underscores, "
        f"64 at most.{hint}"
    )


def _check_free(target: Path) -> None:
    try:
        if target.is_symlink() or (target.exists() and not target.is_dir()):
            raise UsageError(f"{target} exists and is not a directory; choose a new name.")
        if target.is_dir() and any(target.iterdir()):
            raise UsageError(f"{target} is not empty; a port is begun in a new or an empty directory.")
        if (port := inside_port(target)) is not None:
            raise UsageError(
                f"{target} lies inside the port {port}, which would not pass with it; choose another place."
            )
        above = next(folder for folder in target.absolute().parents if folder.exists())
        if not above.is_dir():
            raise UsageError(f"{above} is a file, so {target} cannot be made below it; choose another place.")
    except (OSError, ValueError) as error:
        raise UsageError(f"{target} cannot be looked at ({error}).") from error


def _write(target: Path, found: Checkpoint, documents: dict[str, str], *, copy_weights: bool) -> None:
    final = target.resolve()
    temporary = final.with_name(f".{final.name}.{secrets.token_hex(8)}.tmp")
    made = [folder for folder in final.parents if not folder.exists()]
    try:
        temporary.mkdir(parents=True)
        for folder in FOLDERS:
            (temporary / folder).mkdir(parents=True)
        for file in found.files:
            if not file.weight or copy_weights or file.name.endswith(INDEX):
                folder = "weights" if file.weight else "hf-config"
                shutil.copyfile(file.source, temporary / "00-source" / folder / file.name)
        for name, text in documents.items():
            (temporary / name).write_text(text, "utf-8")
        temporary.rename(final)  # onto an empty directory as well; onto one that is filled meanwhile it fails
    except OSError as error:
        raise UsageError(f"{target} cannot be written ({error.strerror}); nothing was left behind.") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        if not final.exists():
            _unmake(made)


def _unmake(folders: list[Path]) -> None:
    """Take back the folders above the port that were made for it, the innermost first."""
    for folder in folders:
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def _kickoff() -> dict[str, Json]:
    items: list[Json] = [
        {"id": name, "title": title, "digest": None, "version": None, "received": None} for name, title in ITEMS.items()
    ]
    return {
        "schema": "calaudit-kickoff/v1",
        "vendor": f"{ASKED}who owes the items",
        "items": items,
        "launch_date": None,
    }


def _json(document: dict[str, Json]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"

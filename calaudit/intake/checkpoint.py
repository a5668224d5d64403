"""What a Hugging Face model directory holds that a port begins with; nothing in it is run."""

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from calaudit.errors import Malformed, UsageError
from calaudit.evidence.strict_json import parse_json
from calaudit.facts.hf.architecture import Architecture, read_architecture
from calaudit.facts.source.safetensors_header import PREFIX, Tensor, header_size, parse_header
from calaudit.facts.source.weights import INDEX, PICKLES, SAFE, Tally, tally
from calaudit.model import Json

_SMALL = 64 << 20
_CONFIG = "config.json"
_CARRIED = frozenset(
    {
        _CONFIG, "generation_config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json",
        "added_tokens.json", "vocab.json", "merges.txt", "vocab.txt", "preprocessor_config.json",
        "processor_config.json", "chat_template.json",
    }
)  # fmt: skip
_CARRIED_ENDINGS = (".py", ".jinja", ".model", ".tiktoken", ".spm")
_LICENSES = ("license", "licence", "copying", "notice", "use_policy", "licenseref-")
_NAME = re.compile(r"[A-Za-z0-9_+][A-Za-z0-9._+ -]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """One file of the model directory, hashed; ``weight`` says that it is a part of the checkpoint."""

    name: str
    source: Path
    size: int
    sha256: str
    weight: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A model directory: its files, its architecture, the tokens it knows, and what one must know to begin with it.

    ``tokens`` is None without a usable tokenizer.json, ``counted`` unless every weight file is sound safetensors.
    """

    files: tuple[Held, ...]
    architecture: Architecture
    tokens: int | None
    counted: Tally | None
    notes: tuple[str, ...]

    def digest(self, name: str) -> str | None:
        """The SHA-256 of a file."""
        return next((file.sha256 for file in self.files if file.name == name), None)


def read_checkpoint(folder: Path) -> Checkpoint:
    """Read a model directory.

    Raises:
        UsageError: there is no such directory, its config.json is missing or describes no model, a file cannot be read.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a directory; name the one that holds the model's {_CONFIG}.")
    document = _read_config(folder / _CONFIG)
    try:
        names = sorted(path.name for path in folder.iterdir())
        held = [_hashed(folder / name) for name in names if _is_wanted(name) and _is_file(folder / name)]
    except OSError as error:
        raise UsageError(f"{error.filename or folder} cannot be read ({error.strerror}).") from error
    return Checkpoint(
        files=tuple(held),
        architecture=_describe(document, folder),
        tokens=_count_tokens(folder / "tokenizer.json"),
        counted=_count([file for file in held if file.name.endswith(SAFE)]),
        notes=(*_left_out(folder, names), *_refused(held)),
    )


def _read_config(path: Path) -> dict[str, Json]:
    try:
        if not path.is_file():
            raise UsageError(f"There is no file {path}; name the directory that holds the model's {_CONFIG}.")
        if path.stat().st_size > _SMALL:
            raise UsageError(f"{path} has more than {_SMALL >> 20} MiB, which no model's config has.")
        document = parse_json(path.read_bytes(), foreign=True)
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}).") from error
    except Malformed as error:
        where = "" if error.line is None else f" on line {error.line}"
        raise UsageError(f"{path} is not strict JSON{where}. {error.message}") from error
    if not isinstance(document, dict) or not document:
        raise UsageError(f"{path} holds no JSON object with members, so it is not a model's config.")
    return document


def _describe(document: dict[str, Json], folder: Path) -> Architecture:
    found = read_architecture(document)
    if found.model_type is None and not (found.layers or found.hidden or found.vocab):
        raise UsageError(
            f"{folder / _CONFIG} names no model_type, no layers, no hidden size and no vocabulary: it is not "
            "the config of a language model."
        )
    return found


def _is_wanted(name: str) -> bool:
    lower = name.lower()
    return _NAME.fullmatch(name) is not None and (
        name in _CARRIED or lower.endswith((*_CARRIED_ENDINGS, *SAFE, INDEX)) or lower.startswith(_LICENSES)
    )


def _is_file(path: Path) -> bool:
    # Links are followed: the cache of the hub client is made of them. Anything else (a pipe) is left alone.
    return stat.S_ISREG(path.stat().st_mode)


def _hashed(path: Path) -> Held:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        size = os.fstat(file.fileno()).st_size
    weight = path.name.lower().endswith((*SAFE, INDEX))
    return Held(name=path.name, source=path, size=size, sha256=digest, weight=weight)


def _left_out(folder: Path, names: list[str]) -> Iterator[str]:
    for name in names:
        if name.lower().endswith(PICKLES):
            yield f"{name} was left out: a pickle runs code when it is read. Convert the checkpoint to safetensors."
        elif (folder / name).is_dir() and not name.startswith("."):
            yield f"{name}/ was left out: only files directly in the model's directory are taken."


def _refused(files: list[Held]) -> Iterator[str]:
    for held in files:
        if not held.name.endswith(".json") or held.size > _SMALL:
            continue
        try:
            parse_json(held.source.read_bytes(), foreign=True)
        except Malformed as error:
            yield f"{held.name} is not strict JSON, and an audit will say so. {error.message}"


def _count_tokens(path: Path) -> int | None:
    try:
        if not path.is_file() or path.stat().st_size > _SMALL:
            return None
        document = parse_json(path.read_bytes(), foreign=True)
    except (OSError, Malformed):
        return None  # a manifest with a placeholder in it, and `verify` says what is wrong with the file
    model = document.get("model") if isinstance(document, dict) else None
    vocabulary = model.get("vocab") if isinstance(model, dict) else None
    if isinstance(vocabulary, dict):
        tokens = set(vocabulary)
    elif isinstance(vocabulary, list):
        tokens = {piece[0] for piece in vocabulary if isinstance(piece, list) and piece and isinstance(piece[0], str)}
    else:
        return None
    assert isinstance(document, dict)  # noqa: S101 - the vocabulary came from it
    added = document.get("added_tokens")
    for token in added if isinstance(added, list) else []:
        content = token.get("content") if isinstance(token, dict) else None
        if isinstance(content, str):
            tokens.add(content)
    return len(tokens)


def _count(files: list[Held]) -> Tally | None:
    tensors: list[Tensor] = []
    for held in files:
        try:
            with held.source.open("rb") as file:
                first = file.read(PREFIX)
                head = first + file.read(header_size(first, held.size) - PREFIX)
            tensors += parse_header(head, held.size)
        except (OSError, Malformed):
            return None  # weights-malformed says what is wrong, once the file is in the port
    return tally(tensors) if files else None

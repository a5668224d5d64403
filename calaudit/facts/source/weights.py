"""The checkpoint: which weight files the source has, and what their headers say. No weight is read."""

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from calaudit.errors import Malformed, MissingFact
from calaudit.evidence import Entry
from calaudit.facts import Facts, internal
from calaudit.facts.source.manifest import FOLDER, SourceManifest
from calaudit.facts.source.safetensors_header import PREFIX, Tensor, header_size, parse_header
from calaudit.model import Json, Location

SAFE = (".safetensors",)
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".joblib")
OTHER = (".gguf", ".h5", ".msgpack", ".npz", ".ot", ".onnx", ".tflite", ".pdparams")
INDEX = ".index.json"

EMBEDDINGS = (
    "embed_tokens.weight", "wte.weight", "word_embeddings.weight", "embed_in.weight", "tok_embeddings.weight",
    "token_embedding.weight", "backbone.embeddings.weight", "backbone.embedding.weight",
)  # fmt: skip
HEADS = ("lm_head.weight", "embed_out.weight", "output_layer.weight")
_BUFFERS = (".inv_freq", ".masked_bias", ".attn.bias", ".attention.bias", ".rotary_emb.cos", ".rotary_emb.sin")
_OTHER_TOWERS = ("vision", "visual", "audio", "image", "vit.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """One safetensors file that is in the port."""

    path: str
    tensors: tuple[Tensor, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What is wrong with a weight file or an index, and where."""

    at: Location
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """One ``*.safetensors.index.json``: the port-relative file of each tensor; ``escapes`` names leading elsewhere."""

    path: str
    files: dict[str, str]
    escapes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What all tensors of a checkpoint add up to: numbers in all but buffers, shape of embedding and output head."""

    parameters: int
    embedding: tuple[int, int] | None
    head: tuple[int, int] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """The weight files, by what is known of them.

    ``complete`` says that every weight file is in the port and was read; only then are ``parameters`` (numbers in all
    tensors but buffers), ``embedding_rows`` and ``embedding_width`` more than None.
    """

    name: ClassVar[str] = "weights"

    files: tuple[str, ...]
    elsewhere: tuple[str, ...]
    complete: bool
    parameters: int | None
    embedding_rows: int | None
    embedding_width: int | None
    head_rows: int | None
    shards: tuple[Shard, ...] = internal()
    indexes: tuple[Index, ...] = internal()
    faults: tuple[Fault, ...] = internal()

    @property
    def tensors(self) -> Iterator[Tensor]:
        """The tensors of the language model in all shards; those of other towers are left out."""
        for shard in self.shards:
            yield from (t for t in shard.tensors if not any(tower in t.name for tower in _OTHER_TOWERS))

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Read the headers; MissingFact where the manifest cannot be read, which says what is kept elsewhere."""
        source = facts.get(SourceManifest)
        present = [entry for entry in facts.evidence.matching(f"{FOLDER}**") if is_weight(entry.path)]
        listed = [file.path for file in source.files if is_weight(file.path)]
        files = tuple(sorted({*listed, *(entry.path for entry in present)}))
        here = {entry.path for entry in present}
        shards: list[Shard] = []
        faults: list[Fault] = []
        for entry in present:
            if entry.path.endswith(SAFE):
                try:
                    shards.append(Shard(path=entry.path, tensors=_read(facts, entry)))
                except Malformed as error:
                    faults.append(Fault(at=Location(path=entry.path), message=error.message))
        indexes = tuple(_indexes(facts, faults))
        wanted = {file for index in indexes for file in index.files.values()}
        complete = bool(files) and {*files, *wanted} == {shard.path for shard in shards}
        counted = tally([tensor for shard in shards for tensor in shard.tensors]) if complete else None
        return cls(
            files=files,
            elsewhere=tuple(path for path in files if path not in here),
            complete=complete,
            parameters=counted.parameters if counted else None,
            embedding_rows=counted.embedding[0] if counted and counted.embedding else None,
            embedding_width=counted.embedding[1] if counted and counted.embedding else None,
            head_rows=counted.head[0] if counted and counted.head else None,
            shards=tuple(shards),
            indexes=indexes,
            faults=tuple(faults),
        )


def tally(tensors: Sequence[Tensor]) -> Tally:
    """Add up the tensors of a whole checkpoint."""
    return Tally(
        parameters=sum(tensor.elements for tensor in tensors if not is_buffer(tensor)),
        embedding=_matrix(tensors, EMBEDDINGS),
        head=_matrix(tensors, HEADS),
    )


def is_weight(path: str) -> bool:
    """Whether a file is a weight file by its name."""
    return path.lower().endswith((*SAFE, *PICKLES, *OTHER))


def _read(facts: Facts, entry: Entry) -> tuple[Tensor, ...]:
    first = facts.evidence.head(entry.path, PREFIX)
    return parse_header(facts.evidence.head(entry.path, header_size(first, entry.size)), entry.size)


def _indexes(facts: Facts, faults: list[Fault]) -> Iterator[Index]:
    for entry in facts.evidence.matching(f"{FOLDER}**"):
        if not entry.path.endswith(INDEX):
            continue
        try:
            document = facts.evidence.document(entry.path)
        except MissingFact as missing:
            faults.append(Fault(at=Location(path=entry.path), message=missing.message))
            continue
        mapping = document.get("weight_map") if isinstance(document, dict) else None
        if not isinstance(mapping, dict) or not mapping or not all(isinstance(v, str) for v in mapping.values()):
            faults.append(Fault(at=Location(path=entry.path), message="There is no weight_map from tensors to files."))
            continue
        yield _index(entry.path, mapping)


def _index(path: str, mapping: dict[str, Json]) -> Index:
    folder = posixpath.dirname(path)
    files: dict[str, str] = {}
    escapes: set[str] = set()
    for tensor, name in mapping.items():
        target = posixpath.normpath(posixpath.join(folder, str(name)))
        if target.startswith(FOLDER) and "\\" not in target:
            files[tensor] = target
        else:
            escapes.add(str(name))
    return Index(path=path, files=files, escapes=tuple(sorted(escapes)))


def matrices(tensors: Iterable[Tensor], endings: tuple[str, ...]) -> list[Tensor]:
    """The matrices of the language model that are called so."""
    return [
        tensor
        for tensor in tensors
        if len(tensor.shape) == 2
        and any(tensor.name == ending or tensor.name.endswith(f".{ending}") for ending in endings)
        and not any(tower in tensor.name for tower in _OTHER_TOWERS)
    ]


def _matrix(tensors: Sequence[Tensor], endings: tuple[str, ...]) -> tuple[int, int] | None:
    """The shape of the one matrix of the language model that is called so."""
    found = {(tensor.shape[0], tensor.shape[1]) for tensor in matrices(tensors, endings)}
    return found.pop() if len(found) == 1 else None


def is_buffer(tensor: Tensor) -> bool:
    """Whether a tensor is no weight: a mask or a table that the code makes again."""
    return (
        tensor.dtype == "BOOL"
        or (tensor.name.endswith(_BUFFERS) and len(tensor.shape) != 1)
        or (tensor.name.endswith(".inv_freq"))
    )

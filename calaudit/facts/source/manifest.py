"""The source manifest: what the port starts from, and what it is to reach."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from calaudit.facts import Facts, internal
from calaudit.model import Json, Location

PATH = "00-source/source-manifest.json"
FOLDER = "00-source/"
CONFIG = "00-source/hf-config/config.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """One file of the source; ``path`` is port-relative, ``uri`` where it is kept if that is not the port."""

    path: str
    size: int
    sha256: str
    uri: str | None
    at: Location


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """What the model needs besides itself, and under which licence."""

    name: str
    license: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Whether the port is started, who said so and why."""

    go: str
    by: str
    date: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceManifest:
    """What ``source-manifest.json`` says; what it may leave out is None (or empty, for ``dependencies``)."""

    name: ClassVar[str] = "source"

    model_id: str
    model_revision: str
    repository: str | None
    revision: str | None
    license: str
    commercial_use: bool | None
    redistribution: bool | None
    attribution: str | None
    dependencies: tuple[Dependency, ...] | None
    task: str | None
    file_count: int
    parameters: int | None
    tokenizer_vocab: int
    context: tuple[int, ...]
    batch: tuple[int, ...]
    chips: tuple[int, ...]
    decision: Decision | None
    files: tuple[SourceFile, ...] = internal()
    document: dict[str, Any] = internal()

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Read the manifest; MissingFact where it is absent or does not follow its schema."""
        document = facts.evidence.document(PATH)
        assert isinstance(document, dict)  # noqa: S101 - the schema says so
        raw: dict[str, Any] = document
        terms: dict[str, Any] = raw.get("terms", {})
        dependencies = raw.get("dependencies")
        decision = raw.get("decision")
        return cls(
            model_id=raw["model_id"],
            model_revision=raw["model_id"].rpartition("@")[2],
            repository=raw.get("repository"),
            revision=raw.get("revision"),
            license=raw["license"],
            commercial_use=terms.get("commercial_use"),
            redistribution=terms.get("redistribution"),
            attribution=terms.get("attribution"),
            dependencies=None if dependencies is None else tuple(Dependency(**item) for item in dependencies),
            task=raw.get("task"),
            file_count=len(raw["files"]),
            parameters=raw["architecture"].get("parameters"),
            tokenizer_vocab=raw["tokenizer"]["vocab_size"],
            context=tuple(raw["targets"]["context"]),
            batch=tuple(raw["targets"]["batch"]),
            chips=tuple(raw["targets"]["chips"]),
            decision=None if decision is None else Decision(**decision),
            files=tuple(_file(item, n) for n, item in enumerate(raw["files"])),
            document=raw,
        )

    @property
    def architecture(self) -> dict[str, Any]:
        """The architecture as the manifest states it."""
        stated: dict[str, Any] = self.document["architecture"]
        return stated

    def listed(self, path: str) -> SourceFile | None:
        """The entry of a port-relative path."""
        return next((file for file in self.files if file.path == path), None)


def at(pointer: str) -> Location:
    """A place in the manifest."""
    return Location(path=PATH, pointer=pointer)


def _file(raw: dict[str, Any], index: int) -> SourceFile:
    uri: Json = raw.get("uri")
    return SourceFile(
        path=FOLDER + raw["path"],
        size=raw["bytes"],
        sha256=raw["sha256"],
        uri=uri if isinstance(uri, str) else None,
        at=at(f"/files/{index}"),
    )

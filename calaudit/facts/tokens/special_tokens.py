"""BOS and EOS as the source's configuration files name them; foreign documents, so every access is checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from calaudit.errors import MissingFact
from calaudit.facts import Facts, internal
from calaudit.facts.source.manifest import CONFIG
from calaudit.model import Json, Location

GENERATION = "00-source/hf-config/generation_config.json"
TOKENIZER_CONFIG = "00-source/hf-config/tokenizer_config.json"
TOKENS_MAP = "00-source/hf-config/special_tokens_map.json"
"""The older form of what tokenizer_config.json says, still written beside it."""
_KINDS = ("bos", "eos")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedIds:
    """Where ids are named, and which."""

    at: Location
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedToken:
    """Where ``tokenizer_config.json`` names a token, and which."""

    at: Location
    token: str


@dataclass(frozen=True, kw_only=True)
class SpecialTokensFact:
    """What the configuration says of BOS and EOS."""

    name: ClassVar[str] = "special_tokens"

    stop_ids: tuple[int, ...]
    """The ids at which generation stops: those of generation_config.json, else those of config.json."""
    ids: Mapping[str, tuple[NamedIds, ...]] = internal()
    """By ``bos`` and ``eos``: what config.json and generation_config.json name."""
    tokens: Mapping[str, NamedToken | None] = internal()
    """By ``bos`` and ``eos``: what tokenizer_config.json names, or else special_tokens_map.json."""
    adds: Mapping[str, bool | None] = internal()
    """By ``bos`` and ``eos``: whether tokenizer_config.json says that it is added; None where it does not say."""
    faults: tuple[tuple[Location, str], ...] = internal()
    """Values that are no ids or tokens at all."""

    @classmethod
    def derive(cls, facts: Facts) -> Self:
        """Read the files; MissingFact where config.json or tokenizer_config.json is absent or no object."""
        config = _object(facts, CONFIG)
        generation = _object(facts, GENERATION) if GENERATION in facts.evidence.entries else {}
        tokenizer = _object(facts, TOKENIZER_CONFIG)
        older = _object(facts, TOKENS_MAP) if TOKENS_MAP in facts.evidence.entries else {}
        faults: list[tuple[Location, str]] = []
        ids: dict[str, tuple[NamedIds, ...]] = {}
        for kind in _KINDS:
            found = [_ids(CONFIG, config, kind, faults), _ids(GENERATION, generation, kind, faults)]
            ids[kind] = tuple(named for named in found if named is not None)
        return cls(
            stop_ids=ids["eos"][-1].ids if ids["eos"] else (),
            ids=ids,
            tokens={kind: _one_token(tokenizer, older, kind, faults) for kind in _KINDS},
            adds={kind: _adds(tokenizer, kind, faults) for kind in _KINDS},
            faults=tuple(faults),
        )


def _object(facts: Facts, path: str) -> dict[str, Json]:
    document = facts.evidence.document(path)
    if not isinstance(document, dict):
        raise MissingFact(f"{path} is not a JSON object; take it from the model again.", at=Location(path=path))
    return document


def _ids(path: str, config: dict[str, Json], kind: str, faults: list[tuple[Location, str]]) -> NamedIds | None:
    pointer, value = f"/{kind}_token_id", config.get(f"{kind}_token_id")
    text_config = config.get("text_config")
    if value is None and isinstance(text_config, dict):  # a multimodal model keeps its language model's config there
        pointer, value = f"/text_config{pointer}", text_config.get(f"{kind}_token_id")
    if value is None:
        return None
    at = Location(path=path, pointer=pointer)
    values = value if isinstance(value, list) else [value]
    ids = tuple(v for v in values if isinstance(v, int) and not isinstance(v, bool) and v >= 0)
    if len(ids) != len(values) or not ids:
        faults.append((at, "It is neither a token id nor a list of token ids."))
        return None
    return NamedIds(at=at, ids=ids)


def _one_token(
    config: dict[str, Json], older: dict[str, Json], kind: str, faults: list[tuple[Location, str]]
) -> NamedToken | None:
    named, before = _token(TOKENIZER_CONFIG, config, kind, faults), _token(TOKENS_MAP, older, kind, faults)
    if named is not None and before is not None and named.token != before.token:
        faults.append((before.at, f"It is another {kind.upper()} than that of tokenizer_config.json, {named.token!r}."))
    return named or before


def _token(path: str, config: dict[str, Json], kind: str, faults: list[tuple[Location, str]]) -> NamedToken | None:
    value = config.get(f"{kind}_token")
    if isinstance(value, dict):  # the serialized form of an added token
        value = value.get("content")
    if value is None:
        return None
    at = Location(path=path, pointer=f"/{kind}_token")
    if not isinstance(value, str) or not value:
        faults.append((at, "It is not a token."))
        return None
    return NamedToken(at=at, token=value)


def _adds(config: dict[str, Json], kind: str, faults: list[tuple[Location, str]]) -> bool | None:
    value = config.get(f"add_{kind}_token")
    if value is not None and not isinstance(value, bool):
        faults.append((Location(path=TOKENIZER_CONFIG, pointer=f"/add_{kind}_token"), "It is neither true nor false."))
        return None
    return value

"""Overlays: what an organisation adds to the contract and tightens of it, from a policy directory of its own.

It may add rules (``policy/v1`` documents, ``.cue`` files), move params their stricter way and raise levels
(:mod:`calaudit.contract.tightening`). It can lower nothing. Several overlays combine by what is strictest.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any

from calaudit.contract.digest import contract_digest
from calaudit.contract.documents import follow, parse_strictly
from calaudit.contract.params import Param, Profile
from calaudit.contract.policies import PolicyRule, parse_policy
from calaudit.contract.policy_folder import YAML, PolicyFolder, read_folder
from calaudit.contract.schemas import Schemas
from calaudit.contract.tightening import Tightening, parse_tightening
from calaudit.contract.yaml_place import Source
from calaudit.errors import ContractError
from calaudit.model import Json

__all__ = ["CuePolicy", "Overlay", "kind_of", "load_overlay", "load_overlays"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CuePolicy:
    """A policy in CUE: ``source`` is what the facts document of a port must unify with.

    ``name`` is its file's name and ``where`` what messages call the file.
    """

    name: str
    where: str
    source: bytes


@dataclass(frozen=True, kw_only=True)
class Overlay:
    """One policy directory; ``documents`` are what the contract digest covers of it, by file name."""

    path: Path
    policies: tuple[PolicyRule, ...]
    cue: tuple[CuePolicy, ...]
    tightenings: tuple[Tightening, ...]
    documents: Mapping[str, Any]

    def digested(self, today: date) -> dict[str, Any]:
        """The documents, and of each dated one whether it is in force."""
        force = {t.where: t.counts(today) for t in self.tightenings if t.effective_on is not None}
        return {
            name: {**document, "in_force": force[str(self.path / name)]} if str(self.path / name) in force else document
            for name, document in self.documents.items()
        }

    def notes(self, today: date | None) -> tuple[str, ...]:
        """What a report says of it: that it judged, and what of it will count later.

        ``today`` may be None where nothing is dated.
        """
        name = self.path.resolve().name
        later = [t for t in self.tightenings if today is not None and not t.counts(today)]
        now = [subject for t in self.tightenings if t not in later for subject in t.subjects]
        rules = f"{_count(self.policies, 'rule')} in CEL, {_count(self.cue, 'rule')} in CUE"
        told = [f"The policies in {name} judged as well: {rules}, {_count(now, 'value')} tightened."]
        told += [
            f"From {t.effective_on} on, {name}/{Path(t.where).name} tightens {', '.join(t.subjects)}." for t in later
        ]
        return tuple(told)


def _count(items: Sequence[object], what: str) -> str:
    return f"{len(items)} {what}{'' if len(items) == 1 else 's'}"


def load_overlay(path: Path, schemas: Schemas, params: Mapping[str, Param], profiles: Mapping[str, Profile]) -> Overlay:
    """Read and compile a policy directory. ``params`` and ``profiles`` are the shipped ones.

    Raises:
        ContractError: a file is no policy of ours, is faulty, or would loosen something.
    """
    folder = read_folder(path)
    rules: list[PolicyRule] = []
    tightenings: list[Tightening] = []
    documents: dict[str, Any] = {name: {"sha256": sha256(source).hexdigest()} for name, source in folder.cue.items()}
    for name, data in folder.yaml.items():
        where = folder.where(name)
        source = Source(where, path / name)
        document = _document(data, source, schemas)
        documents[name] = document
        if document["schema"] == schemas.tag("overlay/v1"):
            tightenings.append(parse_tightening(document, source, params, profiles))
        else:
            parsed = parse_policy(document, where=where, params=params, path=path / name)
            rules += (replace(rule, shipped=False) for rule in parsed)
    return Overlay(
        path=path,
        policies=tuple(rules),
        cue=tuple(_cue_policies(folder)),
        tightenings=tuple(tightenings),
        documents=MappingProxyType(documents),
    )


def load_overlays(
    paths: Sequence[Path], schemas: Schemas, params: Mapping[str, Param], profiles: Mapping[str, Profile]
) -> tuple[Overlay, ...]:
    """Read several policy directories, in an order that only their contents decide.

    Raises:
        ContractError: as :func:`load_overlay`, or one directory is named twice.
    """
    known: dict[Path, Path] = {}
    for path in paths:
        if path.resolve() in known:
            other = known[path.resolve()]
            raise ContractError(f"The policy directory {path} is given twice (as {other} before); name it once.")
        known[path.resolve()] = path
    found = (load_overlay(path, schemas, params, profiles) for path in paths)
    return tuple(sorted(found, key=_judging))


def _judging(overlay: Overlay) -> str:
    """A digest of what of an overlay judges: the place of the directory and its prose do not order."""
    documents = {f"overlays/{name}": document for name, document in overlay.documents.items()}
    return contract_digest(documents, "", code="")


def kind_of(value: Json, source: Source, schemas: Schemas) -> str:
    """Which schema a YAML file of a policy directory follows by its tag: ``policy/v1`` or ``overlay/v1``.

    Raises:
        ContractError: its tag is neither's.
    """
    tag = value.get("schema") if isinstance(value, dict) else None
    kinds = {schemas.tag(name): name for name in ("policy/v1", "overlay/v1")}
    if not isinstance(tag, str) or tag not in kinds:
        raise ContractError(
            f"{source.place('schema')}: its schema is {tag!r}; a {YAML} file of a policy directory has the schema "
            f"{' or '.join(map(str, kinds))} (cases are called *.test{YAML})."
        )
    return kinds[tag]


def _document(data: bytes, source: Source, schemas: Schemas) -> dict[str, Any]:
    value = parse_strictly(data, source.name)
    return follow(value, source.name, schemas, kind_of(value, source, schemas))


def _cue_policies(folder: PolicyFolder) -> Iterator[CuePolicy]:
    for name, source in folder.cue.items():
        yield CuePolicy(name=name, where=folder.where(name), source=source)

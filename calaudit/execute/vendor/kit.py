"""The vendor kit: one archive with what a vendor has to know to return something that verifies, and nothing else.

The same port and contract give the same bytes. Nothing of the model is in it: what a step reads is named by digest.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from calaudit.checks.common.absolute_path import machine_paths
from calaudit.checks.common.secret_found import PATTERNS
from calaudit.contract import Contract
from calaudit.contract.globs import Glob
from calaudit.errors import Malformed, UsageError
from calaudit.evidence import Block
from calaudit.evidence.strict_json import parse_json
from calaudit.execute.manifest import chain_of, read_manifest
from calaudit.execute.record import Tree
from calaudit.execute.vendor.definitions import definitions, schemas_for, vettable
from calaudit.execute.vendor.readme import readme
from calaudit.execute.vendor.tar_pack import pack
from calaudit.execute.vendor.unpacked import KIT_MANIFEST, KIT_SCHEMA
from calaudit.facts.vendor.kickoff import ITEMS
from calaudit.facts.vendor.kickoff import PATH as KICKOFF
from calaudit.trust.envelope import SIZE_MAX, parse_envelope
from calaudit.trust.roles import ROLES
from calaudit.trust.steps import LAYOUT, ChainStep
from calaudit.version import VERSION

__all__ = ["Kit", "make_kit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kit:
    """The archive's bytes, and the manifest in it."""

    data: bytes
    manifest: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Owed:
    """What the kick-off says: who owes, and the deliverables that did not come."""

    vendor: str | None
    missing: tuple[str, ...]


def make_kit(port: Path, contract: Contract, roles: Sequence[str]) -> Kit:
    """The kit for whoever plays these roles.

    Raises:
        UsageError: a role is none, the port's manifest or kick-off is faulty, or what would be packed holds a secret
            or names a place on a machine.
    """
    stranger = next((role for role in roles if role not in ROLES), None)
    if stranger is not None or not roles:
        raise UsageError(f"There is no role {stranger!r}; roles are {', '.join(ROLES)}.")
    chosen = [role for role in ROLES if role in roles]
    manifest = read_manifest(port, contract.schemas)
    steps = [step for step in chain_of(manifest) if step.role in chosen]
    files = dict(_of_port(port, manifest, steps))
    for path, data in files.items():
        _demand_clean(path, parse_envelope(path, data).payload if path == LAYOUT else data)
    owed = _owed(files.get(KICKOFF), contract)
    schemas = schemas_for(steps, contract, layout=LAYOUT in files)
    files |= definitions(schemas)
    described = [_described(step, port) for step in steps]
    files["README.md"] = readme(
        port=manifest["id"],
        roles=chosen,
        steps=steps,
        missing={item: ITEMS[item] for item in owed.missing},
        documents=dict(vettable(schemas, files, contract)),
        layout=LAYOUT in files,
    ).encode()
    told: dict[str, Any] = {
        "schema": contract.schemas.tag(KIT_SCHEMA),
        "port": manifest["id"],
        "calaudit": VERSION,
        "contract": contract.digest,
        "roles": chosen,
        "steps": described,
        "layout": LAYOUT if LAYOUT in files else None,
        "kickoff": {"vendor": owed.vendor, "missing": list(owed.missing)},
        "files": [
            {"path": path, "bytes": len(data), "sha256": sha256(data).hexdigest()}
            for path, data in sorted(files.items())
        ],
    }
    wrong = next(iter(contract.schemas.errors(KIT_SCHEMA, told)), None)
    if wrong is not None:
        raise UsageError(f"The kit's manifest would be faulty at {wrong.pointer}: {wrong.message}")
    files[KIT_MANIFEST] = _to_bytes(told)
    return Kit(data=pack(files), manifest=told)


def _of_port(port: Path, manifest: Mapping[str, Any], steps: Sequence[ChainStep]) -> Iterator[tuple[str, bytes]]:
    """What of the port a vendor gets: its name, the vendor's steps, the kick-off list, the layout."""
    own = {name: manifest[name] for name in ("schema", "id", "profile", "stage", "claim")}
    if steps:
        own["steps"] = {step.name: manifest["steps"][step.name] for step in steps}
    yield "port.yaml", _to_bytes(own)  # JSON is YAML
    kickoff = _read(port / KICKOFF)
    if kickoff is not None:
        yield KICKOFF, kickoff
    layout = _read(port / LAYOUT)
    if layout is not None:
        try:
            parse_envelope(LAYOUT, layout)
        except Malformed as error:
            raise UsageError(f"{LAYOUT} is no layout: {error.message}") from error
        yield LAYOUT, layout


def _owed(data: bytes | None, contract: Contract) -> Owed:
    if data is None:
        return Owed(vendor=None, missing=tuple(ITEMS))
    try:
        document: Any = parse_json(data)
    except Malformed as error:
        raise UsageError(f"{KICKOFF} is malformed: {error.message}") from error
    for problem in contract.schemas.errors("kickoff/v1", document):
        raise UsageError(f"{KICKOFF}#{problem.pointer}: {problem.message}")
    lacking = {item["id"] for item in document["items"] if item["digest"] is None}
    received = {item["id"] for item in document["items"]} - lacking
    return Owed(vendor=document["vendor"], missing=tuple(item for item in ITEMS if item not in received))


def _described(step: ChainStep, port: Path) -> dict[str, Any]:
    """A step, and what it reads as the port has it now."""
    materials = step.consumed(Tree(port).digests(step.inputs))
    missing = [pattern for pattern in step.inputs if not any(Glob(pattern).matches(path) for path in materials)]
    return {
        "name": step.name,
        "gate": step.gate,
        "role": step.role,
        "materials": [{"path": path, "sha256": digest} for path, digest in sorted(materials.items())],
        "missing": missing,
    }


def _demand_clean(path: str, data: bytes) -> None:
    """Refuse what must not leave the house."""
    named = next(machine_paths(Block(1, data)), None)
    if named is not None:
        raise UsageError(
            f"{path}:{named[1]} names {named[0].decode(errors='replace')}, a place on one machine. Mend it."
        )
    for pattern in PATTERNS:
        if pattern.compiled.search(data):
            raise UsageError(
                f"{path} seems to hold {pattern.what}; a kit is read by others. Take it out, and revoke it."
            )


def _read(path: Path) -> bytes | None:
    try:
        if path.is_symlink() or path.parent.is_symlink():
            raise UsageError(f"{path} is, or lies behind, a link; a port holds its own files.")
        with path.open("rb") as file:
            return file.read(SIZE_MAX + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error


def _to_bytes(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, indent=2, ensure_ascii=False).encode() + b"\n"

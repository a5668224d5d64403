"""What came signed, held against what came with it, against the port, and against the registry."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from calaudit.contract import Schemas
from calaudit.errors import Malformed
from calaudit.evidence.strict_json import parse_json
from calaudit.execute.vendor.admission import Kind, Received
from calaudit.trust import Refused
from calaudit.trust.envelope import SIZE_MAX, Envelope, parse_envelope, parse_statement
from calaudit.trust.link import parse_link, verify_link
from calaudit.trust.provenance import verify_provenance
from calaudit.trust.registry import Registry
from calaudit.trust.steps import LAYOUT, ChainStep

__all__ = ["Ground", "Statement", "check_products", "outdated", "read_statement", "verify"]

_FOLDER = "attestations/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What one attestation says of one run."""

    path: str
    step: str
    envelope: Envelope
    materials: Mapping[str, str]
    products: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What statements are verified against: ``files`` are the port's, as they will be."""

    port: str
    chain: Sequence[ChainStep]
    files: Mapping[str, str]
    elsewhere: Mapping[str, str]
    registry: Registry
    schemas: Schemas
    now: datetime


def read_statement(received: Received, port: str, schemas: Schemas) -> Statement:
    """The statement in a received attestation; who signed it is another question.

    Raises:
        Malformed: it is no envelope, says nothing that is known, or speaks of another step or port.
    """
    try:
        return _read(received, port, schemas)
    except Malformed as error:
        raise Malformed(f"{received.path}: {error.message}") from error


def check_products(received: Iterable[Received], statements: Sequence[Statement], files: Mapping[str, str]) -> None:
    """Hold what is attested against the bytes: those that came, and those that are in the port already.

    Raises:
        Malformed: a product is another file than was attested, is missing, or is attested by nobody.
    """
    for statement in statements:
        for path, digest in statement.products.items():
            if files.get(path) != digest:
                found = files.get(path, "no such file")
                raise Malformed(f"{statement.path} attests {path} with the digest {digest}. Found: {found}.")
    linked = {(s.step, path) for s in statements if s.path.endswith(".link") for path in s.products}
    for one in received:
        if one.kind is Kind.PRODUCT and (one.step, one.path) not in linked:
            raise Malformed(f"{one.path} is a product of {one.step}, and no link that came with it attests it.")


def verify(statement: Statement, ground: Ground) -> str:
    """Who signed a statement that holds, by the code that verifies it in the port.

    Raises:
        Malformed: it would be refused there; the message names the rule.
    """
    try:
        if statement.path.endswith(".link"):
            link = verify_link(
                statement.envelope,
                chain={step.name: step for step in ground.chain},
                files=ground.files,
                elsewhere=ground.elsewhere,
                registry=ground.registry,
                schemas=ground.schemas,
            )
            return f"{link.signer.owner.name} ({link.signer.role})"
        proved = verify_provenance(
            statement.envelope,
            port=ground.port,
            files=ground.files,
            registry=ground.registry,
            schemas=ground.schemas,
            now=ground.now,
        )
    except Refused as refused:
        raise Malformed(f"{statement.path} does not hold ({refused.fault.rule}): {refused.fault.message}") from refused
    step = next(step for step in ground.chain if step.name == statement.step)
    if (proved.role, proved.gate) != (step.role, step.gate):
        raise Malformed(
            f"{statement.path} is signed for {proved.role} and {proved.gate}; it should be {step.role}, {step.gate}."
        )
    return f"{proved.owner} ({step.functionary})"


def outdated(port: Path, paths: Iterable[str], statements: Sequence[Statement]) -> Iterator[str]:
    """Attestations in the port, by their paths, that speak of other files than those that came for their steps."""
    fresh = {s.step: (s.materials, s.products) for s in statements}
    came = {s.path for s in statements}
    for path in paths:
        step = path.removeprefix(_FOLDER).partition(".")[0]
        if not path.startswith(_FOLDER) or path == LAYOUT or path in came or step not in fresh:
            continue
        try:
            with (port / path).open("rb") as file:
                said: Any = parse_json(parse_envelope(path, file.read(SIZE_MAX + 1)).payload)
            if path.endswith(".link"):
                told = _hashes(said, "materials", "products")
            else:
                told = (
                    _resources(said["predicate"]["buildDefinition"]["resolvedDependencies"]),
                    _resources(said["subject"]),
                )
        except (Malformed, KeyError, TypeError, AttributeError):
            told = ({}, {})
        if told != fresh[step]:
            yield path


def _read(received: Received, port: str, schemas: Schemas) -> Statement:
    envelope = parse_envelope(received.path, received.staged.read_bytes())
    if received.kind is Kind.LINK:
        document = parse_link(envelope, schemas)
        return _statement(received, envelope, document["name"], _hashes(document, "materials", "products"))
    document = parse_statement(envelope, "provenance/v1", schemas)
    definition = document["predicate"]["buildDefinition"]
    external = definition["externalParameters"]
    if external["port"] != port:
        raise Malformed(f"It is of the port {external['port']}, not of {port}.")
    sides = (_resources(definition["resolvedDependencies"]), _resources(document["subject"]))
    return _statement(received, envelope, external["step"], sides)


def _statement(
    received: Received, envelope: Envelope, step: str, sides: tuple[Mapping[str, str], Mapping[str, str]]
) -> Statement:
    if step != received.step:
        raise Malformed(f"It is of the step {step}, under the name of another.")
    return Statement(path=received.path, step=step, envelope=envelope, materials=sides[0], products=sides[1])


def _hashes(document: Mapping[str, Any], *sides: str) -> tuple[dict[str, str], dict[str, str]]:
    materials, products = ({path: item["sha256"] for path, item in document[side].items()} for side in sides)
    return materials, products


def _resources(items: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    found = {item["name"]: item["digest"]["sha256"] for item in items}
    if len(found) != len(items):
        raise Malformed("It names a file twice.")
    return found

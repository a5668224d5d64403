"""Provenance: a functionary's word that one invocation of one step read these files and wrote those (SLSA v1)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from calaudit.contract import Schemas
from calaudit.errors import Malformed
from calaudit.model import Location
from calaudit.trust.envelope import Envelope, parse_statement
from calaudit.trust.fault import Refused, unknown_port
from calaudit.trust.isolation import Isolation, attested_isolation
from calaudit.trust.moment import parse_time
from calaudit.trust.registry import Registry
from calaudit.trust.roles import FUNCTIONARY
from calaudit.trust.signatures import signers

__all__ = ["Provenance", "verify_provenance"]

_NAME = re.compile(
    r"attestations/(?P<step>[a-z0-9][a-z0-9-]*)\.(?P<keyid>[0-9a-f]{8})\.(?P<number>[1-9][0-9]*)\.dsse\.json"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """One attested invocation; ``role`` is the role whose functionary signed, ``owner`` the functionary's name.

    ``isolation`` is None where nobody knows what the builder enforces; ``image`` is the container's, if there was one,
    ``internal`` what the executor says of itself, which no schema describes.
    """

    path: str
    role: str
    owner: str
    step: str
    gate: str
    command: tuple[str, ...]
    invocation: str
    builder: str
    isolation: Isolation | None
    image: str | None
    internal: Mapping[str, Any]
    started: datetime
    finished: datetime
    products: Mapping[str, str]
    materials: Mapping[str, str]


def verify_provenance(  # noqa: PLR0913 - everything that provenance is held against
    envelope: Envelope,
    *,
    port: str | None,
    files: Mapping[str, str],
    registry: Registry,
    schemas: Schemas,
    now: datetime,
) -> Provenance:
    """Verify one provenance statement; its products are the bytes that are there.

    ``port`` is None where the port's id cannot be read: then none holds.

    Raises:
        Refused: with the rule of the first step that does not hold.
    """
    at = Location(path=envelope.path)
    # 1. What it says.
    name = _NAME.fullmatch(envelope.path)
    if name is None:
        raise Refused(
            "envelope-malformed", "Provenance is called <step>.<first 8 of the key id>.<number>.dsse.json.", at=at
        )
    try:
        statement = parse_statement(envelope, "provenance/v1", schemas)
        metadata = statement["predicate"]["runDetails"]["metadata"]
        started, finished = parse_time(metadata["startedOn"]), parse_time(metadata["finishedOn"])
    except Malformed as error:
        raise Refused("envelope-malformed", error.message, at=at) from error
    # 2. One functionary says it; an owner's key signs no runs.
    roles = [role for role in registry.roles.values() if role.name.endswith(FUNCTIONARY)]
    signed = signers([envelope], roles, registry, None, prefix="attestation")
    if len(signed) != 1 or not signed[0].keyid.startswith(name["keyid"]):
        raise Refused("attestation-wrong-role", "Provenance has one signer, and its name begins that key's id.", at=at)
    definition = statement["predicate"]["buildDefinition"]
    external = definition["externalParameters"]
    # 3. It is of this port and of the step that its name says, and it is over.
    for member, wanted in (("port", port), ("step", name["step"])):
        if wanted is not None and external[member] != wanted:
            raise Refused(
                "attestation-replayed",
                f"It is of the {member} {external[member]}.",
                at=at,
                expected=wanted,
                actual=external[member],
            )
    _over(started, finished, now, at)
    # 4. What it wrote is what is there, and so is what it read.
    products = _digests(statement["subject"], at)
    materials = _digests(definition["resolvedDependencies"], at)
    for path, digest in {**products, **{p: d for p, d in materials.items() if p in files}}.items():
        if files.get(path) != digest:
            raise Refused(
                "attestation-stale",
                f"{path} {'is gone' if path not in files else 'changed'} since the run.",
                at=at,
                expected=digest,
                actual=files.get(path, "none"),
            )
    if port is None:
        raise unknown_port("attestation-replayed", external["port"], at)
    builder = statement["predicate"]["runDetails"]["builder"]["id"]
    internal = definition.get("internalParameters", {})
    return Provenance(
        path=envelope.path,
        role=signed[0].role.removesuffix(FUNCTIONARY),
        owner=signed[0].owner.name,
        step=external["step"],
        gate=external["gate"],
        command=tuple(external["command"]),
        invocation=metadata["invocationId"],
        builder=builder,
        isolation=attested_isolation(builder, internal),
        image=_image(internal),
        internal=internal,
        started=started,
        finished=finished,
        products=products,
        materials=materials,
    )


def _over(started: datetime, finished: datetime, now: datetime, at: Location) -> None:
    if started > finished:
        raise Refused("attestation-replayed", "It began after it ended.", at=at)
    if finished > now:
        # Whoever judges at a moment that is past (--at) is told of the moment: nothing is wrong with such a run.
        raise Refused(
            "attestation-replayed",
            "It ends after the moment at which the port is judged: that moment is too early (--at, or the clock), or "
            "the run's times are wrong.",
            at=at,
            expected=f"{now:%Y-%m-%dT%H:%M:%SZ} or before",
            actual=f"{finished:%Y-%m-%dT%H:%M:%SZ}",
        )


def _image(internal: Mapping[str, Any]) -> str | None:
    executor = internal.get("executor")
    image = executor.get("image") if isinstance(executor, dict) else None
    return image if isinstance(image, str) else None


def _digests(items: list[dict[str, object]], at: Location) -> dict[str, str]:
    found: dict[str, str] = {}
    for item in items:
        name, digest = str(item["name"]), item["digest"]
        if name in found:
            raise Refused("envelope-malformed", f"{name} stands there twice.", at=at)
        assert isinstance(digest, dict)  # noqa: S101 - the schema says so
        found[name] = str(digest["sha256"])
    return found

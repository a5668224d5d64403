"""Attestations: provenance of single runs, and the layout and links that chain the steps."""

from collections.abc import Iterator, Sequence
from typing import Any, cast

from calaudit.errors import Malformed, MissingFact
from calaudit.model import PORT, Kind, Location
from calaudit.signed.grounds import Grounds
from calaudit.trust import Fault, Refused
from calaudit.trust.chain import Chain, Expected, verify_chain
from calaudit.trust.provenance import Provenance, verify_provenance
from calaudit.trust.steps import LAYOUT, ChainStep, read_chain

__all__ = ["read_attestations", "read_links"]

MANIFEST = "port.yaml"


def read_attestations(grounds: Grounds, faults: list[Fault]) -> Iterator[Provenance]:
    """The provenance that holds, each of another invocation; what does not hold goes to ``faults``."""
    seen: dict[str, str] = {}
    for path in grounds.below("attestations/"):
        if path == LAYOUT or path.endswith(".link"):
            continue  # see read_links
        if not path.endswith(".dsse.json"):
            message = f"It is no link (*.link), no provenance (*.dsse.json) and not {LAYOUT}: nobody verifies it."
            faults.append(Fault(rule="attestation-unexpected", message=message, at=Location(path=path), kind=Kind.OPEN))
            continue
        try:
            provenance = verify_provenance(
                grounds.envelope(path),
                port=grounds.port_id,
                files=grounds.files,
                registry=grounds.registry,
                schemas=grounds.contract.schemas,
                now=grounds.trust.now,
            )
        except Refused as refused:
            faults.append(refused.fault)
            continue
        if provenance.invocation in seen:
            message = f"It attests the invocation {provenance.invocation}, as {seen[provenance.invocation]} does."
            faults.append(Fault(rule="attestation-replayed", message=message, at=Location(path=path)))
            continue
        seen[provenance.invocation] = path
        yield provenance


def read_links(grounds: Grounds, provenance: Sequence[Provenance], faults: list[Fault]) -> Chain | None:
    """What the layout and the links come to; None where the port has neither."""
    paths = grounds.below("attestations/")
    layout, links = LAYOUT in grounds.evidence.entries, [path for path in paths if path.endswith(".link")]
    if not layout and not links:
        return None
    expected = Expected(
        port=grounds.port.id,
        steps=_steps(grounds),
        gates=frozenset({*grounds.technical, PORT}),
        gate_of=grounds.contract.gates.gate_of,
        files=grounds.files,
        elsewhere=_elsewhere(grounds),
        registry=grounds.registry,
        schemas=grounds.contract.schemas,
        now=grounds.trust.now,
    )
    chain = verify_chain(LAYOUT if layout else None, links, grounds.envelope, provenance, expected)
    faults += chain.faults
    return chain


def _steps(grounds: Grounds) -> tuple[ChainStep, ...] | Malformed | MissingFact:
    try:
        return read_chain(grounds.evidence.document(MANIFEST))
    except MissingFact as missing:
        return MissingFact(missing.message, at=_cause(grounds) or missing.at)
    except Malformed as error:
        return error


def _cause(grounds: Grounds) -> Location | None:
    """Where the manifest is wrong, to the line where that is known: whoever mends it there mends the chain."""
    places = [problem.location for problem in grounds.evidence.problems if problem.location.path == MANIFEST]
    return min(places, key=lambda place: place.line is None, default=None)


def _elsewhere(grounds: Grounds) -> dict[str, str]:
    """What the source manifest says is kept in another place, by where it would be."""
    try:
        manifest = cast("dict[str, Any]", grounds.evidence.document("00-source/source-manifest.json"))
    except MissingFact:
        return {}
    return {f"00-source/{item['path']}": item["sha256"] for item in manifest["files"] if item.get("uri")}

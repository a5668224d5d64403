"""The attestations of a step that lie in a port: provenance, verified where there is a registry, and links."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

from calaudit.contract import Schemas
from calaudit.errors import Malformed
from calaudit.evidence.strict_json import parse_json
from calaudit.execute.nouns import Step
from calaudit.trust import Refused
from calaudit.trust.envelope import SIZE_MAX, Envelope, parse_envelope, parse_statement
from calaudit.trust.provenance import verify_provenance
from calaudit.trust.registry import Registry

__all__ = ["Attested", "attestation_files", "attested", "digests_named", "number_for", "outdated", "read_envelope"]

_FOLDER = "attestations"
_SCHEMA = "provenance/v1"
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")
_LAST = 999_999_999


@dataclass(frozen=True, slots=True, kw_only=True)
class Attested:
    """One provenance statement of a step; ``fault`` says why it proves nothing, if it does not."""

    path: str
    statement: Mapping[str, Any]
    finished: datetime | None
    fault: str | None


def attested(  # noqa: PLR0913 - everything that a statement is verified against
    port: Path,
    step: Step,
    *,
    name: str,
    files: Mapping[str, str],
    registry: Registry | None,
    schemas: Schemas,
    now: datetime,
) -> list[Attested]:
    """Every provenance statement of a step, verified where there is a registry."""
    found = []
    for path in attestation_files(port, step.name, ".dsse.json"):
        try:
            envelope = read_envelope(port, path)
            statement = parse_statement(envelope, _SCHEMA, schemas)
        except (Malformed, OSError) as error:
            found.append(Attested(path=path, statement={}, finished=None, fault=f"{path} cannot be read: {error}"))
            continue
        fault: str | None = "nothing vouches for its signature"
        finished = None
        if registry is not None:
            try:
                proved = verify_provenance(
                    envelope, port=name, files=files, registry=registry, schemas=schemas, now=now
                )
                wrong = proved.role != step.role
                fault, finished = (f"{path} is signed for {proved.role}" if wrong else None), proved.finished
            except Refused as refused:
                fault = refused.fault.message
        found.append(Attested(path=path, statement=statement, finished=finished, fault=fault))
    return found


def outdated(port: Path, step: Step, *, materials: Mapping[str, str], products: Mapping[str, str]) -> list[str]:
    """The step's attestations that a run with these materials and products makes false, and its links.

    Statements of runs that read and wrote the same stay: they are the other builds of a rebuild.
    """
    gone = attestation_files(port, step.name, ".link")
    for path in attestation_files(port, step.name, ".dsse.json"):
        try:
            statement = _plain(read_envelope(port, path))
            same = digests_named(statement["subject"]) == products
            same = (
                same and digests_named(statement["predicate"]["buildDefinition"]["resolvedDependencies"]) == materials
            )
        except (Malformed, OSError, KeyError, TypeError):
            same = False
        if not same:
            gone.append(path)
    return gone


def number_for(port: Path, step: Step, keyid: str, *, without: Sequence[str]) -> int:
    """The number of the next statement by a key, when those in ``without`` are taken away.

    It is one that has a name: at most nine digits, whatever names lie there.
    """
    names = [path.split(".") for path in attestation_files(port, step.name, ".dsse.json") if path not in without]
    taken = {int(name[2]) for name in names if len(name) == 5 and name[1] == keyid[:8] and _NUMBER.fullmatch(name[2])}
    following = max(taken, default=0) + 1
    return following if following <= _LAST else next(n for n in count(1) if n not in taken)


def attestation_files(port: Path, step: str, ending: str) -> list[str]:
    """The paths of a step's attestations that end in this way, in order."""
    folder = port / _FOLDER
    if not folder.is_dir() or folder.is_symlink():
        return []
    # A step's name holds no dot, so `reference.` is not the beginning of another step's.
    return sorted(
        f"{_FOLDER}/{path.name}"
        for path in folder.iterdir()
        if path.name.startswith(f"{step}.") and path.name.endswith(ending)
    )


def read_envelope(port: Path, path: str) -> Envelope:
    """One of them.

    Raises:
        Malformed: it is no envelope.
        OSError: it cannot be read.
    """
    with (port / path).open("rb") as file:
        return parse_envelope(path, file.read(SIZE_MAX + 1))


def _plain(envelope: Envelope) -> Any:
    return parse_json(envelope.payload)


def digests_named(items: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The digests in a list of in-toto's resource descriptors, by name."""
    return {item["name"]: item["digest"]["sha256"] for item in items}

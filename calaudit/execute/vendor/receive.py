"""Receiving: what came back is unpacked, checked and judged outside the port, and only then put into it, at once.

Until :meth:`Delivery.land` nothing in the port is written; that goes through the journal, whole or not at all.
"""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from calaudit.errors import Malformed, UsageError
from calaudit.execute import journal
from calaudit.execute.lock import locked
from calaudit.execute.manifest import chain_of, read_manifest
from calaudit.execute.record import Tree, kept_elsewhere
from calaudit.execute.vendor.admission import Received, admit, check_document
from calaudit.execute.vendor.delivery import Delivery, Desk
from calaudit.execute.vendor.places import Places
from calaudit.execute.vendor.staging import Staged, opened
from calaudit.execute.vendor.statements import (
    Ground,
    Statement,
    check_products,
    outdated,
    read_statement,
    verify,
)
from calaudit.execute.vendor.tar import Member, unpack
from calaudit.execute.workspace import copy_file, workspace
from calaudit.model import Kind as Outcome
from calaudit.model import Report, Result
from calaudit.trust.steps import ChainStep

__all__ = ["Delivery", "Desk", "received"]

_ATTESTED_MAX = 64 << 20
"""Bytes of all attestations in one archive: they are held against each other in memory."""

_READING = frozenset(
    {"schema-invalid", "schema-unknown", "document-malformed", "control-character", "file-unreadable", "name-collision"}
)
"""Rules that say that a file cannot be read as what it is."""


@contextmanager
def received(archive: Path, desk: Desk) -> Iterator[Delivery]:
    """Check an archive; while this is entered, nobody else runs steps of the port.

    Raises:
        UsageError: something in it is not received, does not hold, or is in the way. Nothing was written.
    """
    with locked(desk.port):
        if journal.pending(desk.port):
            raise UsageError(
                "A publication into the port was cut off. Run `calaudit run` on it first: that completes it."
            )
        with workspace(desk.spaces, str(uuid.uuid4())) as space:
            try:
                yield _Reception(archive, desk, space.port, space.private).run()
            except Malformed as error:
                raise UsageError(f"{archive}: {error.message} Nothing was received.") from error


@dataclass
class _Reception:
    archive: Path
    desk: Desk
    overlay: Path
    staging: Path
    files: list[Received] = field(default_factory=list)

    def run(self) -> Delivery:
        desk = self.desk
        schemas, gates = desk.contract.schemas, desk.contract.gates
        manifest = read_manifest(desk.port, schemas)
        chain = chain_of(manifest)
        tree = Tree(desk.port)
        present = tree.digests()
        self._unpack(chain, Places(present))
        statements = []
        for one in self.files:
            if one.kind.is_attestation:
                statements.append(read_statement(one, manifest["id"], schemas))
            else:
                check_document(one, gates, schemas)
        came = {one.path: one.sha256 for one in self.files}
        removed = self._removed(chain, present, statements)
        unchanged = frozenset(path for path, digest in came.items() if present.get(path) == digest)
        replaced = {path: present[path] for path in came if path in present and path not in unchanged}
        self._demand_room(replaced, removed)
        files = {path: digest for path, digest in {**present, **came}.items() if path not in removed}
        check_products(self.files, statements, files)
        signers = self._verify(manifest["id"], chain, statements, files)
        before, after = self._judge(present, removed)
        attested = {path for statement in statements for path in statement.products}
        return Delivery(
            port=desk.port,
            files=tuple(self.files),
            replaced=replaced,
            unchanged=unchanged,
            removed=removed,
            signers=signers,
            unsigned=tuple(o.path for o in self.files if not o.kind.is_attestation and o.path not in attested),
            before=before,
            after=after,
            present=present,
            tree=tree,
        )

    def _unpack(self, chain: Sequence[ChainStep], places: Places) -> None:
        def take(member: Member) -> Staged:
            ticket = admit(member.path, chain, self.desk.contract.gates)
            if ticket.limit is not None and member.size > ticket.limit:
                raise Malformed(f"{member.path} has {member.size} bytes; {ticket.kind}s have at most {ticket.limit}.")
            attested = sum(one.size for one in self.files if one.kind.is_attestation)
            if ticket.kind.is_attestation and attested + member.size > _ATTESTED_MAX:
                raise Malformed(f"With {member.path} its attestations have more than {_ATTESTED_MAX} bytes.")
            places.add_file(member.path)
            return Staged(self.staging / f"received-{len(self.files)}", member, ticket, self.files.append)

        with opened(self.archive) as file:
            unpack(file, take, self.desk.limits, places.add_folder)
        self.files.sort(key=lambda one: one.path)
        if not self.files:
            raise Malformed("There is no file in it.")

    def _removed(
        self, chain: Sequence[ChainStep], present: Mapping[str, str], statements: Sequence[Statement]
    ) -> tuple[str, ...]:
        """What of the port is of other files than those that came."""
        gone = set(outdated(self.desk.port, present, statements))
        made = {s.step: s.products for s in statements if s.path.endswith(".link")}
        for step in chain:
            if step.name in made:
                gone |= {path for path in present if step.writes(path) and path not in made[step.name]}
        return tuple(sorted(gone))

    def _demand_room(self, replaced: Mapping[str, str], removed: Sequence[str]) -> None:
        if self.desk.replace or not (replaced or removed):
            return
        listed = [f"{path} (replaced; it has {digest})" for path, digest in sorted(replaced.items())]
        listed += [f"{path} (removed; it is of other files than those that came)" for path in removed]
        more = f" and {len(listed) - 5} more" if listed[5:] else ""
        raise Malformed(f"Files of the port would go: {'; '.join(listed[:5])}{more}. --replace lets them.")

    def _verify(
        self, port: str, chain: Sequence[ChainStep], statements: Sequence[Statement], files: Mapping[str, str]
    ) -> dict[str, str]:
        desk = self.desk
        if desk.registry is None:
            return {}
        ground = Ground(
            port=port,
            chain=chain,
            files=files,
            elsewhere=kept_elsewhere(desk.port, desk.contract.schemas),
            registry=desk.registry,
            schemas=desk.contract.schemas,
            now=desk.now,
        )
        return {statement.path: verify(statement, ground) for statement in statements}

    def _judge(self, present: Mapping[str, str], removed: Sequence[str]) -> tuple[Report, Report]:
        """The port as it is judged now, and as it would be: what cannot be read, or holds not, is refused."""
        came = {one.path: one.staged for one in self.files}
        for path in present.keys() - came.keys() - set(removed):
            _put(self.desk.port / path, self.overlay / path)
        for path, staged in came.items():
            _put(staged, self.overlay / path)
        before, after = self.desk.judge(self.desk.port), self.desk.judge(self.overlay)
        known, verified = {_key(result) for result in before.findings}, self.desk.registry is not None
        for result in after.findings:
            path = "" if result.location is None else result.location.path
            if _key(result) in known or result.kind is not Outcome.FAIL:
                continue
            if (path in came and result.rule in _READING) or (verified and path.startswith("attestations/")):
                raise Malformed(f"In the port it would not hold ({result.rule}): {result.location}: {result.message}")
        return before, after


def _put(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    copy_file(source, target)


def _key(result: Result) -> tuple[str, str, str, str]:
    return (result.gate, result.rule, str(result.location), result.message)

"""``calaudit receive``: take what a vendor returned into a port."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from calaudit.cli._judging import trust_option, trust_source
from calaudit.cli._keys import confirm, say, yes_option
from calaudit.cli._shared import PortPath, cue_option, policy_option, vetter_for
from calaudit.errors import UsageError

if TYPE_CHECKING:
    from calaudit.contract import Contract
    from calaudit.execute.vendor.delivery import Delivery
    from calaudit.model import GateReport, Report
    from calaudit.trust import TrustSource
    from calaudit.trust.registry import Registry

__all__ = ["command"]

_SHOWN = 20


@click.command("receive", epilog="Exit: 0 received (or shown, with --dry-run), 2 refused.")
@click.argument("archive", metavar="ARCHIVE", type=click.Path(path_type=Path))
@click.argument("port", metavar="PORT", type=PortPath(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Check everything, show what would change, and write nothing.")
@click.option("--replace", is_flag=True, help="Let files of the port be replaced, and what they made stale be removed.")
@click.option(
    "--unsafe-unverified", "unverified", is_flag=True, help="Ask for nobody's signature; anybody can have sent it."
)
@click.option("--max-bytes", metavar="N", type=click.IntRange(min=1), help="What the files may have together; 16 GiB.")
@click.option("--all", "everything", is_flag=True, help="List every file and finding.")
@trust_option
@policy_option
@cue_option
@yes_option
def command(  # noqa: PLR0913 - one parameter an option
    *,
    archive: Path,
    port: Path,
    dry_run: bool,
    replace: bool,
    unverified: bool,
    max_bytes: int | None,
    everything: bool,
    trust: Path | None,
    policies: Sequence[Path],
    cue: Path | None,
    yes: bool,
) -> int:
    """Take what a vendor returned into a port, all of it or nothing.

    ARCHIVE is a plain tar archive with links and provenance of steps (attestations/), what these steps made, and
    documents for vendor/. Names, sizes, schemas, signatures and digests are checked, and the port is audited with and
    without it, before anything is written.
    """
    from calaudit.api import audit
    from calaudit.contract import load_contract
    from calaudit.execute.vendor.delivery import Desk
    from calaudit.execute.vendor.receive import received
    from calaudit.execute.vendor.tar import Limits
    from calaudit.pins.store import state_directory

    contract = load_contract(overlays=policies)
    source = trust_source(trust)
    now = datetime.now(UTC).replace(microsecond=0)
    vetter = vetter_for(contract.cue, cue, port)
    desk = Desk(
        port=port,
        contract=contract,
        judge=lambda folder: audit(folder, contract=contract, trust=source, at=now, vetter=vetter),
        spaces=state_directory() / "runs",
        now=now,
        registry=_registry(source, contract, port, now, unverified=unverified, named=trust is not None),
        replace=replace,
        limits=Limits() if max_bytes is None else Limits(size=max_bytes),
    )
    with received(archive, desk) as delivery:
        _show(delivery, limit=None if everything else _SHOWN, unverified=unverified)
        if not delivery.fresh and not delivery.removed:
            say("Nothing is new.")
            return 0
        if dry_run:
            say("Nothing was received (--dry-run).")
            return 0
        confirm("Receive this?", yes=yes)
        delivery.land()
    say(f"Received: {len(delivery.fresh)} file(s).")
    if any(one.path.startswith("vendor/") for one in delivery.fresh):
        say(f"The compiler role answers for vendor/: calaudit signoff port {port} --role compiler")
    return 0


def _registry(  # noqa: PLR0913 - what decides whether signatures are asked for
    source: "TrustSource | None", contract: "Contract", port: Path, now: datetime, *, unverified: bool, named: bool
) -> "Registry | None":
    """The registry whose functionaries must have signed; None where somebody insists on nobody."""
    from calaudit.execute.manifest import read_manifest
    from calaudit.sign.authority import established

    if unverified:
        if named:
            raise UsageError("--unsafe-unverified and --trust contradict each other.")
        return None
    if source is None:
        raise UsageError(
            "No trust root is pinned, so that nobody's signature could be verified, and nothing is received. Pin one "
            "(calaudit trust pin DIR), name one with --trust DIR, or say --unsafe-unverified to take it from anybody."
        )
    return established(source, now, contract.schemas, read_manifest(port, contract.schemas)["id"])[1]


def _show(delivery: "Delivery", *, limit: int | None, unverified: bool) -> None:
    from calaudit.cli._signing import some

    if unverified:
        say("UNVERIFIED (--unsafe-unverified): no signature was checked, and anybody can have sent this.")
    say(f"New or changed: {len(delivery.fresh)} of {len(delivery.files)} file(s)")
    some((f"{one.sha256}  {one.path} ({one.kind}, {one.size} bytes)" for one in delivery.fresh), limit=limit)
    if delivery.replaced:
        say(f"Replaced: {len(delivery.replaced)} file(s)")
        new = {one.path: one.sha256 for one in delivery.files}
        some((f"{path}: {old} becomes {new[path]}" for path, old in sorted(delivery.replaced.items())), limit=limit)
    if delivery.removed:
        say(f"Removed, because they are of other files: {len(delivery.removed)} file(s)")
        some(delivery.removed, limit=limit)
    for path, who in sorted(delivery.signers.items()):
        say(f"Signed: {path}, by {who}")
    if delivery.unsigned:
        say(f"Signed by nobody who sent it: {len(delivery.unsigned)} file(s)")
        some(delivery.unsigned, limit=limit)
    for line in _table(delivery.before, delivery.after):
        say(line)
    for title, ours, theirs in (("More", delivery.after, delivery.before), ("Fewer", delivery.before, delivery.after)):
        changed = list((_findings(ours) - _findings(theirs)).elements())
        if changed:
            say(f"{title} findings: {len(changed)}")
            some(changed, limit=limit)


def _table(before: "Report", after: "Report") -> Iterator[str]:
    """The verdicts before and after, gate by gate, with the findings of each."""
    rows = [("gate", "before", "after")]
    was = {gate.gate: gate for gate in before.gates}
    for gate in after.gates:
        old = was.get(gate.gate)
        if gate.planned or (old is not None and old.planned):
            rows.append((gate.gate, "-" if old is None else _told(old), _told(gate)))
    rows.append(("all", str(before.verdict), str(after.verdict)))
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    for row in rows:
        mark = "  <" if row[1] != row[2] and row is not rows[0] else ""
        yield f"  {row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]}{mark}"


def _told(gate: "GateReport") -> str:
    counts = Counter(str(result.kind) for result in gate.findings)
    told = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    return f"{gate.verdict} ({told})" if told else str(gate.verdict)


def _findings(report: "Report") -> Counter[str]:
    return Counter(
        f"{r.kind} {r.gate} {r.rule}{f' {r.location}' if r.location else ''}: {r.message}" for r in report.findings
    )

"""``calaudit attest``: sign for a build of a step that was done elsewhere."""

import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from calaudit.cli._judging import trust_option, trust_source
from calaudit.cli._keys import confirm, need, passphrase_options, passphrases, say, yes_option
from calaudit.cli._shared import PortPath
from calaudit.errors import UsageError

if TYPE_CHECKING:
    from securesystemslib.signer import Signer

    from calaudit.execute.vendor.attest import Attestation

__all__ = ["command"]

_SHOWN = 20


@click.command("attest", epilog="Exit: 0 signed (or shown, with --dry-run), 2 refused.")
@click.argument("step", metavar="STEP")
@click.argument("port", metavar="PORT", type=PortPath(path_type=Path))
@click.argument("words", metavar="[-- COMMAND…]", nargs=-1, type=click.UNPROCESSED)
@click.option("--key", metavar="URI", help="Key of the functionary: a file, or hsm:, awskms:, ….")
@click.option("--command", "line", metavar="TEXT", help="The command that ran, quoted as for a shell; or after --.")
@click.option("--materials", metavar="DIR", type=click.Path(path_type=Path), help="Where it read; PORT by default.")
@click.option("--products", metavar="DIR", type=click.Path(path_type=Path), help="Where it wrote; PORT by default.")
@click.option("--started", metavar="TIME", help="When it began (UTC), such as 2026-11-29T08:00:00Z.")
@click.option("--finished", metavar="TIME", help="When it ended.")
@click.option(
    "--invocation",
    metavar="ID",
    help="What the builder calls this run; as a report among the products does, else a new UUID.",
)
@click.option("--builder", metavar="URI", help="Who built it; by default that nothing is known of the builder.")
@click.option("--dry-run", is_flag=True, help="Show what would be signed, and write nothing.")
@click.option("--all", "everything", is_flag=True, help="List every file.")
@trust_option
@yes_option
@passphrase_options()
def command(  # noqa: PLR0913 - one parameter an option
    *,
    step: str,
    port: Path,
    words: Sequence[str],
    key: str | None,
    line: str | None,
    materials: Path | None,
    products: Path | None,
    started: str | None,
    finished: str | None,
    invocation: str | None,
    builder: str | None,
    dry_run: bool,
    everything: bool,
    trust: Path | None,
    yes: bool,
    variable: str,
) -> int:
    """Sign for a build of a step that was done elsewhere.

    For whoever ran STEP without calaudit, such as a vendor. PORT holds port.yaml (a vendor kit does). The files that
    lie there are held against the step and hashed; that the command ran, when, and that it ended with 0, is what you
    say and sign. Writes an in-toto link and SLSA provenance to PORT/attestations.
    """
    from calaudit.contract import Schemas
    from calaudit.contract.resources import data_root
    from calaudit.execute import journal
    from calaudit.execute.lock import locked
    from calaudit.execute.vendor.attest import prepare_attestation
    from calaudit.execute.vendor.claim import BUILT_ELSEWHERE, Claim
    from calaudit.sign.signers import load_signer

    claim = Claim(
        step=step,
        command=_command(line, words),
        invocation=invocation,
        started=_moment(started, "--started"),
        finished=_moment(finished, "--finished"),
        builder=BUILT_ELSEWHERE if builder is None else builder,
    )
    schemas = Schemas(data_root() / "schemas")
    now = datetime.now(UTC)
    draft = prepare_attestation(port, claim, schemas, materials=materials, products=products, now=now)
    _show(draft, limit=None if everything else _SHOWN)
    if dry_run:
        say("Nothing was signed (--dry-run).")
        return 0
    uri = need(key, "Your key (file or URI)", "--key")
    confirm(f"Do you say that this ran as {step}, and ended with 0?", yes=yes)
    signer = load_signer(uri, passphrases(variable))
    _check_key(signer, draft, trust)
    with locked(port):
        gone = draft.gone()
        signed = draft.sign(signer)
        journal.publish(port, signed, gone)
    for path in gone:
        if path not in signed:
            say(f"Removed: {path}, which was of other files.")
    for path in signed:
        say(f"Signed: {path}")
    return 0


def _command(line: str | None, words: Sequence[str]) -> tuple[str, ...]:
    if (line is None) == (not words):
        raise UsageError("Say the command that ran: with --command, or after --.")
    if line is None:
        return tuple(words)
    try:
        return tuple(shlex.split(line))
    except ValueError as error:
        raise UsageError(f"--command cannot be read as a shell would ({error}).") from error


def _moment(text: str | None, option: str) -> datetime:
    if text is None:
        raise UsageError(f"{option} is missing: nobody here saw when the build was.")
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError as error:
        raise UsageError(f"{option} {text} is no moment in UTC, such as 2026-11-29T08:00:00Z.") from error


def _check_key(signer: "Signer", draft: "Attestation", trust: Path | None) -> None:
    """With a trust root, refuse a key that would be refused; without one, say that nobody knows."""
    from calaudit.contract import Schemas
    from calaudit.contract.resources import data_root
    from calaudit.sign.authority import check_key, established, role_of
    from calaudit.trust.roles import FUNCTIONARY

    source = trust_source(trust)
    role = draft.step.role + FUNCTIONARY
    if source is None:
        say(f"Without a trust root nothing says whether the key {signer.public_key.keyid[:8]} is one of {role}.")
        return
    port = draft.provenance["predicate"]["buildDefinition"]["externalParameters"]["port"]
    _, registry = established(source, datetime.now(UTC), Schemas(data_root() / "schemas"), port)
    check_key(signer.public_key.keyid, role_of(registry, role), registry)


def _show(draft: "Attestation", *, limit: int | None) -> None:
    from calaudit.cli._signing import some

    claim = draft.claim
    say(f"The step {draft.step.name} ({draft.step.gate}), run elsewhere")
    say("You say, and nobody here saw:")
    say(f"  it ran      {shlex.join(claim.command)}")
    say(f"  from, until {claim.started:%Y-%m-%dT%H:%M:%SZ}, {claim.finished:%Y-%m-%dT%H:%M:%SZ}; ended with 0")
    say(f"  invocation  {claim.invocation}")
    say(f"  builder     {claim.builder}; no isolation is claimed")
    for title, files in (("Read", draft.materials), ("Wrote", draft.products)):
        say(f"{title}, as it lies there now: {len(files)} file(s)")
        some((f"{digest}  {path}" for path, digest in files.items()), limit=limit)
    if draft.undeclared:
        say(f"Beside the materials, and not declared: {len(draft.undeclared)} file(s).")
        say("If the command read one of them, do not sign:")
        some(draft.undeclared, limit=limit)
    gone = draft.gone()
    if gone:
        say("Attested before, of other files, and removed when this is signed:")
        some(gone, limit=limit)

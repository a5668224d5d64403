"""``calaudit waive``: let one failed rule on one artifact pass for a while."""

from collections.abc import Sequence
from pathlib import Path

import click

from calaudit.cli._judging import trust_option
from calaudit.cli._keys import confirm, need, passphrase_options, passphrases, say, yes_option
from calaudit.cli._shared import PortPath, cue_option, policy_option

__all__ = ["command"]


@click.command("waive", epilog="Exit: 0 signed (or shown, with --dry-run), 2 refused.")
@click.argument("rule")
@click.argument("artifact")
@click.option(
    "--port",
    metavar="PORT",
    default=".",
    type=PortPath(path_type=Path),
    help="Directory that holds port.yaml; the current one by default.",
)
@click.option("--gate", metavar="Gn", help="The gate on which the rule fails.")
@click.option("--reason", metavar="TEXT", help="Why the failure may stand for a while.")
@click.option("--ticket", metavar="TEXT", help="Where the repair is tracked.")
@click.option("--until", metavar="DATE", help="The day (UTC) from which on it no longer counts; a year ahead at most.")
@click.option("--id", "waiver_id", metavar="ID", help="Name of the waiver; made of gate, rule and file by default.")
@click.option("--role", metavar="ROLE", help="The role you sign for.")
@click.option("--key", metavar="URI", help="Your key: a file, or file2:, hsm:, awskms:, gcpkms:, azurekms:, hv:.")
@click.option("--dry-run", is_flag=True, help="Show what would be signed, and write nothing.")
@trust_option
@policy_option
@cue_option
@yes_option
@passphrase_options()
def command(  # noqa: PLR0913 - one parameter an option
    *,
    rule: str,
    artifact: str,
    port: Path,
    gate: str | None,
    reason: str | None,
    ticket: str | None,
    until: str | None,
    waiver_id: str | None,
    role: str | None,
    key: str | None,
    dry_run: bool,
    trust: Path | None,
    policies: Sequence[Path],
    cue: Path | None,
    yes: bool,
    variable: str,
) -> int:
    """Let one failed rule on one artifact pass for a while.

    Each of the gate's roles and the release role have to sign, each by its own threshold. The first signer says why
    (--reason), where the repair is tracked (--ticket) and until when; the others run the same command without these.
    Hard thresholds, digests, signatures, licences and blocks cannot be waived. The failure stays in every report.
    """
    from calaudit.cli._signing import judged
    from calaudit.sign.signers import load_signer
    from calaudit.sign.waivable import WaiverWish
    from calaudit.sign.waive import prepare_waiver, sign_waiver, signed_by

    gate = need(gate, "The gate on which the rule fails", "--gate")
    role = need(role, "The role you sign for", "--role")
    found = judged(port, trust=trust, policies=policies, cue=cue)
    wish = WaiverWish(gate=gate, rule=rule, artifact=artifact, reason=reason, ticket=ticket, until=until, id=waiver_id)
    draft = prepare_waiver(port, found.report, found.contract, found.registry, wish, now=found.now)
    predicate = draft.statement["predicate"]
    subject = draft.statement["subject"][0]
    say(f"{draft.path}: {predicate['rule']} on {gate} of the port {predicate['port']}, until {predicate['until']}")
    say(f"  {subject['digest']['sha256']}  {subject['name']}")
    say(f"  because: {predicate['reason']} ({predicate['ticket']})")
    for result in draft.results:
        say(f"  {result.location}: {result.message}")
    say(f"  signed so far by {', '.join(signed_by(draft, found.trust, found.registry)) or 'nobody'}")
    say(f"  needs {', '.join(draft.roles)}, each by its own threshold")
    if dry_run:
        say("Nothing was written (--dry-run).")
        return 0
    uri = need(key, "Your key (file or URI)", "--key")
    confirm(f"Waive this as {role}?", yes=yes)
    signer = load_signer(uri, passphrases(variable))
    missing = sign_waiver(port, draft, role, signer, trust=found.trust, registry=found.registry)
    say(f"Signed: {draft.path}.")
    for name, count in missing.items():
        if count:
            say(f"  {count} owner(s) of {name} still have to sign")
    if not any(missing.values()):
        say("  Everybody who has to has signed: the waiver counts.")
    return 0

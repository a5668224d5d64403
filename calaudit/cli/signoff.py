"""``calaudit signoff``: sign a gate of a port for a role, or reject it."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from calaudit.cli._judging import trust_option
from calaudit.cli._keys import confirm, need, passphrase_options, passphrases, say, yes_option
from calaudit.cli._shared import cue_option, policy_option, port_argument
from calaudit.errors import UsageError

if TYPE_CHECKING:
    from calaudit.cli._signing import Judged
    from calaudit.model import GateReport, Result
    from calaudit.sign.signing import Signed
    from calaudit.sign.signoff import Draft

__all__ = ["command"]

_SHOWN = 20
"""Lines of a list that are shown without --all."""


@click.command("signoff", epilog="Exit: 0 signed (or shown, with --dry-run), 2 refused.")
@click.argument("gate", metavar="GATE")
@port_argument
@click.option("--role", metavar="ROLE", help="The role that signs.")
@click.option("--key", metavar="URI", help="Your key: a file, or file2:, hsm:, awskms:, gcpkms:, azurekms:, hv:.")
@click.option("--identity-token-env", metavar="NAME", help="Keyless: environment variable with the identity token.")
@click.option(
    "--sigstore-config",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Keyless: client trust configuration of the Sigstore instance.",
)
@click.option("--decision", type=click.Choice(["approve", "reject"]), default="approve", show_default=True)
@click.option("--reason", metavar="TEXT", help="Why; needed to reject.")
@click.option("--dry-run", is_flag=True, help="Show what would be signed, and write nothing.")
@click.option("--all", "everything", is_flag=True, help="List every file and finding.")
@trust_option
@policy_option
@cue_option
@yes_option
@passphrase_options()
def command(  # noqa: PLR0913 - one parameter an option
    *,
    gate: str,
    port: Path,
    role: str | None,
    key: str | None,
    identity_token_env: str | None,
    sigstore_config: Path | None,
    decision: str,
    reason: str | None,
    dry_run: bool,
    everything: bool,
    trust: Path | None,
    policies: Sequence[Path],
    cue: Path | None,
    yes: bool,
    variable: str,
) -> int:
    """Sign a gate of a port for a role, or reject it.

    Audits the port, shows what would be signed and asks. GATE is G0 to G10, or `port` for a duty over the port's own
    files (compiler signs vendor/). The signature binds the bytes that are there, the technical verdict, the contract,
    the registry, and the signoffs of the gates below. Where a role needs several owners, each of them runs this.
    """
    from calaudit.cli._signing import judged
    from calaudit.sign.grounds import Wish
    from calaudit.sign.signoff import prepare

    role = need(role, "The role you sign for", "--role")
    keyless = identity_token_env is not None or sigstore_config is not None
    if keyless and (identity_token_env is None or sigstore_config is None or key is not None):
        raise UsageError("Keyless signing takes --identity-token-env and --sigstore-config, and no --key.")
    found = judged(port, trust=trust, policies=policies, cue=cue)
    wish = Wish(gate=gate, role=role, decision=decision, reason=reason)
    draft = prepare(port, found.report, found.contract, found.registry, wish, now=found.now)
    _show(found, draft, limit=None if everything else _SHOWN)
    if dry_run:
        say("Nothing was written (--dry-run).")
        return 0
    if identity_token_env is not None and sigstore_config is not None:
        confirm(f"Sign {gate} as {role}?", yes=yes)
        signed = _keyless(port, found, draft, identity_token_env, sigstore_config)
    else:
        uri = need(key, "Your key (file or URI)", "--key")
        confirm(f"Sign {gate} as {role}?", yes=yes)
        signed = _by_key(port, found, draft, uri, variable)
    say(f"Signed: {signed.path}, by {signed.count} of {draft.role.threshold} owner(s) of {role} that are needed.")
    if signed.missing:
        say(f"{signed.missing} more owner(s) of {role} have to sign: calaudit signoff {gate} {port} --role {role}")
    return 0


def _by_key(port: Path, found: "Judged", draft: "Draft", uri: str, variable: str) -> "Signed":
    from calaudit.sign.signers import load_signer
    from calaudit.sign.signing import sign_draft

    return sign_draft(port, draft, load_signer(uri, passphrases(variable)), found.trust, found.registry)


def _keyless(port: Path, found: "Judged", draft: "Draft", name: str, config: Path) -> "Signed":
    from calaudit.sign.signing import sign_draft_keyless

    token = os.environ.get(name, "").strip()
    if not token:
        raise UsageError(f"The environment variable {name} holds no identity token.")
    return sign_draft_keyless(port, draft, found.trust, found.registry, token=token, trust_config=config)


def _show(found: "Judged", draft: "Draft", *, limit: int | None) -> None:
    from calaudit.cli._signing import some

    gate, predicate = draft.gate, draft.statement["predicate"]
    say(f"{gate.gate} {gate.title} of the port {predicate['port']}: {predicate['decision']} as {draft.role.name}")
    if predicate.get("reason"):
        say(f"  because: {predicate['reason']}")
    say(f"Gate verdict {gate.verdict}, technical verdict {gate.technical}")
    if "technical" in predicate:
        say(f"  digest {predicate['technical']['digest']}")
    say(f"Contract {predicate['contract']['version']}, digest {predicate['contract']['digest']}")
    say(f"Registry version {predicate['registry']['version']}, digest {predicate['registry']['digest']}")
    say(f"  of {found.trust.origin}, {found.registry.label}")
    say(f"Files: {len(draft.statement['subject'])}")
    some((f"{item['digest']['sha256']}  {item['name']}" for item in draft.statement["subject"]), limit=limit)
    for title, member in (("Attestations", "evidence"), ("Waivers", "waivers")):
        say(f"{title}: {len(predicate[member])}")
        some((f"{item['digest']['sha256']}  {item['name']}" for item in predicate[member]), limit=limit)
    say(f"Rests on: {len(predicate['depends'])} signoff(s)")
    some((f"{d['digest']}  {d['gate']} by {d['role']}" for d in predicate["depends"]), limit=limit)
    say(f"Findings: {len(gate.findings)}")
    some(_findings(found, gate), limit=limit)
    if draft.kept:
        say(f"Signed before, and still right: {', '.join(e.path for e in draft.kept)}")
    if draft.stale:
        say(f"Signed before for something else, and replaced: {', '.join(e.path for e in draft.stale)}")


def _findings(found: "Judged", gate: "GateReport") -> Iterator[str]:
    """What was found: each technical finding, and how many of each rule that needs signatures."""
    unsigned: Counter[str] = Counter()
    for result in gate.findings:
        if found.report.rule(result).trust:
            unsigned[f"{_weight(result)} {result.rule}"] += 1
            continue
        at = f" {result.location}" if result.location else ""
        yield f"{_weight(result)} {result.rule}{at}: {result.message}"
    yield from (f"{what} (signatures): {count}" for what, count in unsigned.items())


def _weight(result: "Result") -> str:
    """What a finding counts for: a failure that no error makes is called by its level."""
    from calaudit.model import Kind, Level

    if result.suppression:
        return "waived"
    return str(result.level if result.kind is Kind.FAIL and result.level is not Level.ERROR else result.kind)

"""``calaudit layout``: compile the steps of a port to an in-toto layout, and sign it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from calaudit.cli._judging import trust_option
from calaudit.cli._keys import confirm, passphrase_options, passphrases, say, yes_option
from calaudit.cli._shared import port_argument

if TYPE_CHECKING:
    from calaudit.execute.layout import LayoutDraft

__all__ = ["command"]


@click.command("layout", epilog="Exit: 0 signed (or shown, without --key), 2 refused.")
@port_argument
@click.option(
    "--key", "keys", metavar="URI", multiple=True, help="Key of a release owner: a file, or hsm:, …. Repeatable."
)
@click.option("--expires", metavar="DATE|DAYSd", help="When it ends: 2027-11-30 or 365d; a year by default.")
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Where it is written; attestations/root.layout of the port by default.",
)
@trust_option
@yes_option
@passphrase_options()
def command(  # noqa: PLR0913 - one parameter an option
    *,
    port: Path,
    keys: Sequence[str],
    expires: str | None,
    out: Path | None,
    trust: Path | None,
    yes: bool,
    variable: str,
) -> int:
    """Compile the steps of a port to an in-toto layout, and sign it.

    Made of port.yaml and the registry: who runs each step, with which command, on whose products. Release owners sign
    it, each with this command: as many as a release needs. Without --key it is only shown. Where port.yaml or the
    functionaries change, it is compiled and signed anew.
    """
    from datetime import UTC, datetime

    from calaudit.cli._judging import trust_source
    from calaudit.contract import load_contract
    from calaudit.execute.layout import prepare_layout, sign_layout
    from calaudit.execute.manifest import read_manifest
    from calaudit.files import write_output
    from calaudit.sign.authority import established
    from calaudit.sign.metadata import expiry
    from calaudit.sign.port_files import write
    from calaudit.sign.signers import load_signer
    from calaudit.trust.envelope import parse_envelope
    from calaudit.trust.steps import LAYOUT

    schemas = load_contract().schemas
    now = datetime.now(UTC).replace(microsecond=0)
    manifest = read_manifest(port, schemas)
    found, registry = established(trust_source(trust), now, schemas, manifest["id"])
    draft = prepare_layout(
        manifest,
        registry,
        schemas,
        port / LAYOUT if out is None else out,
        expires=None if expires is None else expiry(expires, now),
        default_expires=expiry(None, now),
        now=now,
    )
    _show(draft, manifest["id"])
    if not keys:
        say("Nothing was written: no --key.")
        return 0
    confirm(f"Sign this as {draft.role.name}?", yes=yes)
    for uri in keys:
        signed = sign_layout(draft, load_signer(uri, passphrases(variable)), found, registry)
        draft = replace(draft, kept=parse_envelope(LAYOUT, signed.data))
    if out is None:
        write(port, LAYOUT, signed.data)
    else:
        write_output(out, signed.data)
    say(f"Signed: {out or LAYOUT}, by {signed.count} of {signed.threshold} owner(s) of release that are needed.")
    if signed.count < signed.threshold:
        say(f"{signed.threshold - signed.count} more have to sign: calaudit layout {port} --key URI")
    return 0


def _show(draft: "LayoutDraft", port: str) -> None:
    say(f"The steps of the port {port}, until {draft.document['expires']}:")
    for step, spec in zip(draft.chain, draft.document["steps"], strict=True):
        after = f", after {', '.join(step.upstream)}" if step.upstream else ""
        say(f"  {step.name} ({step.gate}){after}")
        say(f"    by {spec['threshold']} of {step.functionary}: {', '.join(k[:8] for k in spec['pubkeys'])}")
        say(f"    runs  {' '.join(step.command)}")
        say(f"    reads {', '.join(step.inputs)}")
        say(f"    makes {', '.join(step.products)}")
    if draft.kept is not None:
        say(f"Signed before, and still right: by {len(draft.kept.signatures)} key(s).")
    elif draft.replaced:
        say("Another layout is there; this one takes its place, and its signatures go.")

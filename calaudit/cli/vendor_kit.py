"""``calaudit vendor-kit``: pack what a vendor has to know."""

from collections.abc import Sequence
from pathlib import Path

import click

from calaudit.cli._keys import say
from calaudit.cli._shared import policy_option, port_argument
from calaudit.errors import UsageError

__all__ = ["command"]


@click.command("vendor-kit", epilog="Exit: 0 written, 2 refused.")
@port_argument
@click.option(
    "-o", "--output", metavar="FILE", required=True, type=click.Path(path_type=Path), help="The archive to write."
)
@click.option(
    "--role", "roles", metavar="ROLE", multiple=True, help="A role that the vendor plays; compiler by default."
)
@policy_option
def command(*, port: Path, output: Path, roles: Sequence[str], policies: Sequence[Path]) -> int:
    """Pack what a vendor has to know to return something that verifies.

    One tar archive: the vendor's steps, the schemas of what comes back (as CUE too), the layout, the kick-off list with
    what is missing, and a README with the commands. No weights, no secrets; the same port gives the same bytes.
    """
    from calaudit.contract import load_contract
    from calaudit.execute.vendor.kit import make_kit
    from calaudit.files import write_output

    if output.resolve().is_relative_to(port.resolve()):
        raise UsageError(f"{output} lies in the port; a kit is no part of it. Write it elsewhere.")
    kit = make_kit(port, load_contract(overlays=policies), roles or ("compiler",))
    try:
        write_output(output, kit.data)
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror}.") from error
    told = kit.manifest
    say(f"Wrote {output}: {len(told['files']) + 1} files, {len(kit.data)} bytes, for {', '.join(told['roles'])}.")
    for step in told["steps"]:
        lacking = f", still without {', '.join(step['missing'])}" if step["missing"] else ""
        say(f"  {step['name']} ({step['gate']}) reads {len(step['materials'])} file(s) of the port{lacking}")
    if not told["steps"]:
        say("  port.yaml declares no step of these roles.")
    missing = told["kickoff"]["missing"]
    say(f"Missing of the kick-off: {', '.join(missing) if missing else 'nothing'}")
    if told["layout"] is None:
        say("There is no layout yet: calaudit layout makes it, and release owners sign it.")
    return 0

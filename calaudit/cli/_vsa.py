"""``calaudit verify --vsa``: sign what the audit said, and write it outside the port."""

from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from calaudit.cli._keys import passphrase_options, passphrases
from calaudit.contract import Schemas
from calaudit.errors import UsageError
from calaudit.files import is_stream, write_output
from calaudit.model import Report

if TYPE_CHECKING:
    from securesystemslib.signer import Signer

__all__ = ["key_option", "out_option", "passphrase_option", "signer_of", "target_of", "write_vsa"]

key_option = click.option(
    "--vsa",
    "vsa_key",
    metavar="KEY",
    help="Sign a SLSA verification summary with this key (a file, or file2:, hsm:, awskms:, gcpkms:, azurekms:, hv:).",
)

out_option = click.option(
    "--vsa-out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Where to write it; by default <port id>.vsa.dsse.json in the current directory. Never inside the port.",
)

passphrase_option = passphrase_options()


def signer_of(uri: str | None, variable: str) -> "Signer | None":
    """Who signs; asked before the audit, which takes longer than a wrong passphrase.

    Raises:
        UsageError: the URI names nothing that can sign.
    """
    if uri is None:
        return None
    from calaudit.sign.signers import load_signer

    return load_signer(uri, passphrases(variable))


def target_of(key: str | None, out: Path | None, port: Path, taken: Collection[Path | None]) -> Path | None:
    """The file to write, if its name is given; None where it follows from the port's id.

    Raises:
        UsageError: it is given without a key, is taken by a report, cannot be made, or lies inside the port.
    """
    if key is None:
        if out is not None:
            raise UsageError("--vsa-out says nothing without --vsa KEY.")
        return None
    folder = (Path.cwd() if out is None else out.parent).resolve()
    if folder.is_relative_to(port.resolve()) or (out is not None and out.resolve().is_relative_to(port.resolve())):
        where = "the current directory" if out is None else str(out)
        raise UsageError(f"The summary would become a file of the port ({where}); name one outside with --vsa-out.")
    if out is None:
        return None
    if is_stream(out) and not out.is_dir():
        return out
    path = out.resolve()
    if path.is_dir() or not path.parent.is_dir():
        raise UsageError(f"--vsa-out {out}: it is a directory, or lies in none.")
    if path in taken:
        raise UsageError(f"A report and the summary cannot go to one file, {out}.")
    return path


def write_vsa(report: Report, signer: "Signer", target: Path | None, schemas: Schemas) -> Path:
    """Write the summary, whatever the verdict; where it went.

    Raises:
        UsageError: the key does not answer, or the file cannot be written.
    """
    from calaudit.sign.envelopes import sign_statement
    from calaudit.sign.verification import vsa_statement

    statement = vsa_statement(report, now=datetime.now(UTC))
    for problem in schemas.errors("vsa/v1", statement):
        raise UsageError(f"The summary cannot be written: {problem.pointer}: {problem.message}")
    path = target or Path.cwd() / f"{report.port.id}.vsa.dsse.json"
    try:
        write_output(path, sign_statement(statement, [signer]))
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.") from error
    return path

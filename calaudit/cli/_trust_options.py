"""The options that several verbs of ``calaudit trust`` take."""

from pathlib import Path

import click

__all__ = ["FILE", "algorithm_option", "directory_argument", "expires_option", "sign_with_option"]

FILE = click.Path(path_type=Path)
directory_argument = click.argument("directory", metavar="DIR", type=FILE)
sign_with_option = click.option(
    "--sign-with", metavar="URI", multiple=True, help="Root key that signs the change at once. Repeatable."
)
expires_option = click.option(
    "--expires", metavar="DATE|DAYSd", help="When it ends: 2027-11-30 or 365d; a year by default."
)
algorithm_option = click.option(
    "--algorithm", type=click.Choice(["ed25519", "ecdsa-p256"]), default="ed25519", help="Kind of a new key."
)

"""``calaudit trust``: who may sign, and whom this user trusts."""

import click

from calaudit.cli import _trust_edit, _trust_owners, _trust_use

__all__ = ["command"]


@click.group("trust")
def command() -> None:
    """Make, change, sign and pin the root of trust and the role registry.

    A trust directory lies outside every port. It holds the root (1.root.json, 2.root.json …) and the registry of roles
    (roles.json). Every change waits in DIR/pending until enough root keys have signed it: pass the directory on, and
    let each keeper run `calaudit trust sign DIR --key URI`. A key URI is a file, or file2:, hsm:, awskms:, gcpkms:,
    azurekms:, hv:.
    """


for _verb in (
    _trust_edit.init,
    _trust_owners.add_owner,
    _trust_owners.edit_owner,
    _trust_owners.revoke,
    _trust_edit.rotate,
    _trust_owners.configure,
    _trust_use.sign,
    _trust_use.drop,
    _trust_use.show,
    _trust_use.pin,
):
    command.add_command(_verb)

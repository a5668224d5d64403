"""``calaudit trust add-owner``, ``edit-owner``, ``revoke`` and ``set``: the registry of a trust directory."""

from collections.abc import Sequence
from pathlib import Path

import click

from calaudit.cli._keys import need, passphrase_options, passphrases
from calaudit.cli._trust_options import FILE, algorithm_option, directory_argument, expires_option, sign_with_option

__all__ = ["add_owner", "configure", "edit_owner", "revoke"]


@click.command("add-owner")
@directory_argument
@click.argument("role")
@click.option("--name", metavar="TEXT", help="Person or team; with --functionary the machine or CI.")
@click.option("--contact", metavar="URI", help="How to reach them: mailto:…, https://…, tel:…")
@click.option("--delivery-date", metavar="DATE", help="When they deliver.")
@click.option("--delivery-version", metavar="VERSION", help="What they deliver.")
@click.option("--key", "keys", metavar="PEM|URI", multiple=True, help="Their key; a public one is enough. Repeatable.")
@click.option("--new-key", "new_keys", metavar="FILE", multiple=True, type=FILE, help="Make a key for them.")
@click.option("--identity", metavar="TEXT", help="Keyless: who signs (an e-mail address, a workflow).")
@click.option("--issuer", metavar="URL", help="Keyless: who vouches for the identity.")
@click.option("--sigstore-root", metavar="FILE", type=FILE, help="Keyless: trusted_root.json of the Sigstore instance.")
@click.option("--functionary", is_flag=True, help="A machine that runs steps of the role; it never signs off.")
@click.option("--threshold", metavar="N", type=int, help="How many owners of the role have to sign.")
@sign_with_option
@algorithm_option
@passphrase_options(new=True)
def add_owner(  # noqa: PLR0913 - as above
    directory: Path,
    *,
    role: str,
    name: str | None,
    contact: str | None,
    delivery_date: str | None,
    delivery_version: str | None,
    keys: Sequence[str],
    new_keys: Sequence[Path],
    identity: str | None,
    issuer: str | None,
    sigstore_root: Path | None,
    threshold: int | None,
    sign_with: Sequence[str],
    algorithm: str,
    variable: str,
    functionary: bool,
    none: bool,
) -> int:
    """Let somebody own ROLE: model, export, quant, compiler, runtime, serving or release.

    A second owner of a role, or another key of an owner, is added in the same way.
    """
    from calaudit.cli._trust_common import Keys
    from calaudit.cli._trust_registry import Appointment, appoint

    name = need(name, "Person or team", "--name")
    contact = need(contact, "How to reach them", "--contact")
    if not functionary:
        delivery_date = need(delivery_date, "When they deliver (2026-12-01)", "--delivery-date")
        delivery_version = need(delivery_version, "What they deliver (a version)", "--delivery-version")
    if not (keys or new_keys or identity):
        keys = [need(None, "Their key (PEM file or URI)", "--key, --new-key or --identity")]
    return appoint(
        directory,
        Appointment(
            role=f"{role}-functionary" if functionary else role,
            name=name,
            contact=contact,
            delivery_date=delivery_date,
            delivery_version=delivery_version,
            identity=identity,
            issuer=issuer,
            sigstore_root=sigstore_root,
            threshold=threshold,
        ),
        Keys(new=tuple(new_keys), held=tuple(keys), public=(), algorithm=algorithm),
        sign_with,
        passphrases(variable, none=none),
    )


@click.command("edit-owner")
@directory_argument
@click.argument("role")
@click.argument("owner", metavar="NAME")
@click.option("--name", metavar="TEXT", help="Their name from now on.")
@click.option("--contact", metavar="URI", help="How to reach them: mailto:…, https://…, tel:…")
@click.option("--delivery-date", metavar="DATE", help="When they deliver.")
@click.option("--delivery-version", metavar="VERSION", help="What they deliver.")
@click.option("--functionary", is_flag=True, help="NAME is a machine that runs steps of the role.")
@sign_with_option
@passphrase_options()
def edit_owner(  # noqa: PLR0913 - as above
    directory: Path,
    *,
    role: str,
    owner: str,
    name: str | None,
    contact: str | None,
    delivery_date: str | None,
    delivery_version: str | None,
    functionary: bool,
    sign_with: Sequence[str],
    variable: str,
) -> int:
    """Change what the registry says of NAME, an owner of ROLE: name, contact, what they deliver and when.

    What is not given stays. Keys come with `add-owner` and go with `revoke`.
    """
    from calaudit.cli._trust_registry import amend
    from calaudit.sign.owner_edit import OwnerEdit

    return amend(
        directory,
        OwnerEdit(name=name, contact=contact, delivery_date=delivery_date, delivery_version=delivery_version),
        sign_with,
        passphrases(variable),
        role=f"{role}-functionary" if functionary else role,
        name=owner,
    )


@click.command("revoke")
@directory_argument
@click.argument("who", metavar="KEYID|OWNER")
@click.option("--reason", metavar="TEXT", help="Why; others decide by it what to look at again.")
@sign_with_option
@passphrase_options()
def revoke(directory: Path, *, who: str, reason: str | None, sign_with: Sequence[str], variable: str) -> int:
    """Take keys from whoever holds them; they stay listed as revoked, and nothing they signed counts any more.

    Names one key by 8 or more digits of its id, or all keys of an owner by name.
    """
    from calaudit.cli._trust_registry import withdraw_keys

    return withdraw_keys(directory, who, need(reason, "Why", "--reason"), sign_with, passphrases(variable))


@click.command("set")
@directory_argument
@click.option("--add-port", metavar="ID", multiple=True, help="A port that the owners speak for. Repeatable.")
@click.option("--remove-port", metavar="ID", multiple=True, help="A port that they no longer speak for. Repeatable.")
@expires_option
@click.option("--label", metavar="TEXT", help="What this registry is for.")
@sign_with_option
@passphrase_options()
def configure(  # noqa: PLR0913 - as above
    directory: Path,
    *,
    add_port: Sequence[str],
    remove_port: Sequence[str],
    expires: str | None,
    label: str | None,
    sign_with: Sequence[str],
    variable: str,
) -> int:
    """Change what belongs to no owner: the ports, the label, the registry's end (a year from now by default)."""
    from calaudit.cli._trust_registry import change_settings

    return change_settings(
        directory,
        sign_with,
        passphrases(variable),
        add_ports=tuple(add_port),
        remove_ports=tuple(remove_port),
        expires=expires,
        label=label,
    )

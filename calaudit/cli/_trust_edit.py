"""``calaudit trust init`` and ``rotate``: the roots of a trust directory."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from calaudit.cli._keys import need, passphrase_options, passphrases
from calaudit.cli._trust_options import FILE, algorithm_option, directory_argument, expires_option

__all__ = ["init", "rotate"]


def _root_keys(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--public-key", metavar="PEM", multiple=True, type=FILE, help="Root key of somebody elsewhere."),
        click.option("--key", metavar="URI", multiple=True, help="Root key that is at hand; it signs. Repeatable."),
        click.option(
            "--new-key", metavar="FILE", multiple=True, type=FILE, help="Make a root key (and FILE.pub); it signs."
        ),
    ):
        command = option(command)
    return command


@click.command("init")
@directory_argument
@_root_keys
@click.option("--threshold", metavar="N", type=int, help="How many root keys have to sign; more than half by default.")
@expires_option
@click.option("--port", "ports", metavar="ID", multiple=True, help="Id of a port that the owners speak for.")
@click.option("--label", metavar="TEXT", help="What this registry is for.")
@algorithm_option
@passphrase_options(new=True)
def init(  # noqa: PLR0913 - one parameter an option
    directory: Path,
    *,
    new_key: Sequence[Path],
    key: Sequence[str],
    public_key: Sequence[Path],
    threshold: int | None,
    expires: str | None,
    ports: Sequence[str],
    label: str | None,
    algorithm: str,
    variable: str,
    none: bool,
) -> int:
    """Begin a trust directory: a root, and a registry in which nobody owns anything yet.

    Two of three root keys, kept by three people, are a good beginning. Keys of people elsewhere come as PEM files
    (--public-key); they sign later, with `calaudit trust sign`.
    """
    from calaudit.cli._trust_common import Keys
    from calaudit.cli._trust_roots import begin

    if not (new_key or key or public_key):
        new_key = [Path(need(None, "File for a new root key (outside DIR)", "--new-key, --key or --public-key"))]
    ports = ports or [need(None, "Id of the port", "--port")]
    label = need(label, "What is this registry for", "--label")
    keys = Keys(new=tuple(new_key), held=tuple(key), public=tuple(public_key), algorithm=algorithm)
    return begin(
        directory,
        keys,
        passphrases(variable, none=none),
        threshold=threshold,
        expires=expires,
        ports=tuple(ports),
        label=label,
    )


@click.command("rotate")
@directory_argument
@_root_keys
@click.option("--remove-key", metavar="KEYID", multiple=True, help="Root key that goes; 8 or more digits. Repeatable.")
@click.option("--threshold", metavar="N", type=int, help="How many root keys have to sign.")
@expires_option
@click.option("--replace-pending", is_flag=True, help="Forget what waits for signatures.")
@algorithm_option
@passphrase_options(new=True)
def rotate(  # noqa: PLR0913 - as above
    directory: Path,
    *,
    new_key: Sequence[Path],
    key: Sequence[str],
    public_key: Sequence[Path],
    remove_key: Sequence[str],
    threshold: int | None,
    expires: str | None,
    algorithm: str,
    variable: str,
    replace_pending: bool,
    none: bool,
) -> int:
    """Make the next root: other keys, another threshold, a later end.

    It needs the signatures of the old threshold and of the new one. Where the new keys have not signed the registry, it
    is signed again together with the root.
    """
    from calaudit.cli._trust_common import Keys
    from calaudit.cli._trust_roots import succeed

    keys = Keys(new=tuple(new_key), held=tuple(key), public=tuple(public_key), algorithm=algorithm)
    return succeed(
        directory,
        keys,
        passphrases(variable, none=none),
        remove=tuple(remove_key),
        threshold=threshold,
        expires=expires,
        replace_pending=replace_pending,
    )

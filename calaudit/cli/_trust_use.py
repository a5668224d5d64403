"""``calaudit trust sign``, ``drop``, ``show`` and ``pin``: what keepers and users of a trust directory do."""

from pathlib import Path

import click

from calaudit.cli._keys import confirm, need, passphrase_options, passphrases, say, yes_option
from calaudit.cli._shared import emit, terminal_width
from calaudit.errors import UsageError

__all__ = ["drop", "pin", "show", "sign"]

_PATH = click.Path(path_type=Path)


@click.command("sign")
@click.argument("directory", metavar="DIR", type=_PATH)
@click.option("--key", metavar="URI", help="Your root key.")
@yes_option
@passphrase_options()
def sign(directory: Path, *, key: str | None, variable: str, yes: bool) -> int:
    """Sign what waits in DIR/pending with a root key, and publish it when nothing is missing any more.

    Shows what changes against the last published version, and how many signatures are missing.
    """
    from calaudit.cli._trust_sign import sign_pending, waiting

    folder = waiting(directory)
    if folder is None:
        say(f"Nothing waits for signatures in {directory}.")
        return 0
    uri = need(key, "Your key (file or URI)", "--key")
    confirm("Sign this?", yes=yes)
    return sign_pending(folder, uri, passphrases(variable))


@click.command("drop")
@click.argument("directory", metavar="DIR", type=_PATH)
@click.argument("part", metavar="[root|registry]", required=False, type=click.Choice(["root", "registry"]))
@yes_option
def drop(directory: Path, part: str | None, *, yes: bool) -> int:
    """Take back what waits in DIR/pending: the root, the registry, or both.

    What is published stays as it is. A registry that was only to be signed again for a new root goes with it.
    """
    from calaudit.cli._trust_drop import drop as take_back

    return take_back(directory, part, yes=yes)


@click.command("show")
@click.argument("directory", metavar="[DIR]", required=False, type=_PATH)
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
def show(directory: Path | None, *, as_json: bool) -> int:
    """Show a trust directory; the pinned one by default.

    The root and its keys, who owns which role, thresholds, what expires, and what waits for signatures.
    """
    from calaudit.cli._trust_show import document, lines
    from calaudit.cli._wrapping import hanging

    shown = document(directory)
    if as_json:
        from calaudit.report.json_report import dumps

        emit(dumps(shown))
        return 0
    width = terminal_width()
    for line in lines(shown):
        for part in hanging(line, width):
            say(part)
    return 0


@click.command("pin")
@click.argument("path", metavar="DIR|ROOT", type=_PATH)
@click.option("--fingerprint", metavar="SHA256", help="What the root's fingerprint has to be; instead of a question.")
@click.option("--replace", is_flag=True, help="Replace another root, or forget higher versions that were seen.")
@yes_option
def pin(path: Path, *, fingerprint: str | None, replace: bool, yes: bool) -> int:
    """Trust a root from now on: that of DIR, or the root file named.

    Compare the fingerprint with somebody who knows it, over another way than the one that the file came. It is kept in
    the user's state directory, with the highest versions seen.
    """
    from calaudit.cli._trust_pin import candidate, described
    from calaudit.pins import write_pin

    found, trust = candidate(path)
    for line in described(found, trust):
        say(line)
    if fingerprint is not None and fingerprint.lower() != found.fingerprint:
        raise UsageError(f"The fingerprint is not {fingerprint}. Nothing was written.")
    confirm("Trust this root?", yes=yes or fingerprint is not None)
    write_pin(found, replace_anchor=replace)
    say("Pinned.")
    return 0

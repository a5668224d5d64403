"""What the verbs that run steps have in common: the options that say with what, and where logs go."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

__all__ = ["named_toolchains", "step_options"]

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--executor",
        type=click.Choice(["local", "bwrap", "oci"]),
        help="Run with this instead of what port.yaml says; provenance tells.",
    ),
    click.option(
        "--toolchain",
        "toolchains",
        metavar="NAME=DIR",
        multiple=True,
        help="Where a toolchain is; NAME=DIR:DIR where it is several folders. Repeatable.",
    ),
    click.option(
        "--oci-layout",
        "layouts",
        metavar="DIR",
        multiple=True,
        type=click.Path(path_type=Path),
        help="OCI image layout that holds a container image, by the digest in port.yaml. Repeatable.",
    ),
    click.option(
        "--logs",
        metavar="DIR",
        type=click.Path(path_type=Path),
        help="Where logs are kept; the state directory if not given.",
    ),
)


def step_options(command: F) -> F:
    """Add ``--executor``, ``--toolchain``, ``--oci-layout`` and ``--logs``."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def named_toolchains(options: Sequence[str]) -> Mapping[str, tuple[Path, ...]]:
    """The user's toolchains, and over them those of ``--toolchain``.

    Raises:
        UsageError: an option or the user's file is faulty.
    """
    from calaudit.execute.toolchain_names import configured, parse_option

    return {**configured(), **dict(map(parse_option, options))}

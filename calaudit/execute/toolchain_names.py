"""Where toolchains are: from ``--toolchain NAME=DIR``, or the user's ``toolchains.yaml``.

::

    schema: calaudit-toolchains/v1
    toolchains:
      example-py311: [/home/me/port/.venv, /home/me/.pyenv/versions/3.11.7]

The file lies in the user's configuration directory (``$CALAUDIT_CONFIG_DIR`` moves it), never in a port. A toolchain is
one folder or several, the one whose ``bin`` comes first on the PATH first.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from platformdirs import user_config_path

from calaudit.errors import Malformed, UsageError
from calaudit.evidence.strict_yaml import parse_yaml

__all__ = ["CONFIG_VARIABLE", "Named", "config_file", "configured", "parse_option"]

CONFIG_VARIABLE = "CALAUDIT_CONFIG_DIR"
"""The environment variable that moves the configuration directory (tests, containers)."""

Named = Mapping[str, tuple[Path, ...]]
"""The folders of toolchains, by name."""

_TAG = "calaudit-toolchains/v1"
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_SIZE_MAX = 1 << 20


def config_file() -> Path:
    """Where the user's toolchains are named."""
    named = os.environ.get(CONFIG_VARIABLE)
    return (Path(named) if named else user_config_path("calaudit")) / "toolchains.yaml"


def parse_option(text: str) -> tuple[str, tuple[Path, ...]]:
    """``NAME=DIR`` or ``NAME=DIR:DIR…``.

    Raises:
        UsageError: it is not of that form.
    """
    name, equals, folders = text.partition("=")
    if not equals or not _SLUG.fullmatch(name) or not folders:
        raise UsageError(f"--toolchain {text}: expected NAME=DIR, or NAME=DIR:DIR where it is several folders.")
    return name, tuple(Path(folder) for folder in folders.split(":") if folder)


def configured() -> Named:
    """The toolchains of the user's file; none where there is no file.

    Raises:
        UsageError: it cannot be read, or is faulty.
    """
    path = config_file()
    try:
        with path.open("rb") as file:
            data = file.read(_SIZE_MAX + 1)
        if len(data) > _SIZE_MAX:  # YAML that is cut off can still be YAML, with fewer toolchains
            raise UsageError(f"{path} has more than {_SIZE_MAX >> 20} MiB. Make it smaller.")
        document = parse_yaml(data)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
    except Malformed as error:
        raise UsageError(f"{path}:{error.line}: {error.message}") from error
    if not isinstance(document, dict) or set(document) != {"schema", "toolchains"} or document["schema"] != _TAG:
        raise UsageError(f"{path}: expected the members schema: {_TAG} and toolchains, and no others.")
    toolchains = document["toolchains"]
    if not isinstance(toolchains, dict):
        raise UsageError(f"{path}: toolchains maps names to lists of folders.")
    named = {}
    for name, folders in toolchains.items():
        good = isinstance(folders, list) and folders and all(isinstance(f, str) and f[:1] == "/" for f in folders)
        if not _SLUG.fullmatch(name) or not isinstance(folders, list) or not good:
            raise UsageError(f"{path}: the toolchain {name!r}: expected a slug and a list of absolute folders.")
        named[name] = tuple(Path(str(folder)) for folder in folders)
    return named

"""Where the shipped schemas and policies are.

A wheel carries them inside the package (``calaudit/contract/data``); a checkout has them at its top level, beside the
package. Both are found relative to this file, never to the current directory or to what is audited.
"""

from pathlib import Path

from calaudit.errors import ContractError

_HERE = Path(__file__).resolve().parent


def data_root() -> Path:
    """The folder that holds ``schemas/`` and ``policies/``.

    Raises:
        ContractError: neither a wheel's data nor a checkout is there.
    """
    for candidate in (_HERE / "data", _HERE.parent.parent):
        if (candidate / "schemas").is_dir() and (candidate / "policies" / "gates.yaml").is_file():
            return candidate
    raise ContractError(
        f"No schemas and policies found beside {_HERE.parent}: the installation is damaged. Reinstall calaudit."
    )

"""The kernel's keyrings: a place that processes share without a file, and that no mount and no namespace closes off.

What a run leaves in the session keyring of whoever started it is there for the next run: both would make the same
file, and a rebuild would look reproducible.
"""

import ctypes
import platform

__all__ = ["fresh_session_keyring"]

_KEYCTL = {"x86_64": 250, "aarch64": 219}
_JOIN_SESSION_KEYRING = 1  # <linux/keyctl.h>


def fresh_session_keyring() -> bool:
    """Leave the session keyring for a new one without a name, which the next child inherits; whether that was done.

    The one that was left cannot be entered again; nothing in this program asks for a key. A kernel that denies it
    (containers do) denies keys to the command as well.
    """
    number = _KEYCTL.get(platform.machine())
    if number is None:
        return False
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    return bool(call(ctypes.c_long(number), ctypes.c_long(_JOIN_SESSION_KEYRING), None) > 0)

"""The pin: one file in the user's state directory."""

import base64
import binascii
import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson
from platformdirs import user_state_path

from calaudit.errors import Malformed, UsageError
from calaudit.evidence.strict_json import parse_json
from calaudit.files import write_atomic
from calaudit.pins.directory import ROOT_NAME, load_directory, read_file
from calaudit.trust.source import Seen, TrustSource

__all__ = ["STATE_VARIABLE", "Pin", "load_pin", "read_pin", "record_seen", "state_directory", "write_pin"]

STATE_VARIABLE = "CALAUDIT_STATE_DIR"
"""The environment variable that moves the state directory (tests, containers)."""

_PIN = "pin.json"
_TAG = "calaudit-pin/v1"
_MEMBERS = {
    "schema": str,
    "anchor_name": str,
    "anchor": str,
    "source": str,
    "root_version": int,
    "registry_version": int,
    "registry_sha256": str,
    "root_sha256": str,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """What this user accepted: the anchor root (file name, bytes), its directory, and the highest versions seen."""

    anchor: tuple[str, bytes]
    source: Path
    seen: Seen

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the anchor root's file: what two people compare by telephone."""
        return hashlib.sha256(self.anchor[1]).hexdigest()


def load_pin() -> TrustSource | None:
    """What the pinned directory holds now, below the root that was pinned; None where nothing is pinned.

    A directory that is gone leaves the root alone: nobody owns anything, and everything stays open.

    Raises:
        UsageError: the pin itself cannot be read, or others can write it.
    """
    pin = read_pin()
    if pin is None:
        return None
    try:
        found = load_directory(pin.source)
    except UsageError as error:
        return TrustSource(roots=(pin.anchor,), registry=None, seen=pin.seen, origin=f"the pinned root ({error})")
    version = _version(pin.anchor[0])
    later = tuple((name, data) for name, data in found.roots if _version(name) > version)
    return replace(found, roots=(pin.anchor, *later), seen=pin.seen, origin=f"the pinned root, {pin.source}")


def read_pin() -> Pin | None:
    """The pin as it was written; None where there is none.

    Raises:
        UsageError: it cannot be read, is damaged, or others can write it.
    """
    path = state_directory() / _PIN
    try:
        data = read_file(path, private=True)
    except FileNotFoundError:
        return None
    try:
        return _parsed(parse_json(data))
    except (Malformed, binascii.Error) as error:
        raise UsageError(f"{path} is damaged ({error}). Pin again: calaudit trust pin DIR --replace") from error


def write_pin(pin: Pin, *, replace_anchor: bool = False) -> None:
    """Remember a root, and what was seen below it.

    The caller has verified the chain and asked whoever runs this.

    Raises:
        UsageError: another root is pinned, or a higher version was seen, and ``replace_anchor`` is false.
    """
    with _locked():
        if not replace_anchor and (before := read_pin()) is not None:
            if before.fingerprint != pin.fingerprint:
                raise UsageError(
                    f"Another root is pinned, of {before.source} (SHA-256 {before.fingerprint}). If the new one is "
                    "right, and you know that from somebody, say --replace."
                )
            _not_older(before.seen, pin.seen)
        _write(pin)


def record_seen(seen: Seen) -> None:
    """Remember that higher versions were seen below the pinned root; lower ones change nothing.

    Raises:
        UsageError: the pin cannot be read or written.
    """
    with _locked():
        pin = read_pin()
        if pin is None or seen == pin.seen:
            return
        try:
            _not_older(pin.seen, seen)
        except UsageError:
            return  # the audit that saw it has reported the rollback
        _write(replace(pin, seen=seen))


def state_directory() -> Path:
    """Where the pin lives."""
    named = os.environ.get(STATE_VARIABLE)
    return Path(named) if named else user_state_path("calaudit")


def _parsed(raw: Any) -> Pin:
    if not isinstance(raw, dict) or set(raw) != set(_MEMBERS) or raw["schema"] != _TAG:
        raise Malformed("it is no pin of this version")
    wrong = next((member for member, kind in _MEMBERS.items() if type(raw[member]) is not kind), None)
    if wrong is not None or not ROOT_NAME.fullmatch(raw["anchor_name"]):
        raise Malformed(f"its member {wrong or 'anchor_name'} is not what it has to be")
    seen = Seen(
        root_version=raw["root_version"],
        registry_version=raw["registry_version"],
        registry_sha256=raw["registry_sha256"],
        root_sha256=raw["root_sha256"],
    )
    anchor = base64.b64decode(raw["anchor"], validate=True)
    return Pin(anchor=(raw["anchor_name"], anchor), source=Path(raw["source"]), seen=seen)


def _not_older(before: Seen, now: Seen) -> None:
    for what in ("root_version", "registry_version"):
        old, new = getattr(before, what), getattr(now, what)
        if new < old:
            raise UsageError(
                f"The {what.replace('_', ' ')} is {new}; {old} was seen before. This is an older copy. Get the newer "
                "one; or find out why the older one is right, and pin with --replace."
            )
    if before.root_version == now.root_version and before.root_sha256 not in ("", now.root_sha256):
        raise UsageError(
            f"The root is another one than that of version {now.root_version} that was seen before: two histories. "
            "Find out which one is right; then pin with --replace."
        )
    if before.registry_version == now.registry_version and before.registry_sha256 != now.registry_sha256:
        raise UsageError(
            f"The registry is another file than the one of version {now.registry_version} that was seen before: two "
            "histories. Find out which one is right; then pin with --replace."
        )


def _write(pin: Pin) -> None:
    document = {
        "schema": _TAG,
        "anchor_name": pin.anchor[0],
        "anchor": base64.b64encode(pin.anchor[1]).decode(),
        "source": str(pin.source),
        "root_version": pin.seen.root_version,
        "registry_version": pin.seen.registry_version,
        "registry_sha256": pin.seen.registry_sha256,
        "root_sha256": pin.seen.root_sha256,
    }
    path = state_directory() / _PIN
    try:
        write_atomic(path, orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n", mode=0o600)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.") from error


@contextmanager
def _locked() -> Iterator[None]:
    """One writer at a time, so that a version seen by one is not forgotten by another."""
    folder = state_directory()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise UsageError(f"The state directory {folder} cannot be written: {error.strerror}.") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _version(name: str) -> int:
    return int(name.partition(".")[0])

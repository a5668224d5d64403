"""What a file may be called: UTF-8, without control characters, unique in its folder for every file system.

Two names collide when they are the same in Unicode NFC after case folding: a checkout on macOS or Windows would keep
one.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class NameFault(NamedTuple):
    """What is wrong with one name, in the words of the rule that reports it."""

    rule: str
    name: str
    message: str


@dataclass(frozen=True, slots=True)
class Names:
    """The names of one folder.

    ``plain`` says that all are printable ASCII and unique. Otherwise ``shown`` maps each name that can be read, as it
    is on disk, to NFC; a name that is missing there stands for no path of its own.
    """

    plain: bool
    shown: Mapping[str, str]
    faults: Sequence[NameFault]


PLAIN = Names(plain=True, shown={}, faults=())


def survey(names: Sequence[str]) -> Names:
    """Look at the names of one folder, as ``os.scandir`` gave them (surrogates stand for bytes that are not UTF-8)."""
    joined = "/".join(names)
    if joined.isascii() and joined.isprintable():
        lower = joined.lower()
        if lower == joined or len(set(lower.split("/"))) == len(names):
            return PLAIN
    faults: list[NameFault] = []
    shown: dict[str, str] = {}
    groups: dict[str, list[str]] = {}
    for name in names:
        try:
            name.encode("utf-8")
        except UnicodeEncodeError:
            text = escape(name)
            faults.append(
                NameFault("name-not-utf8", text, f"The name {text} is not UTF-8, so nothing was read. Rename it.")
            )
            continue
        if any(is_control(c) for c in name):
            faults.append(
                NameFault(
                    "control-character",
                    unicodedata.normalize("NFC", name),
                    f"The name {name!a} holds a control character. Rename it.",
                )
            )
        shown[name] = unicodedata.normalize("NFC", name)
        groups.setdefault(fold(name), []).append(name)
    for group in groups.values():
        if len(group) > 1:
            faults += _collision(group, shown)
    return Names(plain=False, shown=shown, faults=faults)


def _collision(group: list[str], shown: dict[str, str]) -> list[NameFault]:
    listed = ", ".join(sorted(f"{name!a}" for name in group))
    forms = [shown[name] for name in group]
    faults = []
    for name in sorted(group):
        form = shown[name]
        twin = forms.count(form) > 1
        if twin:
            del shown[name]
        message = f"Names that differ only in letter case or Unicode form: {listed}."
        faults.append(
            NameFault(
                "name-collision", form, f"{message}{' None of them was read.' if twin else ''} Rename all but one."
            )
        )
    return faults


def fold(name: str) -> str:
    """The form in which names that collide are equal: canonical caseless matching (Unicode, D145), in NFC."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


def escape(name: str) -> str:
    r"""A name with ``\xNN`` for each byte that is not UTF-8."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def is_control(character: str) -> bool:
    """Whether a character steers instead of showing: C0, DEL, C1, line separators, and what no one sees (U+200B …)."""
    return unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp")

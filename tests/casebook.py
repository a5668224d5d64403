"""Case tables: one good port, and what each edit of it must do to the rules.

``tests/cases/<gate>.<rule>.toml`` holds the cases of one rule. A case edits a copy of the good port; ``expect`` is what
the rule then says on its gate, ``also`` (shell patterns) every other rule whose results change. A case that changes
more, or less, fails.

A case of a rule about signatures says what is ``signed``: the good port through G2 (``full``), its G0 alone (``g0``),
or a G0 that a waiver lets pass (``waived``; see ``tests.trust.signed_port``). It may name forgeries (``forge``), which
say themselves what they start from. Everything is then compared with that port, signed and whole.
"""

import errno
import json
import os
import re
import shutil
import socket
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from calaudit.contract import Contract
from calaudit.evidence import gathering
from calaudit.evidence.reader import Opener
from tests import graph_edits, rehash
from tests.trust.forgeries import find

TABLES = Path(__file__).parent / "cases"
PORT = Path(__file__).parent.parent / "examples" / "model-port" / "tiny-dense"
SIGNED = ("signoffs", "waivers", "attestations")
"""What `make sign-example` puts into the good port; tests edit and sign copies of their own."""


@dataclass(frozen=True)
class Case:
    """One row of a case table."""

    rule: str
    name: str
    expect: list[str]
    also: list[str] = field(default_factory=list)
    edit: dict[str, dict[str, Any]] = field(default_factory=dict)
    delete: dict[str, list[str]] = field(default_factory=dict)
    write: dict[str, str] = field(default_factory=dict)
    replace: dict[str, list[str]] = field(default_factory=dict)
    binary: dict[str, dict[str, Any]] = field(default_factory=dict)
    truncate: dict[str, int] = field(default_factory=dict)
    graph: str = ""
    remove: list[str] = field(default_factory=list)
    copy: dict[str, str] = field(default_factory=dict)
    link: dict[str, str] = field(default_factory=dict)
    hardlink: dict[str, str] = field(default_factory=dict)
    special: dict[str, str] = field(default_factory=dict)
    rawname: dict[str, str] = field(default_factory=dict)
    meanwhile: dict[str, str] = field(default_factory=dict)
    rehash: bool = False
    profile: str = ""
    gate: str = ""
    signed: str = ""
    forge: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.rule}: {self.name}"

    @property
    def kind(self) -> str:
        """Which signed port it starts from; empty for the good port as it is."""
        return self.signed or (find(self.forge[0]).kind if self.forge else "")

    @property
    def changes_nothing(self) -> bool:
        """Whether the good port, as it is or signed, is the case."""
        return self == Case(self.rule, self.name, self.expect, self.also, gate=self.gate, signed=self.signed)

    @property
    def judged_on(self) -> str:
        """The gate whose results ``expect`` speaks of: the rule's own, or for common rules the case's ``gate``."""
        prefix = self.rule.partition(".")[0]
        return (self.gate or "G1") if prefix == "common" else prefix

    def apply(self, port: Path, contract: Contract) -> None:
        """Edit a copy of the good port."""
        before = rehash.digests_of_a_fresh_copy(PORT) if self.rehash else {}
        for target, source in self.copy.items():
            _parent(port / target)
            shutil.copyfile(port / source, port / target)
        for target, text in self.write.items():
            _parent(port / target)
            (port / target).write_bytes(text.encode("utf-8", "surrogatepass"))
        for pattern in self.remove:
            _remove(port, pattern)
        for name, (old, new) in self.replace.items():
            text = (port / name).read_text("utf-8")
            assert old in text, f"{self}: {name} does not contain {old!r}"
            (port / name).write_text(text.replace(old, new), "utf-8")
        for name, edits in self.edit.items():
            _change(port / name, lambda doc, edits=edits: [_set(doc, p, v) for p, v in edits.items()])
        for name, pointers in self.delete.items():
            _change(port / name, lambda doc, pointers=pointers: [_drop(doc, p) for p in pointers])
        if self.profile:
            _change(port / "port.yaml", lambda doc: _set(doc, "/profile", self.profile))
        if self.graph:
            graph_edits.apply(port, self.graph)
        for name, patch in self.binary.items():
            _patch(port / name, patch["offset"], bytes.fromhex(patch["hex"]))
        for name, size in self.truncate.items():
            with (port / name).open("r+b") as file:
                file.truncate(size)
        if self.rehash:
            rehash.update(port, contract, before)
        for target, destination in self.link.items():
            _parent(port / target)
            (port / target).symlink_to(destination)
        for target, existing in self.hardlink.items():
            (port / target).hardlink_to(port / existing)
        for target, kind in self.special.items():
            _SPECIAL[kind](port / target)
        for folder, name in self.rawname.items():
            Path(os.fsdecode(os.fsencode(port / folder) + b"/" + bytes.fromhex(name))).write_bytes(b"x")

    def interfere(self, monkeypatch: pytest.MonkeyPatch, port: Path) -> None:
        """Let something happen to a file at the moment the audit opens it.

        It may ``grow``; its opening may be refused (``refuse``), or refused when it is read again (``forget``) because
        nothing is kept in memory.
        """
        plain = Opener.open
        seen: set[str] = set()
        if "forget" in self.meanwhile.values():
            monkeypatch.setattr(gathering, "BYTE_BUDGET", 0)

        def opened(opener: Opener, raw: str) -> int:
            again = raw in seen
            seen.add(raw)
            match self.meanwhile.get(raw):
                case "forget" if again:
                    raise PermissionError(errno.EACCES, "Permission denied", raw)
                case "grow":
                    with (port / raw).open("ab") as file:
                        file.write(b"\n")
                case "refuse":
                    raise PermissionError(errno.EACCES, "Permission denied", raw)
            return plain(opener, raw)

        if self.meanwhile:
            monkeypatch.setattr(Opener, "open", opened)


def copy_port(target: Path) -> None:
    """Copy the good port without its signatures: bytes and names, which is all that an audit looks at."""
    shutil.copytree(PORT, target, copy_function=shutil.copyfile, ignore=shutil.ignore_patterns(*SIGNED))


def cases() -> list[Case]:
    """Every case of every table."""
    found = []
    for table in sorted(TABLES.glob("*.toml")):
        found += [Case(rule=table.stem, **raw) for raw in tomllib.loads(table.read_text("utf-8"))["case"]]
    return found


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:  # bound by a short relative name: AF_UNIX paths are limited
        here = Path.cwd()
        os.chdir(path.parent)
        try:
            server.bind(path.name)
        finally:
            os.chdir(here)


_SPECIAL: dict[str, Callable[[Path], None]] = {"fifo": os.mkfifo, "socket": _socket, "folder": Path.mkdir}


def _parent(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)


def _remove(port: Path, pattern: str) -> None:
    found = list(port.glob(pattern))
    assert found, f"nothing matches {pattern}"
    for path in found:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def _patch(path: Path, offset: int, data: bytes) -> None:
    content = bytearray(path.read_bytes())
    start = len(content) if offset < 0 else offset
    content[start : start + len(data)] = data
    path.write_bytes(content)


def _change(path: Path, change: Callable[[Any], Any]) -> None:
    text = path.read_text("utf-8")
    if path.suffix == ".jsonl":
        records = [json.loads(line) for line in text.splitlines()]
        change(records)
        path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records), "utf-8")
    elif path.suffix in (".yaml", ".yml"):
        document = yaml.load(re.sub(r"(?m)^(\s*date: *)(\d{4}-\d\d-\d\d)$", r"\1'\2'", text), yaml.CSafeLoader)
        change(document)
        path.write_text(json.dumps(document, indent=1), "utf-8")  # JSON is YAML
    else:
        document = json.loads(text)
        change(document)
        path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", "utf-8")


def _walk(document: Any, pointer: str) -> tuple[Any, str | int]:
    *parents, last = [t.replace("~1", "/").replace("~0", "~") for t in pointer.split("/")[1:]]
    for token in parents:
        document = document[_step(document, token)]
    return document, _step(document, last)


def _step(document: Any, token: str) -> str | int:
    """One step of a pointer; in a list also ``member=value,…``: the first element whose members say so."""
    if not isinstance(document, list) or token == "-":
        return token
    if "=" not in token:
        return int(token)
    wanted = [pair.split("=", 1) for pair in token.split(",")]
    return next(n for n, item in enumerate(document) if all(str(item.get(k)) == v for k, v in wanted))


def _set(document: Any, pointer: str, value: Any) -> None:
    parent, key = _walk(document, pointer)
    if key == "-":
        parent.append(value)
    else:
        parent[key] = value


def _drop(document: Any, pointer: str) -> None:
    parent, key = _walk(document, pointer)
    del parent[key]


def iter_rules(cases_: list[Case]) -> Iterator[tuple[str, str]]:
    """Every (rule key, kind) that some case expects."""
    for case in cases_:
        for line in case.expect:
            yield case.rule, line.partition(":")[0]

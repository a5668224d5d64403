"""One port, audited once under one trust directory, for tests of what may be signed."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from calaudit.api import audit
from calaudit.contract import Contract
from calaudit.model import Report
from calaudit.pins import load_directory
from calaudit.trust import Trust, establish
from calaudit.trust.registry import Registry
from tests.casebook import PORT
from tests.sign.make import NOW, Keepers, keepers

UNSIGNED = shutil.ignore_patterns("signoffs", "waivers", "attestations")


@dataclass
class Judged:
    port: Path
    made: Keepers
    contract: Contract
    report: Report
    trust: Trust
    registry: Registry


def judged(folder: Path, contract: Contract, **files: str) -> Judged:
    """The example without its signatures, and with ``files`` besides (``__`` stands for a slash)."""
    port = folder / "tiny-dense"
    shutil.copytree(PORT, port, ignore=UNSIGNED)
    for name, text in files.items():
        (port / name.replace("__", "/")).write_text(text)
    made = keepers(folder)
    source = load_directory(made.path)
    trust = establish(source, NOW, contract.schemas)
    assert trust.registry is not None
    report = audit(port, contract=contract, trust=source, at=NOW)
    return Judged(port, made, contract, report, trust, trust.registry)

"""Reading policies and their cases with every fault, where loading a contract stops at the first."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calaudit.checks.catalogue import problems
from calaudit.contract import CuePolicy, Param, PolicyRule, Schemas
from calaudit.contract.overlays import kind_of
from calaudit.contract.params import parse_params
from calaudit.contract.policies import parse_rule
from calaudit.contract.policy_folder import TEST, read_folder
from calaudit.contract.resources import data_root
from calaudit.contract.yaml_place import Source
from calaudit.errors import ContractError, Malformed, UsageError
from calaudit.evidence.strict_yaml import parse_yaml
from calaudit.facts.schema import facts_schema

__all__ = ["TEST", "File", "Folder"]


@dataclass(frozen=True)
class File:
    """One file of policies or cases that was read; ``document`` is None where ``faults`` say why."""

    source: Source
    document: dict[str, Any] | None
    faults: tuple[str, ...]


class Folder:
    """The policies of a contract and of overlays, with what they are checked against."""

    def __init__(self, root: Path | None, overlays: Sequence[Path] = (), *, shipped: bool = True) -> None:
        """``root`` holds ``schemas/`` and ``policies/``; what calaudit ships if None.

        ``shipped`` says whether the policies of ``root`` are among those to look at, besides those of ``overlays``.

        Raises:
            UsageError: there are no policies.
            ContractError: schemas or params are faulty, or a policy directory holds something else.
        """
        self.root = root or data_root()
        self.overlays = tuple(overlays)
        if not (self.root / "policies").is_dir() or not (self.root / "schemas").is_dir():
            raise UsageError(f"{self.root} holds no policies/ and schemas/; name the folder that holds both.")
        self.schemas = Schemas(self.root / "schemas")
        self.facts = facts_schema()
        self.cue: dict[str, CuePolicy] = {}
        self.strange: dict[str, str] = {}
        """What is wrong with files of overlays whose tag says that they are something else: nothing else is."""
        self._files: dict[str, Path] = {}
        self.params = self._params()
        if shipped:
            found = sorted((self.root / "policies").glob("g[0-9][0-9]-*.yaml"))
            self._files |= {f"policies/{path.name}": path for path in found}
        for overlay in overlays:
            self._add(overlay)

    def _add(self, overlay: Path) -> None:
        folder = read_folder(overlay)
        for name, data in folder.yaml.items():
            file = Source(folder.where(name), overlay / name)
            try:
                tightens = kind_of(parse_yaml(data), file, self.schemas) == "overlay/v1"
            except Malformed:
                tightens = False  # told when it is read
            except ContractError as error:
                self.strange[file.name] = str(error)
                continue
            if not tightens:
                self._files[file.name] = overlay / name
        self._files |= {folder.where(name): overlay / name for name in folder.tests}
        for name, source in folder.cue.items():
            where = folder.where(name)
            self.cue[where] = CuePolicy(name=name, where=where, source=source)

    def _params(self) -> dict[str, Param]:
        found = self.read("policies/params.yaml", "params/v1")
        if found.document is None:
            raise ContractError(" ".join(found.faults))
        return dict(parse_params(found.document))

    def thresholds(self) -> frozenset[str]:
        """The keys of the hard thresholds in ``gates.yaml``.

        Raises:
            ContractError: the file is faulty.
        """
        found = self.read("policies/gates.yaml", "gates/v1")
        if found.document is None:
            raise ContractError(" ".join(found.faults))
        return frozenset(f"{gate['id']}.{rule}" for gate in found.document["gates"] for rule in gate["threshold"])

    def policies(self) -> list[str]:
        """The policies in CEL: their names below the root, those of overlays as the caller named them."""
        return [name for name in self._files if not name.endswith(TEST)]

    def tests(self) -> list[str]:
        """The files of cases."""
        return [name for name in self._files if name.endswith(TEST)]

    def read(self, name: str, schema: str) -> File:
        """Read one file strictly and hold it against its schema."""
        path = self._files.get(name, self.root / name)
        source = Source(name, path)
        try:
            value = parse_yaml(path.read_bytes())
        except OSError as error:
            return File(source, None, (f"{name}: it cannot be read: {error.strerror}.",))
        except Malformed as error:
            return File(source, None, (f"{name}:{error.line or 1}:{error.column or 1}: {error.message}",))
        faults = tuple(
            f"{source.place(*_steps(fault.pointer))}: {fault.message} ({schema})."
            for fault in self.schemas.errors(schema, value)
        )
        return File(source, value if isinstance(value, dict) and not faults else None, faults)

    def rules(self, file: File) -> Iterator[PolicyRule | str]:
        """The rules of a policy that compile and fit the facts, and a sentence for every fault of the others."""
        for index, raw in enumerate(file.document["rules"] if file.document else ()):
            try:
                rule = parse_rule(file.document["gate"] if file.document else "", raw, file.source, index, self.params)
            except ContractError as error:
                yield str(error)
                continue
            faults = [f"{place}: {rule.rule.id}: {text}." for place, text in problems(rule, self.facts, self.params)]
            yield from faults
            if not faults:
                yield rule


def _steps(pointer: str) -> Iterator[str | int]:
    for token in pointer.split("/")[1:]:
        yield int(token) if token.isdecimal() else token.replace("~1", "/").replace("~0", "~")

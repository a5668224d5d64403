"""``policies/gates.yaml``: the gates, and which file belongs to which of them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from types import MappingProxyType
from typing import Any, TypeVar

from calaudit.contract.globs import Glob
from calaudit.contract.placeholders import Placeholders
from calaudit.errors import ContractError
from calaudit.model import PORT, ArtifactSpec, Duty, Format, Gate, HashList

T = TypeVar("T")


@dataclass(frozen=True)
class Gates:
    """All gates in order, the port-level artifacts and duties, and the placeholders."""

    gates: Mapping[str, Gate]
    folders: Mapping[str, str]
    port: tuple[ArtifactSpec, ...]
    placeholders: Placeholders
    duties: tuple[Duty, ...] = ()

    def artifacts(self) -> Iterator[ArtifactSpec]:
        """Every artifact of every gate, then those of the port."""
        for gate in self.gates.values():
            yield from gate.artifacts
        yield from self.port

    @cached_property
    def _exact(self) -> dict[str, ArtifactSpec]:
        return {a.pattern: a for a in self.artifacts() if not a.is_glob}

    @cached_property
    def _globs(self) -> list[tuple[Glob, ArtifactSpec]]:
        return [(Glob(a.pattern), a) for a in self.artifacts() if a.is_glob]

    @cached_property
    def _compiled(self) -> dict[str, Glob]:
        return {glob.pattern: glob for glob, _ in self._globs}

    def match(self, path: str) -> ArtifactSpec | None:
        """The artifact a path belongs to: an exact path first, then the first pattern that fits; None if unknown."""
        exact = self._exact.get(path)
        if exact is not None:
            return exact
        return next((spec for glob, spec in self._globs if glob.matches(path)), None)

    def glob(self, pattern: str) -> Glob:
        """A compiled pattern, for the stations that do not import the contract."""
        return self._compiled.setdefault(pattern, Glob(pattern))

    def gate_of(self, path: str) -> str:
        """The gate whose matter a path is: its artifact's, else that of its top folder, else the port's."""
        spec = self.match(path)
        if spec is not None:
            return spec.gate
        return self.folders.get(path.partition("/")[0], PORT)


def parse_gates(document: Mapping[str, Any]) -> Gates:
    """Turn a schema-valid ``gates.yaml`` into nouns.

    Raises:
        ContractError: two gates have one id or folder, two gates claim one path, a pattern can never match or is no
            glob of ours, or a gate does not stand after those it depends on.
    """
    gates = _unique(((raw["id"], _gate(raw)) for raw in document["gates"]), "two gates are called", "rename one")
    folders = _unique(
        ((raw["folder"], raw["id"]) for raw in document["gates"] if "folder" in raw),
        "two gates have the folder",
        "move one",
    )
    words = document["placeholders"]
    parsed = Gates(
        gates=MappingProxyType(gates),
        folders=MappingProxyType(folders),
        port=tuple(_artifact(raw, PORT) for raw in document["port"]),
        placeholders=Placeholders(words=frozenset(words["words"]), zero=frozenset(words["zero"])),
        duties=_duties(document.get("duties", ())),
    )
    _check(parsed)
    return parsed


def _gate(raw: Mapping[str, Any]) -> Gate:
    return Gate(
        id=raw["id"],
        name=raw["name"],
        title=raw["title"],
        owner=raw["owner"],
        output=raw["output"],
        back_to=raw["back_to"],
        cosigners=tuple(raw.get("cosigners", ())),
        depends=tuple(raw.get("depends", ())),
        threshold=tuple(raw["threshold"]),
        artifacts=tuple(_artifact(a, raw["id"]) for a in raw["artifacts"]),
        duties=_duties(raw.get("duties", ())),
    )


def _duties(raw: Iterable[Mapping[str, Any]]) -> tuple[Duty, ...]:
    return tuple(Duty(role=duty["role"], covers=tuple(duty["covers"])) for duty in raw)


def _artifact(raw: Mapping[str, Any], gate: str) -> ArtifactSpec:
    return ArtifactSpec(
        name=raw["name"],
        gate=gate,
        pattern=raw["path"],
        format=Format(raw["format"]),
        schema=raw.get("schema"),
        required=raw.get("required", True),
        tag=raw.get("tag"),
        hashes=tuple(_hash_list(h) for h in raw.get("hashes", ())),
        binds=MappingProxyType(dict(raw.get("binds", {}))),
        free_text=frozenset(raw.get("free_text", ())),
        machine_paths=raw.get("machine_paths", False),
        foreign=raw.get("foreign", False),
    )


def _hash_list(raw: Mapping[str, Any]) -> HashList:
    return HashList(**{**raw, "covers": tuple(raw.get("covers", ()))})


def _unique(pairs: Iterable[tuple[str, T]], complaint: str, advice: str) -> dict[str, T]:
    found: dict[str, T] = {}
    for key, value in pairs:
        if key in found:
            raise _fault(f"{complaint} {key}; {advice}.")
        found[key] = value
    return found


def _check(gates: Gates) -> None:
    _check_artifacts(gates)
    done: set[str] = set()
    for gate in gates.gates.values():
        _check_signers(gate)
        if not done.issuperset(gate.depends):
            missing = ", ".join(sorted(set(gate.depends) - done))
            raise _fault(f"{gate.id} depends on {missing}, which does not stand before it.")
        done.add(gate.id)


def _check_artifacts(gates: Gates) -> None:
    specs = tuple(gates.artifacts())
    _unique(((spec.name, spec) for spec in specs), "two artifacts are named", "rename one")
    _unique(((spec.pattern, spec) for spec in specs), "two artifacts have the path", "a file belongs to exactly one")
    for spec in specs:
        if any("**" in segment and segment != "**" for segment in spec.pattern.split("/")):
            raise _fault(f"{spec.name}: in {spec.pattern} a ** is only part of a segment; give it one of its own.")
        found = gates.match(Glob(spec.pattern).example())
        if found is not spec:
            other = "" if found is None else f": its files belong to {found.name}, which stands before it"
            raise _fault(f"{spec.name}: the path {spec.pattern} is never reached{other}; reorder or drop one.")
    for left, right in combinations(specs, 2):
        if left.gate != right.gate and (left.is_glob or right.is_glob) and _overlap(left.pattern, right.pattern):
            raise _fault(
                f"{left.pattern} of {left.gate} and {right.pattern} of {right.gate} can be one file; "
                "a file belongs to exactly one gate."
            )


def _check_signers(gate: Gate) -> None:
    if gate.owner in gate.cosigners:
        raise _fault(f"{gate.id}: its owner {gate.owner} is also a co-signer; another role has to sign too.")
    for duty in gate.duties:
        if duty.role not in gate.signers:
            raise _fault(f"{gate.id}: {duty.role} has a duty and does not sign; make it a co-signer.")


def _overlap(left: str, right: str) -> bool:
    # Almost all pairs differ in their top folder already.
    tops = left.partition("/")[0], right.partition("/")[0]
    return (tops[0] == tops[1] or "*" in "".join(tops) or "?" in "".join(tops)) and Glob(left).overlaps(Glob(right))


def _fault(message: str) -> ContractError:
    return ContractError(f"policies/gates.yaml: {message}")

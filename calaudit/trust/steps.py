"""The steps that ``port.yaml`` declares, as a chain: who runs what, what goes in, what comes out, and in which order.

Layouts are compiled from this, and links are held against it, so that no layout can demand less than the port does.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from graphlib import CycleError, TopologicalSorter
from hashlib import sha256
from typing import Any, cast

import rfc8785

from calaudit.contract.globs import Glob
from calaudit.errors import Malformed
from calaudit.model import Json
from calaudit.trust.roles import FUNCTIONARY

__all__ = ["LAYOUT", "ChainStep", "is_forbidden", "read_chain"]

LAYOUT = "attestations/root.layout"
"""Where the layout of a port's steps is."""

_FORBIDDEN = ("port.yaml", "attestations/**", "signoffs/**", "waivers/**", ".calaudit/**")

SIGNED = ("attestations/", "signoffs/", "waivers/")
"""Folders of what is signed about the port: no step reads them, whatever its globs say."""


@dataclass(frozen=True, slots=True)
class ChainStep:
    """One step; ``upstream`` are the names of the steps that make something it may read, in the chain's order.

    ``executor`` is the kind that runs it, ``image`` a container's, ``rebuilds`` how many attested runs have to agree.
    ``digest`` is the SHA-256 of all that ``port.yaml`` says of it (RFC 8785).
    """

    name: str
    gate: str
    role: str
    command: tuple[str, ...]
    tools: tuple[str, ...]
    materials: tuple[str, ...]
    products: tuple[str, ...]
    executor: str
    digest: str
    network: str = "none"
    image: str | None = None
    rebuilds: int = 1
    toolchain: str | None = None
    env: tuple[tuple[str, str], ...] = ()
    secrets: tuple[str, ...] = ()
    upstream: tuple[str, ...] = ()

    @property
    def functionary(self) -> str:
        """The delegation whose keys sign its links."""
        return self.role + FUNCTIONARY

    @property
    def inputs(self) -> tuple[str, ...]:
        """Globs of all that the step reads."""
        return (*self.materials, *self.tools)

    def reads(self, path: str) -> bool:
        """Whether the step may read the file: it fits a material or a tool."""
        return any(_glob(p).matches(path) for p in self.inputs)

    def uses(self, path: str) -> bool:
        """Whether the file is a tool of the step."""
        return any(_glob(p).matches(path) for p in self.tools)

    def writes(self, path: str) -> bool:
        """Whether the file is a product of the step."""
        return any(_glob(p).matches(path) for p in self.products)

    def consumed(self, files: Mapping[str, str]) -> dict[str, str]:
        """Those of the files that a run of the step reads: not its own products, nor what is signed."""
        return {p: d for p, d in files.items() if self.reads(p) and not self.writes(p) and not p.startswith(SIGNED)}

    def unmet(self, materials: Iterable[str], products: Iterable[str]) -> str | None:
        """A glob that nothing among what was read, or written, fits; None where each has its files."""
        for patterns, paths in ((self.inputs, list(materials)), (self.products, list(products))):
            for pattern in patterns:
                if not any(_glob(pattern).matches(path) for path in paths):
                    return pattern
        return None

    def made(self, files: Mapping[str, str]) -> dict[str, str]:
        """Those of the files that a run of the step writes."""
        return {path: digest for path, digest in files.items() if self.writes(path)}


def read_chain(document: Json) -> tuple[ChainStep, ...]:
    """The steps of a ``port.yaml`` that follows its schema, upstream first; none where it declares none.

    Raises:
        Malformed: a step writes what is no step's to make, two steps write one file, or they go round in a circle.
    """
    declared = document.get("steps") if isinstance(document, dict) else None
    steps = {n: _step(n, cast("dict[str, Any]", s)) for n, s in sorted(cast("dict[str, Json]", declared or {}).items())}
    for step in steps.values():
        wrong = next(filter(is_forbidden, step.products), None)
        if wrong is not None:
            raise Malformed(
                f"The step {step.name} may not write {wrong}: it is not a step's to make.",
                pointer=f"/steps/{step.name}/products",
            )
    _one_maker(tuple(steps.values()))
    upstream = {name: tuple(_upstream(step, steps)) for name, step in steps.items()}
    sorter = TopologicalSorter(upstream)
    try:
        sorter.prepare()
    except CycleError as error:
        circle = " → ".join(error.args[1])
        raise Malformed(f"The steps go round in a circle: {circle}.", pointer="/steps") from error
    order: list[str] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        order += ready
        sorter.done(*ready)
    place = {name: number for number, name in enumerate(order)}
    return tuple(replace(steps[name], upstream=tuple(sorted(upstream[name], key=place.__getitem__))) for name in order)


def is_forbidden(product: str) -> bool:
    """Whether a product's glob fits what no step makes, on whatever file system: signatures, and the manifest."""
    return any(_glob(product.casefold()).overlaps(_glob(place)) for place in _FORBIDDEN)


def _step(name: str, said: Mapping[str, Any]) -> ChainStep:
    return ChainStep(
        name=name,
        gate=str(said["gate"]),
        role=str(said["role"]),
        command=tuple(said["run"]),
        tools=tuple(said.get("tools", ())),
        materials=tuple(said["materials"]),
        products=tuple(said["products"]),
        executor=str(said["executor"]["kind"]),
        digest=sha256(rfc8785.dumps(dict(said))).hexdigest(),
        network=str(said["executor"]["network"]),
        image=said["executor"].get("image"),
        rebuilds=said.get("rebuilds", 1),
        toolchain=said.get("toolchain"),
        env=tuple(sorted(said.get("env", {}).items())),
        secrets=tuple(said.get("secrets", ())),
    )


def _upstream(step: ChainStep, steps: Mapping[str, ChainStep]) -> Iterator[str]:
    wanted = [_glob(p) for p in step.inputs]
    for other in steps.values():
        if other.name != step.name and any(_glob(p).overlaps(w) for p in other.products for w in wanted):
            yield other.name


def _one_maker(steps: Sequence[ChainStep]) -> None:
    for number, step in enumerate(steps):
        for other in steps[:number]:
            for mine in step.products:
                theirs = next((p for p in other.products if _glob(p).overlaps(_glob(mine))), None)
                if theirs is not None:
                    raise Malformed(
                        f"The steps {other.name} ({theirs}) and {step.name} ({mine}) may write one file; a file has "
                        "one maker.",
                        pointer=f"/steps/{step.name}/products",
                    )


@cache
def _glob(pattern: str) -> Glob:
    """A pattern is compiled once, however many files it is held against."""
    return Glob(pattern)

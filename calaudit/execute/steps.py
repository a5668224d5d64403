"""The steps of ``port.yaml``, read by the one strict parser and held to the schema."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calaudit.contract import Schemas
from calaudit.contract.globs import Glob
from calaudit.errors import Malformed, UsageError
from calaudit.execute.manifest import MANIFEST, read_manifest
from calaudit.execute.nouns import NO_NETWORK, Step
from calaudit.execute.order import in_order
from calaudit.trust.isolation import ELSEWHERE
from calaudit.trust.steps import ChainStep, is_forbidden, read_chain

__all__ = ["Plan", "read_steps"]

_UNSETTABLE = ("CALAUDIT_INVOCATION", "HOME", "TMPDIR")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The id of a port, its steps in the order of the manifest, and the same by name as verification sees them."""

    port: str
    steps: tuple[Step, ...]
    chain: Mapping[str, ChainStep]


def read_steps(port: Path, schemas: Schemas) -> Plan:
    """What ``port.yaml`` says is to be run.

    Raises:
        UsageError: it cannot be read, is faulty, has no steps, or a step contradicts itself.
    """
    path = port / MANIFEST
    document = read_manifest(port, schemas)
    raw = document.get("steps", {})
    if not raw:
        raise UsageError(f"{path} has no steps, so there is nothing to run.")
    steps = tuple(_step(name, member) for name, member in raw.items())
    in_order(steps)  # it says best what contradicts what
    try:
        chain = {step.name: step for step in read_chain(document)}
    except Malformed as error:
        raise UsageError(f"{path}: {error.message}") from error
    return Plan(port=document["id"], steps=steps, chain=chain)


def _step(name: str, raw: Mapping[str, Any]) -> Step:
    executor = raw["executor"]
    step = Step(
        name=name,
        gate=raw["gate"],
        role=raw["role"],
        run=tuple(raw["run"]),
        tools=tuple(raw.get("tools", ())),
        toolchain=raw.get("toolchain"),
        materials=tuple(raw["materials"]),
        products=tuple(raw["products"]),
        kind=executor["kind"],
        network=executor["network"],
        image=executor.get("image"),
        rebuilds=raw.get("rebuilds", 1),
        timeout_s=raw.get("timeout_s"),
        env=dict(raw.get("env", {})),
        secrets=tuple(raw.get("secrets", ())),
    )
    _check(step)
    return step


def _check(step: Step) -> None:
    where = f"{MANIFEST}: the step {step.name}"
    if not step.inputs:
        raise UsageError(f"{where} reads nothing: name its materials or tools, or nothing can be said of what it made.")
    for product in step.products:
        for material in step.inputs:
            if Glob(product).overlaps(Glob(material)):
                raise UsageError(f"{where} reads what it writes: {material} and {product} fit the same file.")
        if is_forbidden(product):
            raise UsageError(f"{where} may not write {product}: it is not a step's to make.")
    _check_executor(step, where)


def _check_executor(step: Step, where: str) -> None:
    for variable in (*step.env, *step.secrets):
        if variable in _UNSETTABLE:
            raise UsageError(f"{where} sets {variable}, which the executor sets.")
    both = sorted(set(step.env) & set(step.secrets))
    if both:
        raise UsageError(f"{where} has {both[0]} among env and among secrets; a secret's value stands nowhere.")
    if step.kind == "oci" and step.image is None:
        raise UsageError(f"{where} runs in a container, but names no executor.image by digest.")
    if step.kind not in ("local", ELSEWHERE) and step.network != NO_NETWORK:
        raise UsageError(
            f"{where} asks for the network endpoint {step.network}, which {step.kind} cannot enforce: it can only cut "
            "off the network altogether. Say network: none, or kind: local, whose provenance says that nothing was "
            "enforced."
        )

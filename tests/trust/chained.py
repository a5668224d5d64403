"""Ports whose steps are chained: two small steps in the place of the example's, laid out, run and signed.

``fetch`` reads the manifest and writes the model's configuration; ``tokenize``, of another role, reads that and writes
the tokenizer. Both run in G0, so that a port that claims G0 alone shows every rule of the chain.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import yaml

from calaudit.trust.layout_rules import compile_layout
from calaudit.trust.roles import FUNCTIONARY
from calaudit.trust.steps import LAYOUT, ChainStep, read_chain
from tests.trust import authority as kit
from tests.trust.signed_port import MANIFEST, SignedPort

CONFIG = "00-source/hf-config/config.json"
TOKENIZER = "00-source/hf-config/tokenizer.json"
TOOL = "tools/generate_reference.py"
EXPIRES = datetime(2090, 6, 30, tzinfo=UTC)
"""Late enough for in-toto, which asks the clock of the machine."""

STEPS: dict[str, dict[str, Any]] = {
    "fetch": {
        "gate": "G0",
        "role": "model",
        "run": ["python", TOOL, "--fetch"],
        "tools": [TOOL],
        "materials": [MANIFEST],
        "products": [CONFIG],
        "executor": {"kind": "local", "network": "none"},
    },
    "tokenize": {
        "gate": "G0",
        "role": "export",
        "run": ["python", "-c", "pass"],
        "materials": ["00-source/hf-config/c*.json", MANIFEST],
        "products": [TOKENIZER],
        "executor": {"kind": "local", "network": "none"},
    },
}
RELEASE = ("release", "release-2")


def declare(port: SignedPort, steps: Mapping[str, Any] = STEPS) -> None:
    """Let port.yaml declare these steps."""
    path = port.path / "port.yaml"
    document = yaml.load(path.read_text("utf-8"), yaml.CSafeLoader)
    path.write_text(json.dumps({**document, "steps": dict(steps)}, indent=1), "utf-8")


def chain(port: SignedPort) -> tuple[ChainStep, ...]:
    return read_chain(yaml.load((port.path / "port.yaml").read_text("utf-8"), yaml.CSafeLoader))


def registry(port: SignedPort) -> Any:
    from calaudit.trust import establish

    found = establish(port.authority.source(), port.at, port.contract.schemas).registry
    assert found is not None
    return found


def layout(port: SignedPort) -> dict[str, Any]:
    """The layout as it should be."""
    return compile_layout(kit.PORT_ID, chain(port), registry(port), EXPIRES)


def link(port: SignedPort, step: str, **changes: Any) -> dict[str, Any]:
    """The link of a step as it should be, but for ``changes``."""
    spec = next(s for s in chain(port) if s.name == step)
    found = kit.files(port.path)
    hashes = {path: {"sha256": digest} for path, digest in found.items()}
    return {
        "_type": "link",
        "name": step,
        "command": list(spec.command),
        "materials": {path: hashes[path] for path in spec.consumed(found)},
        "products": {path: hashes[path] for path in spec.made(found)},
        "byproducts": {"return-value": 0, "stdout": "", "stderr": ""},
        "environment": {},
        **changes,
    }


def link_path(step: str, seed: str) -> str:
    return f"attestations/{step}.{kit.key(seed).public_key.keyid[:8]}.link"


def seed_of(port: SignedPort, step: str) -> str:
    return next(s for s in chain(port) if s.name == step).role + FUNCTIONARY


def lay_out(port: SignedPort, *seeds: str, **changes: Any) -> None:
    """Sign the layout, but for ``changes``."""
    port.sign(LAYOUT, {**layout(port), **changes}, *(seeds or RELEASE))


def run(port: SignedPort, step: str, *seeds: str, path: str = "", **changes: Any) -> str:
    """Sign the link of a step, but for ``changes``; its path."""
    seeds = seeds or (seed_of(port, step),)
    path = path or link_path(step, seeds[0])
    port.sign(path, link(port, step, **changes), *seeds)
    return path


def chained(port: SignedPort) -> None:
    """Declare, lay out and run both steps."""
    declare(port)
    lay_out(port)
    for step in STEPS:
        run(port, step)

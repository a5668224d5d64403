"""The steps of a port as an in-toto layout: the one document that ``port.yaml`` and the registry come to.

in-toto's patterns are ``fnmatch``'s, whose ``*`` crosses ``/``: what they let pass is never less than what the port's
globs let pass, and may be more. A link is therefore held against the globs themselves, too.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from hashlib import sha256
from itertools import product
from typing import Any

from calaudit.errors import Malformed
from calaudit.trust.keys import is_keyless
from calaudit.trust.registry import Registry
from calaudit.trust.steps import ChainStep

__all__ = ["compile_layout", "functionaries", "when"]

_ANY = "**"
_FORKS_MAX = 6
"""A ``**`` between two segments doubles the patterns of a glob: there may be none of it."""


def compile_layout(port: str, chain: Sequence[ChainStep], registry: Registry, expires: datetime) -> dict[str, Any]:
    """The layout, as in-toto writes it.

    Raises:
        Malformed: it cannot be laid out: a role has no functionary, or a glob is too wild.
    """
    keys: dict[str, dict[str, Any]] = {}
    steps = []
    known = {step.name: step for step in chain}
    for step in chain:
        allowed = functionaries(step, registry)
        keys.update(allowed)
        role = registry.role(step.functionary)
        steps.append(
            {
                "_type": "step",
                "name": step.name,
                "expected_command": list(step.command),
                "expected_materials": list(_material_rules(step, [known[name] for name in step.upstream])),
                "expected_products": list(_product_rules(step)),
                "pubkeys": sorted(allowed),
                "threshold": 1 if role is None else role.threshold,
            }
        )
    return {
        "_type": "layout",
        "expires": when(expires),
        "inspect": [],
        "keys": dict(sorted(keys.items())),
        # in-toto has no place for the rest of a step: its gate, what shuts it in, how often it is built.
        "readme": f"The steps of the port {port}, as its port.yaml declares them: sha256:{_declared(chain)}",
        "steps": steps,
    }


def _declared(chain: Iterable[ChainStep]) -> str:
    """The digest of all declarations, whatever their order."""
    return sha256("".join(sorted(f"{step.name} {step.digest}\n" for step in chain)).encode()).hexdigest()


def functionaries(step: ChainStep, registry: Registry) -> dict[str, dict[str, Any]]:
    """The keys that may sign a link of the step, as in-toto writes them.

    Raises:
        Malformed: there are too few of them.
    """
    role = registry.role(step.functionary)
    # A keyless key signs bundles, which in-toto cannot read as links.
    keys = {} if role is None else {k: key for k, key in sorted(role.keys.items()) if not is_keyless(key)}
    if role is None or len(keys) < role.threshold:
        raise Malformed(
            f"The step {step.name} is run by functionaries of {step.role}, and the registry has no keys (or too few) "
            f"for {step.functionary}.",
            pointer=f"/steps/{step.name}/role",
        )
    return {
        keyid: {"keyid": keyid, "keytype": key.keytype, "scheme": key.scheme, "keyval": dict(key.keyval)}
        for keyid, key in keys.items()
    }


def when(moment: datetime) -> str:
    """A moment as layouts write it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _material_rules(step: ChainStep, upstream: Iterable[ChainStep]) -> Iterator[list[str]]:
    """What must be there; what the steps before made, as they made it; then the rest, and nothing else."""
    yield from (["REQUIRE", path] for path in dict.fromkeys(_literals(step.inputs)))
    made = []
    for maker in upstream:
        for pattern in maker.products:
            forms = list(_forms(pattern))
            made += [(pattern, form) for form in forms]
            yield from (["MATCH", form, "WITH", "PRODUCTS", "FROM", maker.name] for form in forms)
    # What an earlier step makes, and another one than it made, is not just any file.
    yield from (["DISALLOW", form] for pattern, form in made if _is_exact(pattern))
    yield from (["ALLOW", form] for pattern in step.inputs for form in _forms(pattern))
    yield ["DISALLOW", "*"]


def _product_rules(step: ChainStep) -> Iterator[list[str]]:
    yield from (["REQUIRE", path] for path in _literals(step.products))
    yield from (["ALLOW", form] for pattern in step.products for form in _forms(pattern))
    yield ["DISALLOW", "*"]


def _literals(patterns: Iterable[str]) -> list[str]:
    return [pattern for pattern in patterns if not re.search(r"[*?]", pattern)]


def _is_exact(pattern: str) -> bool:
    """Whether ``fnmatch`` means by it what the port's globs do."""
    return not any(re.search(r"[*?]", segment) for segment in pattern.split("/") if segment != _ANY)


def _forms(pattern: str) -> Iterator[str]:
    """The ``fnmatch`` patterns of a glob: a ``**`` before the end stands for segments, or for none."""
    segments = pattern.split("/")
    forks = [n for n, segment in enumerate(segments[:-1]) if segment == _ANY]
    if len(forks) > _FORKS_MAX:
        raise Malformed(f"The glob {pattern} has more than {_FORKS_MAX} ** before its end.", pointer="/steps")
    for kept in product((False, True), repeat=len(forks)):
        dropped = {n for n, keep in zip(forks, kept, strict=True) if not keep}
        form = ["*" if s == _ANY else s.replace("[", "[[]") for n, s in enumerate(segments) if n not in dropped]
        yield "/".join(form)

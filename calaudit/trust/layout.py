"""The layout of a port's steps: release owners' word on who runs what, in which order, on what.

It can only say what ``port.yaml`` and the registry say today. What in-toto would let pass is named first: inspections
(a verifier would run them), no steps at all, a key under two ids, steps that nobody knows.
"""

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from securesystemslib.signer import Key

from calaudit.contract import Schemas
from calaudit.errors import Malformed, MissingFact
from calaudit.model import Kind, Location
from calaudit.trust.envelope import Envelope, parse_statement
from calaudit.trust.fault import Refused
from calaudit.trust.keys import key_id, material
from calaudit.trust.layout_rules import compile_layout
from calaudit.trust.library import READ_ERRORS, first_line, library_model
from calaudit.trust.moment import parse_time
from calaudit.trust.registry import Registry
from calaudit.trust.roles import RELEASE
from calaudit.trust.signatures import Signer, meets, signers
from calaudit.trust.steps import ChainStep

if TYPE_CHECKING:
    from in_toto.models.layout import Layout as LibraryLayout

__all__ = ["Layout", "library_layout", "parse_layout", "verify_layout"]

SCHEMA = "in-toto-layout/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A layout that holds, and who signed it."""

    path: str
    expires: datetime
    steps: tuple[str, ...]
    signers: tuple[Signer, ...]


def verify_layout(  # noqa: PLR0913 - everything that a layout is held against, by name
    envelope: Envelope,
    *,
    port: str,
    chain: Sequence[ChainStep] | MissingFact,
    registry: Registry,
    schemas: Schemas,
    now: datetime,
) -> Layout:
    """Verify the layout of a port; ``chain`` are the steps that its ``port.yaml`` declares, or why nobody can tell.

    Raises:
        Refused: with the rule of the first step that does not hold.
    """
    at = Location(path=envelope.path)
    # 1. It is one, in one reading, and in-toto's own model takes it.
    try:
        document = parse_layout(envelope, schemas)
        expires = parse_time(document["expires"])
    except Malformed as error:
        raise Refused("layout-malformed", error.message, at=at) from error
    # 2. Release owners signed it, as many different ones as a release needs, and nobody else.
    role = registry.role(RELEASE)
    if role is None:
        raise Refused("layout-threshold", f"Nobody owns the role {RELEASE}, whose signatures it needs.", at=at)
    signed = signers([envelope], [role], registry, None, prefix="layout")
    count = meets(signed, role)
    if count < role.threshold:
        raise Refused(
            "layout-threshold",
            f"{count} of the {role.threshold} owners of {RELEASE} that are needed signed.",
            at=at,
            expected=f"{role.threshold} different owners",
            actual=str(count),
        )
    # 3. It has not run out.
    if now >= expires:
        raise Refused("layout-expired", f"It ran out on {expires:%Y-%m-%d}. Compile and sign it again.", at=at)
    # 4. It demands something, of people who are who they seem to be, and nothing of the verifier.
    steps: list[dict[str, Any]] = document["steps"]
    if document["inspect"]:
        told = ", ".join(str(item["name"]) for item in document["inspect"])
        raise Refused("layout-has-inspection", f"It wants the verifier to run commands ({told}).", at=at)
    if not steps:
        raise Refused("layout-empty", "It has no steps, so that it demands nothing.", at=at)
    _sound_keys(document["keys"], at)
    _known_steps(steps, at)
    # 5. It is what the port and the registry come to today.
    if isinstance(chain, MissingFact):
        message = f"Whether the layout and the links are of the port's steps is open. {chain.message}"
        raise Refused("layout-differs-from-port", message, at=chain.at, kind=Kind.OPEN)
    _same_as_port(document, port, chain, registry, expires, at)
    return Layout(path=envelope.path, expires=expires, steps=tuple(s["name"] for s in steps), signers=signed)


def parse_layout(envelope: Envelope, schemas: Schemas) -> dict[str, Any]:
    """The layout that was signed, as a document.

    Raises:
        Malformed: it is none, by our schema or by in-toto's model.
    """
    document = parse_statement(envelope, SCHEMA, schemas)
    library_layout(document)
    return document


def library_layout(document: Mapping[str, Any]) -> "LibraryLayout":
    """The layout as in-toto has it.

    Raises:
        Malformed: in-toto refuses it.
    """
    from in_toto.models.layout import Layout as LibraryLayout  # noqa: PLC0415 - a fifth of a second of imports

    return library_model(LibraryLayout.read, document, "layout")


def _sound_keys(keys: Mapping[str, Mapping[str, Any]], at: Location) -> None:
    seen: dict[str, str] = {}
    for keyid, item in keys.items():
        try:
            key = Key.from_dict(keyid, {name: deepcopy(item[name]) for name in ("keytype", "scheme", "keyval")})
            stuff = material(key)
        except READ_ERRORS as error:
            raise Refused("layout-key-unsound", f"The key {keyid[:8]}: {first_line(error)}.", at=at) from error
        if seen.setdefault(stuff, keyid) != keyid:
            raise Refused(
                "layout-key-unsound", f"{seen[stuff][:8]} and {keyid[:8]} are one key, so it would count twice.", at=at
            )
        if not keyid == item["keyid"] == key_id(key):
            raise Refused("layout-key-unsound", f"The key id {keyid[:8]} is not the digest of its key.", at=at)


def _known_steps(steps: Iterable[Mapping[str, Any]], at: Location) -> None:
    names = {step["name"] for step in steps}
    for step in steps:
        for rule in (*step["expected_materials"], *step["expected_products"]):
            if str(rule[0]).upper() == "MATCH" and rule[-1] not in names:
                told = " ".join(rule)
                message = f"{step['name']} has the rule {told!r}; it has no step {rule[-1]}, so that nothing matches."
                raise Refused("layout-unknown-step", message, at=at)


def _same_as_port(  # noqa: PLR0913, PLR0917 - both sides of one comparison
    document: Mapping[str, Any],
    port: str,
    chain: Sequence[ChainStep],
    registry: Registry,
    expires: datetime,
    at: Location,
) -> None:
    try:
        wanted = compile_layout(port, chain, registry, expires)
    except Malformed as error:
        raise Refused("layout-differs-from-port", error.message, at=at) from error
    if document == wanted:
        return
    others = {step["name"] for step in document["steps"]} != {step["name"] for step in wanted["steps"]}
    first = "steps" if others else "keys"
    member = next(name for name in (first, "keys", "steps", *wanted) if document[name] != wanted[name])
    told = {
        "keys": "other functionaries' keys",
        "readme": "another port, or other gates, executors, environments or rebuilds of its steps",
        "steps": _differing(document, wanted),
    }
    raise Refused(
        "layout-differs-from-port",
        f"It has {told.get(member, member)} than port.yaml and the registry come to today. Compile and sign it again.",
        at=at,
    )


def _differing(document: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """What the steps of a layout have that is other than what is wanted."""
    has = {step["name"]: step for step in document["steps"]}
    for step in wanted["steps"]:
        name = step["name"]
        if name not in has:
            return f"no step {name}, and so other steps"
        member = next((m for m in step if has[name][m] != step[m]), None)
        if member is not None:
            return f"another {member} of the step {name}"
    gone = next((name for name in has if name not in {step["name"] for step in wanted["steps"]}), None)
    return "steps in another order" if gone is None else f"a step {gone}, and so other steps"

"""A link: a functionary's word that a step ran, on these files, and wrote those.

in-toto looks for links by name and passes over what it cannot use. Here each link is held to its name, its step and the
bytes that are there, and the first thing that does not hold is told.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from calaudit.contract import Schemas
from calaudit.errors import Malformed
from calaudit.evidence.strict_json import parse_json
from calaudit.model import Location
from calaudit.trust.envelope import Envelope, parse_statement
from calaudit.trust.fault import Refused
from calaudit.trust.library import library_model
from calaudit.trust.registry import Registry
from calaudit.trust.signatures import Signer, signers
from calaudit.trust.steps import ChainStep

if TYPE_CHECKING:
    from in_toto.models.link import Link as LibraryLink

__all__ = ["Link", "library_link", "parse_link", "said_step", "verify_link"]

SCHEMA = "in-toto-link/v1"
_NAME = re.compile(r"attestations/(?P<step>[a-z0-9][a-z0-9-]*)\.(?P<keyid>[0-9a-f]{8})\.link")


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link that holds by itself; whether it fits the other steps is seen in the chain."""

    path: str
    step: str
    signer: Signer
    command: tuple[str, ...]
    materials: Mapping[str, str]
    products: Mapping[str, str]
    document: Mapping[str, Any]


def verify_link(  # noqa: PLR0913 - everything that a link is held against, by name
    envelope: Envelope,
    *,
    chain: Mapping[str, ChainStep],
    files: Mapping[str, str],
    elsewhere: Mapping[str, str],
    registry: Registry,
    schemas: Schemas,
) -> Link:
    """Verify one link.

    ``chain`` holds the steps of the port by name, ``files`` the digests of what is there, ``elsewhere`` those of what
    the source manifest says is kept in another place.

    Raises:
        Refused: with the rule of the first step that does not hold.
    """
    at = Location(path=envelope.path)
    # 1. It is one, in one reading, and in-toto's own model takes it.
    document = _read(envelope, schemas, at)
    # 2. It is of the step that its name says, which the port has.
    step = _step(envelope.path, document, chain, at)
    # 3. One functionary of the step's role signed it: the one whose key id is in the name.
    signer = _signer(envelope, step, registry, at)
    # 4. The command of the step ran, and it ended well.
    _ran(document, step, at)
    link = Link(
        path=envelope.path,
        step=step.name,
        signer=signer,
        command=tuple(document["command"]),
        materials={path: item["sha256"] for path, item in document["materials"].items()},
        products={path: item["sha256"] for path, item in document["products"].items()},
        document=document,
    )
    # 5. It read what the step may read, all of it, and wrote what the step writes: the bytes that are there.
    _inputs_declared(link, step, at)
    _nothing_left_out(link, step, files, at)
    _same_bytes(link, files, elsewhere, at)
    return link


def said_step(envelope: Envelope, schemas: Schemas) -> str:
    """The step that a link and its name say it is of.

    Raises:
        Refused: it is no link, or the two say two steps.
    """
    at = Location(path=envelope.path)
    return _named(envelope.path, _read(envelope, schemas, at), at)


def parse_link(envelope: Envelope, schemas: Schemas) -> dict[str, Any]:
    """The link that was signed, as a document.

    Raises:
        Malformed: it is none, by our schema or by in-toto's model.
    """
    document = parse_statement(envelope, SCHEMA, schemas)
    library_link(document)
    return document


def library_link(document: Mapping[str, Any]) -> "LibraryLink":
    """The link as in-toto has it.

    Raises:
        Malformed: in-toto refuses it.
    """
    from in_toto.models.link import Link as LibraryLink  # noqa: PLC0415 - a fifth of a second of imports

    return library_model(LibraryLink.read, document, "link")


def _read(envelope: Envelope, schemas: Schemas, at: Location) -> dict[str, Any]:
    try:
        said = parse_json(envelope.payload)
        if isinstance(said, dict) and said.get("_type") == "layout":
            message = "It is a layout in the place of a link: a functionary who lets others run the step."
            raise Refused("layout-has-sublayout", message, at=at)
        return parse_link(envelope, schemas)
    except Malformed as error:
        raise Refused("link-malformed", error.message, at=at) from error


def _step(path: str, document: Mapping[str, Any], chain: Mapping[str, ChainStep], at: Location) -> ChainStep:
    name = _named(path, document, at)
    if name not in chain:
        raise Refused("link-name-mismatch", f"port.yaml declares no step {name}.", at=at)
    return chain[name]


def _named(path: str, document: Mapping[str, Any], at: Location) -> str:
    name = _NAME.fullmatch(path)
    if name is None:
        raise Refused("link-name-mismatch", "A link is called <step>.<first 8 of the key id>.link.", at=at)
    if document["name"] != name["step"]:
        raise Refused(
            "link-name-mismatch",
            f"It is a link of the step {document['name']}, under another name.",
            at=at,
            expected=name["step"],
            actual=document["name"],
        )
    return name["step"]


def _signer(envelope: Envelope, step: ChainStep, registry: Registry, at: Location) -> Signer:
    role = registry.role(step.functionary)
    if role is None:
        message = f"Nobody is a functionary of {step.role}, and somebody signed for one."
        raise Refused("link-wrong-functionary", message, at=at)
    try:
        signed = signers([envelope], [role], registry, None, prefix="link")
    except Refused as refused:
        if refused.fault.rule == "link-wrong-role":
            refused.fault = replace(refused.fault, rule="link-wrong-functionary")
        raise
    name = _NAME.fullmatch(envelope.path)
    if len(signed) != 1 or name is None or not signed[0].keyid.startswith(name["keyid"]):
        message = "A link has one signer, and its name begins that key's id."
        raise Refused("link-wrong-functionary", message, at=at)
    return signed[0]


def _ran(document: Mapping[str, Any], step: ChainStep, at: Location) -> None:
    code = document["byproducts"].get("return-value")
    if code != 0:
        told = "It does not say how the command ended." if code is None else f"The command ended with {code}."
        raise Refused("link-return-value", told, at=at, expected="0", actual="none" if code is None else str(code))
    if document["command"] != list(step.command):
        raise Refused(
            "link-command-mismatch",
            f"Another command ran than port.yaml declares for {step.name}.",
            at=at,
            expected=_told(step.command),
            actual=_told(document["command"]),
        )


def _inputs_declared(link: Link, step: ChainStep, at: Location) -> None:
    hidden = next((path for path in sorted(link.materials) if not step.reads(path)), None)
    if hidden is not None:
        message = f"It read {hidden}, which is neither a tool nor a material of {step.name} in port.yaml."
        raise Refused("link-hidden-input", message, at=at)


def _nothing_left_out(link: Link, step: ChainStep, files: Mapping[str, str], at: Location) -> None:
    sides = (("read", step.consumed(files), link.materials), ("wrote", step.made(files), link.products))
    for verb, wanted, told in sides:
        left_out = sorted(wanted.keys() - told.keys())
        if left_out:
            others = f" and {len(left_out) - 1} more" if len(left_out) > 1 else ""
            message = f"It does not say that {step.name} {verb} {left_out[0]}{others}, which is there."
            raise Refused("link-incomplete", message, at=at)
    unmet = step.unmet(link.materials, link.products)
    if unmet is not None:
        message = f"It names no file for {unmet}, which {step.name} reads or writes."
        raise Refused("link-incomplete", message, at=at)


def _same_bytes(link: Link, files: Mapping[str, str], elsewhere: Mapping[str, str], at: Location) -> None:
    known = {**elsewhere, **files}
    for told, there in ((link.products, files), (link.materials, known)):
        for path, digest in sorted(told.items()):
            if there.get(path) != digest:
                raise Refused(
                    "link-stale",
                    f"{path} {'is gone' if path not in there else 'changed'} since the run.",
                    at=at,
                    expected=digest,
                    actual=there.get(path, "none"),
                )


def _told(command: object) -> str:
    text = " ".join(str(word) for word in command) if isinstance(command, list | tuple) else str(command)
    return text if len(text) <= 500 else f"{text[:500]}…"

"""Reading what ``cue`` prints: one error is a line of text, below it the places that clash, indented."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from calaudit.model import Json
from calaudit.pointers import escape

_PLACE = re.compile(r"\s+(?:\./)?(?P<file>[^\s:]+):(?P<line>[0-9]+):(?P<column>[0-9]+)")
_SELECTOR = r'(?:[\w$#]+|"(?:[^"\\]|\\.)*")'
_HEAD = re.compile(rf"(?P<path>{_SELECTOR}(?:\.{_SELECTOR})*): (?P<text>.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Fault:
    """One way in which a document does not satisfy a policy, or why that could not be told.

    ``message`` is what ``cue`` said, with the places in the policy. ``pointer`` (RFC 6901) is the place in the
    document, or the nearest one that exists; ``line`` counts from 1, in the document's bytes. Each is None where
    unknown.
    """

    message: str
    pointer: str | None
    line: int | None


@dataclass(frozen=True, slots=True)
class Place:
    """A line and column, both from 1, in one of the files that ``cue`` was given."""

    file: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Complaint:
    """One error as printed: its text, and the places that it names."""

    text: str
    places: tuple[Place, ...]


def complaints(printed: bytes) -> Iterator[Complaint]:
    """Every error that was printed. No text is lost: what does not look like a place belongs to the message."""
    text: list[str] = []
    places: list[Place] = []
    for line in printed.decode("utf-8", "replace").split("\n"):
        if place := _PLACE.fullmatch(line):
            places.append(Place(place["file"], int(place["line"]), int(place["column"])))
        elif line[:1].isspace():
            text += [line.strip()] if line.strip() else []
        elif line:
            if text:
                yield Complaint(" ".join(text).removesuffix(":"), tuple(places))
            text, places = [line], []
    if text or places:
        yield Complaint(" ".join(text).removesuffix(":") or "cue named a place without a reason", tuple(places))


def faults(printed: bytes, document: Json, *, files: tuple[str, str], name: str) -> tuple[Fault, ...]:
    """What was printed about a document as faults, in the document's order where that is known (cue has none).

    ``files`` are the policy's and the document's file names.
    """
    policy_file, document_file = files
    found: set[Fault] = set()
    for complaint in complaints(printed):
        there = [f"{name}:{place.line}:{place.column}" for place in complaint.places if place.file == policy_file]
        message = f"{complaint.text} ({', '.join(there)})" if there else f"{complaint.text} ({name})"
        line = next((place.line for place in complaint.places if place.file == document_file), None)
        found.add(Fault(message, pointer_of(complaint.text, document), line))
    return tuple(sorted(found, key=lambda fault: (fault.line or 0, fault.pointer or "", fault.message)))


def pointer_of(text: str, document: Json) -> str | None:
    """The place in the document that the path before an error's text names, as far as it exists there."""
    head = _HEAD.fullmatch(text)
    if head is None:
        return None
    pointer, value = "", document
    for selector in re.findall(_SELECTOR, head["path"]):
        step = _label(selector)
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            break
        pointer += f"/{escape(step)}"
    return pointer


def _label(selector: str) -> str:
    if not selector.startswith('"'):
        return selector
    try:
        label = json.loads(selector)
    except ValueError:  # an escape that JSON does not have: the label as it stands finds nothing, and that is said
        return selector
    return str(label)


def places_first(found: Sequence[Complaint], *, file: str, name: str) -> str:
    """Errors of a policy itself in one text, each behind ``name:line:column``."""
    sentences = []
    for complaint in found:
        there = next((place for place in complaint.places if place.file == file), None)
        at = f"{name}:{there.line}:{there.column}" if there else name
        sentences.append(f"{at}: {complaint.text}")
    return "\n".join(sentences)

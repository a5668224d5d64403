"""The meta-policy: what the metadata of every rule must satisfy, check or policy, shipped or an organisation's.

Each demand is one row of :data:`DEMANDS`: its name, and what it says of a rule that does not satisfy it.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from packaging.version import Version

from calaudit.model import Kind, Rule
from calaudit.version import VERSION

__all__ = ["DEMANDS", "UNWAIVABLE", "Subject", "faults"]

_ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_SINCE = re.compile(r"[0-9]+(\.[0-9]+){1,2}")
_TITLE_LIMIT = 100


@dataclass(frozen=True, kw_only=True)
class Subject:
    """One rule as it is declared.

    ``threshold`` says that gates.yaml counts it among a gate's hard thresholds, ``dated`` that a date gives it its
    level, ``source`` is the Python of a check, ``shown`` the kinds its case table shows (None where that is judged
    elsewhere).
    """

    rule: Rule
    threshold: bool = False
    dated: bool = False
    source: str = ""
    shown: frozenset[str] | None = None


@dataclass(frozen=True)
class Demand:
    """One demand on a rule: ``fault`` gives what is wrong, as sentences without their full stop."""

    name: str
    fault: Callable[[Subject], Iterator[str]]


UNWAIVABLE: Mapping[str, Callable[[Subject], bool]] = {
    "is a hard threshold of its gate": lambda subject: subject.threshold,
    "is about hashes": lambda subject: _named(subject, r"digest-.+|.+-checksum|.+-un(hashed|listed)|chain-broken"),
    "says whether it is the same model": lambda subject: _named(
        subject, r"(tokenizer|weights)-(changed|differ-.+)|model-revision-mismatch|revision-.+"
    ),
    "is about licences": lambda subject: _named(subject, r"license-.+"),
    "is about signatures": lambda subject: subject.rule.trust and not subject.dated,
    "gives a BLOCKED verdict": lambda subject: _named(subject, r"blocked-.+") or _blocks(subject.source),
}
"""Which rules no waiver may reach, in the words that finish "it …"."""


def faults(subject: Subject) -> Iterator[str]:
    """What a rule's metadata do not satisfy."""
    for demand in DEMANDS:
        yield from demand.fault(subject)


def _kebab(subject: Subject) -> Iterator[str]:
    if not _ID.fullmatch(subject.rule.id):
        yield "an id is kebab-case (lower-case words joined by hyphens)"


def _title(subject: Subject) -> Iterator[str]:
    if len(subject.rule.title) > _TITLE_LIMIT:
        yield f"the title has {len(subject.rule.title)} characters; {_TITLE_LIMIT} fit into a line of a report"


def _prose(subject: Subject) -> Iterator[str]:
    rule = subject.rule
    for name, text in (("title", rule.title), ("why", rule.why), ("fix", rule.fix)):
        if not text.strip():
            yield f"{name} is empty"
        elif text[0].islower() and text.split()[0].isalpha():
            yield f"{name} begins with a small letter"


def _sentences(subject: Subject) -> Iterator[str]:
    for name, text in (("why", subject.rule.why), ("fix", subject.rule.fix)):
        if text.strip() and text.rstrip()[-1] not in ".!?":
            yield f"{name} is a sentence and ends with a full stop"


def _judges(subject: Subject) -> Iterator[str]:
    if not subject.rule.kinds & {Kind.FAIL, Kind.OPEN}:
        yield "a rule that can neither fail nor be open judges nothing"


def _since(subject: Subject) -> Iterator[str]:
    since = subject.rule.since
    if not _SINCE.fullmatch(since):
        yield f"since is {since!r}, not a version (0.1)"
    elif Version(since) > Version(Version(VERSION).base_version):
        yield f"since is {since}, and this is calaudit {VERSION}: a rule cannot be newer than what has it"


def _unwaivable(subject: Subject) -> Iterator[str]:
    if not subject.rule.unwaivable:
        reasons = [words for words, applies in UNWAIVABLE.items() if applies(subject)]
        if reasons:
            yield f"it {' and '.join(reasons)}, so it must be unwaivable"


def _cases(subject: Subject) -> Iterator[str]:
    if subject.shown is not None:
        missing = sorted(set(map(str, subject.rule.kinds)) - subject.shown)
        if missing:
            yield f"no case in tests/cases/{subject.rule.key}.toml expects {', '.join(missing)}"


DEMANDS = (
    Demand("id-kebab-case", _kebab),
    Demand("title-short", _title),
    Demand("prose-there", _prose),
    Demand("sentences-end", _sentences),
    Demand("kinds-judge", _judges),
    Demand("since-known", _since),
    Demand("unwaivable", _unwaivable),
    Demand("cases-complete", _cases),
)


def _named(subject: Subject, pattern: str) -> bool:
    return re.fullmatch(pattern, subject.rule.id) is not None


def _blocks(source: str) -> bool:
    """Whether a check's Python gives results that block a gate."""
    return any(isinstance(node, ast.keyword) and node.arg == "blocks" for node in ast.walk(ast.parse(source)))

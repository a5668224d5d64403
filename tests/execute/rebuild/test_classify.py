"""What a difference is: only a build's own time, path or address counts as one, and only if nothing else differs."""

import struct
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calaudit.execute.rebuild.classify import classify
from calaudit.execute.rebuild.nouns import Build, Cause, Change, Class, Difference, Factor, Finding, Kind, Part, Traits
from calaudit.execute.rebuild.tokens import masked

START = datetime(2026, 11, 30, 10, 20, 30, 250_000, tzinfo=UTC).timestamp()
LATER = START + 3725
INSIDE = Traits(paths=("/port", "/home/calaudit"), hostname="calaudit", invocation="1" * 8, window=(START, START + 5))
OTHER = Traits(paths=("/b/port", "/h"), hostname="other-builder", invocation="2" * 8, window=(LATER, LATER + 5))


def build(number: int, traits: Traits) -> Build:
    return Build(number=number, part=Part.BASELINE, folder=Path(), products={}, traits=traits)


def judged(  # noqa: PLR0913 - all that is judged by
    old: bytes | str | None,
    new: bytes | str | None,
    *factors: Factor,
    kind: Kind = Kind.VALUE,
    cause: Cause | None = None,
    whole: bool = True,
    traits: tuple[Traits, Traits] = (INSIDE, OTHER),
) -> Finding:
    a, b = (side.encode() if isinstance(side, str) else side for side in (old, new))
    is_text = isinstance(old, str) or isinstance(new, str)
    change = Change(members=(), place="x", kind=kind, old=a, new=b, whole=whole, text=is_text)
    why = cause or (Cause.FACTOR if factors else Cause.CHANCE)
    return classify(change, build(1, traits[0]), build(2, traits[1]), why, factors)


def tolerated(finding: Finding) -> bool:
    change = Change(members=(), place="", kind=Kind.VALUE, old=b"", new=b"")
    return Difference(path="x", change=change, builds=(1, 2), cause=Cause.CHANCE, factors=(), finding=finding).tolerated


FORMS = [
    "%Y-%m-%dT%H:%M:%S.%fZ",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M",
    "%Y-%m-%dT%H:%M:%S%z",
    "%Y%m%d%H%M%S",
    "%Y%m%dT%H%M%SZ",
    "%a %b %d %H:%M:%S %Y",
    "%a %b %d %H:%M:%S UTC %Y",
    "%a, %d %b %Y %H:%M:%S +0000",
    "%d %b %Y %H:%M:%S.%f",
    "%d/%b/%Y:%H:%M:%S %z",
    "%b %d %Y %H:%M:%S",
    "%H:%M:%S",
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("hours", [0, 13.75, -11])
def test_times_in_any_zone(form: str, hours: float) -> None:
    zone = timezone(timedelta(hours=hours))
    old, new = (datetime.fromtimestamp(moment + 1, zone).strftime(form) for moment in (START, LATER))
    found = judged(f"built at {old}, ok", f"built at {new}, ok")
    assert found.label is Class.TIMESTAMP
    assert tolerated(found)
    assert "SOURCE_DATE_EPOCH" in found.remedy


@pytest.mark.parametrize("scale", [1, 10**3, 10**6, 10**9])
def test_seconds_since_1970(scale: int) -> None:
    assert judged(f"t={int(START * scale)};", f"t={int(LATER * scale)};").label is Class.TIMESTAMP
    assert judged(f"{START!r}", f"{LATER!r}").label is Class.TIMESTAMP


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("2019-01-01T00:00:00Z", "2019-01-02T00:00:00Z"),
        ("1500000000", "1500000001"),
        ("v2026-11-30 a", "v2026-11-30 b"),
        ("built at 2026-11-30T10:20:31Z, 1", "built at 2026-11-30T11:22:36Z, 2"),
        ("0x7", "0x8"),
    ],
)
def test_what_is_no_time_of_the_build(old: str, new: str) -> None:
    found = judged(old, new)
    assert found.label is Class.RANDOMNESS
    assert not tolerated(found)


def test_without_knowing_when_it_was_built_nothing_is_its_time() -> None:
    unknown = (INSIDE, Traits())
    found = judged("2026-11-30T10:20:31Z", "2026-11-29T10:20:31Z", cause=Cause.PUBLISHED, traits=unknown)
    assert found.label is Class.UNDECLARED


@pytest.mark.parametrize("form", ["<I", ">I", "<q", ">q", "<d"])
def test_times_as_numbers(form: str) -> None:
    old, new = (b"\0\1\2\3" + struct.pack(form, moment if "d" in form else int(moment)) for moment in (START, LATER))
    assert judged(old, new).label is Class.TIMESTAMP
    assert judged(old[:-1] + b"\xee", new[:-1] + b"\xdd").label is Class.RANDOMNESS


def test_addresses() -> None:
    found = judged("<object at 0x7f3c5a1b2c40>", "<object at 0x7fd01a1b2c40>")
    assert found.label is Class.ADDRESS
    assert tolerated(found)
    found = judged(struct.pack("<q", 0x7F3C5A1B2C40), struct.pack("<q", 0x7FD01A1B2C48))
    assert found.label is Class.ADDRESS


def test_paths_hosts_and_ids() -> None:
    assert judged("from /port/in.txt", "from /b/port/in.txt").label is Class.PATH
    assert judged("by calaudit.", "by other-builder.").label is Class.HOST
    assert judged("run " + "1" * 8, "run " + "2" * 8).label is Class.RANDOMNESS
    assert judged("by calaudit-core", "by other-builder-core").label is not Class.HOST
    assert not judged("/port", "/b/port", whole=False).bounded
    worst = judged("/port 2026-11-30T10:20:31Z", "/b/port 2026-11-30T11:22:36Z")
    assert worst.label is Class.PATH
    assert not tolerated(worst)


def test_order() -> None:
    found = judged("{'b', 'a'}", "{'a', 'b'}", Factor.HASH_SEED)
    assert found.label is Class.ORDER
    assert "PYTHONHASHSEED" in found.explanation
    assert "Sort" in found.remedy
    assert not tolerated(found)
    assert judged("b", "a", kind=Kind.ORDER).label is Class.ORDER
    assert judged("a b", "a c").label is not Class.ORDER


@pytest.mark.parametrize("factor", list(Factor))
def test_every_factor_is_explained_and_none_alone_is_tolerated(factor: Factor) -> None:
    found = judged("one", "two", factor)
    assert found.label is not Class.UNDECLARED
    assert not tolerated(found)
    assert found.explanation.endswith(".")
    assert found.remedy.endswith(".")


def test_what_nothing_explains() -> None:
    found = judged("one", "two", cause=Cause.COMBINATION)
    assert found.label is Class.UNDECLARED
    assert judged(None, b"\1", kind=Kind.PRESENCE, cause=Cause.PUBLISHED).label is Class.UNDECLARED
    assert "written in another way" in judged(b"\0", b"\1", kind=Kind.FORM).explanation


def test_a_text_that_looks_masked() -> None:
    assert not tolerated(judged("\0timestamp\0", "2026-11-30T11:22:36Z"))


@given(st.text(max_size=200))
def test_masking_any_text(text: str) -> None:
    rest, tokens = masked(text, INSIDE)
    assert len(rest.split("\0")) >= 2 * len(tokens) or "\0" in text
    assert judged(text, text + "x") is not None


@given(st.binary(max_size=80), st.binary(max_size=80))
def test_judging_any_bytes(old: bytes, new: bytes) -> None:
    assert judged(old, new).explanation

"""Which condition each difference depends on, from which of the builds show it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from calaudit.execute.rebuild.classify import classify
from calaudit.execute.rebuild.compare import compare_files
from calaudit.execute.rebuild.derived import follow_digests
from calaudit.execute.rebuild.nouns import Build, Cause, Change, Class, Difference, Factor, Finding, Kind, Part, Rebuild

__all__ = ["MOST", "attribute"]

MOST = 1000
"""Differences that are listed; with more of them the list is not complete."""

_ORDER = (Part.IDENTICAL, Part.VARIED, Part.PUBLISHED, Part.FACTOR)
"""Whose difference is shown where several builds show one in the same place."""

_LONG_AGO = 946_684_800.0  # the year 2000: what is published was built since then

Key = tuple[str, tuple[str, ...], str]
Showing = tuple[Change, Build]


@dataclass(slots=True)
class _Seen:
    """One place that differs, and what each build that shows it has there."""

    showings: list[Showing] = field(default_factory=list)

    def of(self, part: Part) -> list[Showing]:
        return [showing for showing in self.showings if showing[1].part is part]


def attribute(builds: Sequence[Build], *, fixed: Mapping[Factor, str]) -> Rebuild:
    """Compare each build with the baseline, and say of each difference where it comes from."""
    baseline = next(build for build in builds if build.part is Part.BASELINE)
    seen: dict[Key, _Seen] = {}
    complete = True
    for build in sorted(builds, key=lambda build: (_rank(build.part), build.number)):
        if build is baseline:
            continue
        for path, changes, whole in _compare(baseline, build):
            complete = complete and whole
            for change in changes:
                seen.setdefault((path, *change.key), _Seen()).showings.append((change, build))
    listed = sorted(seen.items(), key=lambda item: item[0][0])
    differences = [_difference(key[0], one, baseline) for key, one in listed[:MOST]]
    return Rebuild(
        builds=tuple(sorted(builds, key=lambda build: build.number)),
        fixed=dict(fixed),
        differences=follow_digests(differences, {build.number: build for build in builds}),
        complete=complete and len(seen) <= MOST,
    )


def _rank(part: Part) -> int:
    return _ORDER.index(part) if part in _ORDER else -1


def _compare(old: Build, new: Build) -> Iterator[tuple[str, Sequence[Change], bool]]:
    """Each product that differs, its changes, and whether they are all of them."""
    for path in sorted({*old.products, *new.products}):
        a, b = old.products.get(path), new.products.get(path)
        if a is None or b is None:
            name = path.encode("utf-8", "replace")
            sides = (None if a is None else name, None if b is None else name)
            yield path, [Change(members=(), place="", kind=Kind.PRESENCE, old=sides[0], new=sides[1])], True
        elif a != b:
            found = compare_files(old.folder / path, new.folder / path, path)
            # The digests differ, so whatever the comparison says there is a difference.
            yield path, found.changes, found.complete and bool(found.changes)


def _difference(path: str, seen: _Seen, baseline: Build) -> Difference:
    """What is to be said of one place: the worst that any build shows there."""
    if seen.of(Part.IDENTICAL):
        usual = _judge(seen.of(Part.IDENTICAL)[0], baseline, Cause.CHANCE, ())
        others = [_known(showing, baseline) if usual.tolerated else showing for showing in seen.showings]
        bad = [one for one in others if not _judge(one, baseline, Cause.CHANCE, ()).tolerated]
        if not (usual.tolerated and bad):
            return _told(path, seen.showings[0], baseline, Cause.CHANCE, ())
        # Chance accounts for one difference here, but a condition adds another.
        seen = _Seen(showings=bad)
    factors = tuple(dict.fromkeys(factor for _, build in seen.of(Part.FACTOR) for factor in build.varied))
    together = Cause.COMBINATION if seen.of(Part.VARIED) else Cause.PUBLISHED
    cause = Cause.FACTOR if factors else together
    if all(_judge(one, baseline, cause, factors).label is Class.TIMESTAMP for one in seen.showings):
        # Time goes on by itself: a build that shows it has not made it show.
        factors = tuple(factor for factor in factors if factor is Factor.CLOCK)
        cause = Cause.FACTOR if factors else Cause.CHANCE
    worst = next(
        (one for one in seen.showings if not _judge(one, baseline, cause, factors).tolerated), seen.showings[0]
    )
    return _told(path, worst, baseline, cause, factors)


def _judge(showing: Showing, baseline: Build, cause: Cause, factors: tuple[Factor, ...]) -> Finding:
    return classify(showing[0], baseline, showing[1], cause, factors)


def _told(path: str, showing: Showing, baseline: Build, cause: Cause, factors: tuple[Factor, ...]) -> Difference:
    return Difference(
        path=path,
        change=showing[0],
        builds=(baseline.number, showing[1].number),
        cause=cause,
        factors=factors,
        finding=_judge(showing, baseline, cause, factors),
    )


def _known(showing: Showing, baseline: Build) -> Showing:
    """What is published, where two builds show that a time stands: any time since then that is past may stand there."""
    change, build = showing
    if build.part is not Part.PUBLISHED or baseline.traits.window is None:
        return showing
    window = (_LONG_AGO, baseline.traits.window[0])
    return change, replace(build, traits=replace(build.traits, window=window))

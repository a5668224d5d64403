"""Findings on a page: those of one rule, every matter once, and no more of them than somebody reads."""

from dataclasses import replace

from calaudit.model import Kind
from calaudit.report._alike import FEW, LISTED, Matter, Tail, cut, matters
from calaudit.report._follows import Fold
from calaudit.report._groups import Group
from calaudit.report._page import Page, kind_style, symbol

__all__ = ["write_brief", "write_fold", "write_group", "write_matter", "write_matters"]


def write_group(page: Page, group: Group, *, whole: bool) -> None:
    """A group with its rules, and what to do; all of it if ``whole``."""
    _head(page, group, ", ".join(rule.key for rule in group.rules))
    if len(group.rules) == 1:
        page.para(group.rules[0].title, indent=4, lead="rule: ", style="dim")
    write_matters(page, group, whole=whole)
    if group.fix is not None:
        page.para(group.fix, indent=4, lead="fix: ", lead_style="green")


def write_brief(page: Page, group: Group) -> None:
    """The first matter of a group, where what to do is told elsewhere."""
    _head(page, group, group.rules[0].key)
    first = next(matters(group))
    page.para(first.message or "(no message)", indent=4)
    _write_places(page, first, more=len(group.findings) - 1)


def write_fold(page: Page, fold: Fold) -> None:
    """Findings that follow from a change: each message with its first place."""
    mark = symbol(Kind.FAIL, fold.level)
    page.blank()
    page.para(fold.names, indent=2, lead=f"{mark} ", style="bold", lead_style=kind_style(Kind.FAIL, fold.level))
    for matter in fold.told:
        page.para(matter.message or "(no message)", indent=4)
        _write_places(page, matter, more=len({f.location for f in matter.findings}) - 1)
    if fold.more:
        page.para(f"… and {fold.more} more (see --verbose or -o json).", indent=4)
    page.para(fold.fix, indent=4, lead="fix: ", lead_style="green")


def write_matters(page: Page, group: Group, *, whole: bool) -> None:
    """The matters of a group; all of them if ``whole``."""
    more = 0 if whole or len(group.findings) <= LISTED else len(group.findings) - FEW
    found = list(matters(replace(group, findings=group.findings[:FEW]) if more else group))
    for matter, after in zip(found, [*found[1:], None], strict=True):
        page.para(matter.message or "(no message)", indent=4)
        # What several messages say of one place stands above it, and the place once.
        if after is None or after.tail != matter.tail:
            _write_tail(page, matter.tail, whole=whole)
    if more:
        page.para(f"… and {more} more (see -o json).", indent=4)


def write_matter(page: Page, matter: Matter, *, whole: bool) -> None:
    """One matter, and everywhere it was found."""
    page.para(matter.message or "(no message)", indent=4)
    _write_tail(page, matter.tail, whole=whole)


def _head(page: Page, group: Group, names: str) -> None:
    style = kind_style(group.kind, group.level)
    page.blank()
    page.para(names, indent=2, lead=f"{symbol(group.kind, group.level)} ", style="bold", lead_style=style)


def _write_places(page: Page, matter: Matter, *, more: int) -> None:
    where = matter.findings[0].location
    if where is not None:
        page.whole(str(where), indent=6, style="cyan")
    if more:
        page.para(f"… and {more} more.", indent=6)


def _write_tail(page: Page, tail: Tail, *, whole: bool) -> None:
    expected, actual, places = tail
    alone = len(places) == 1
    if not alone:
        _write_value(page, "expected ", expected, whole=whole)
        _write_value(page, "actual   ", actual, whole=whole)
    last = None
    for where, found in places:
        if where is not None and where != last:
            page.whole(str(where), indent=6, style="cyan")
        last = where
        if alone:
            _write_value(page, "expected ", expected, whole=whole)
        _write_value(page, "actual   ", found, whole=whole)


def _write_value(page: Page, lead: str, value: str | None, *, whole: bool) -> None:
    if value is not None:
        page.para(cut(value, whole=whole), indent=6, lead=lead, exact=True)

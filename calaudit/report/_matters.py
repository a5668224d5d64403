"""Findings on a page: those of one rule, every matter once, and no more of them than somebody reads."""

from dataclasses import replace

from calaudit.report._groups import Group, Matter, matters
from calaudit.report._page import Page, kind_style, symbol

__all__ = ["write_group", "write_matter", "write_matters"]

_LISTED = 10
"""How many findings of one rule on one gate are listed; of more, the first few are."""

_FEW = 5


def write_group(page: Page, group: Group, *, whole: bool) -> None:
    """A group with its rules, and what to do; all of it if ``whole``."""
    mark = symbol(group.kind, group.level)
    page.blank()
    names = ", ".join(rule.key for rule in group.rules)
    page.para(names, indent=2, lead=f"{mark} ", style="bold", lead_style=kind_style(group.kind, group.level))
    if len(group.rules) == 1:
        page.para(group.rules[0].title, indent=4, lead="rule: ", style="dim")
    write_matters(page, group, whole=whole)
    if group.fix is not None:
        page.para(group.fix, indent=4, lead="fix: ", lead_style="green")


def write_matters(page: Page, group: Group, *, whole: bool) -> None:
    """The matters of a group; all of them if ``whole``."""
    more = 0 if whole or len(group.findings) <= _LISTED else len(group.findings) - _FEW
    for matter in matters(replace(group, findings=group.findings[:_FEW]) if more else group):
        write_matter(page, matter)
    if more:
        page.para(f"… and {more} more (see -o json).", indent=4)


def write_matter(page: Page, matter: Matter) -> None:
    """One matter, and everywhere it was found."""
    first = matter.findings[0]
    page.para(matter.message or "(no message)", indent=4)
    shared = len(matter.findings) > 1
    if shared and matter.expected is not None:
        page.para(matter.expected, indent=6, lead="expected ")
    for finding in matter.findings:
        if finding.location is not None:
            page.whole(str(finding.location), indent=6, style="cyan")
        if not shared and first.expected is not None:
            page.para(first.expected, indent=6, lead="expected ")
        if finding.actual is not None:
            page.para(finding.actual, indent=6, lead="actual   ")

"""The end of the text report: what is open alike on many gates, and what waits for runs and signatures."""

from collections.abc import Sequence

from calaudit.model import PORT, Report
from calaudit.report import _sentences as say
from calaudit.report._follows import stale_here
from calaudit.report._groups import Group, trust_groups
from calaudit.report._matters import write_brief, write_matters
from calaudit.report._page import Page, kind_style, symbol

__all__ = ["write_waits"]


def write_waits(page: Page, report: Report, repeated: Sequence[Group], *, whole: bool) -> None:
    """What is open on several gates, each rule once; ``repeated`` are the groups that need no signature."""
    # Without a root every rule about signatures is open for one reason, which the head tells.
    rooted = report.trust is not None and report.trust.registry_version is not None
    _section(page, "On several gates", "open", repeated, rooted=rooted, whole=whole)
    groups = trust_groups(report)
    name = say.left(report.findings, report)
    name = f"{name[0].upper()}{name[1:]}"
    if not whole and any(stale_here(report, gate) for gate in report.gates):
        # Most of it closes when what changed is run and signed again, which is told above.
        _brief(page, name, groups)
    else:
        _section(page, name, "not verified", groups, rooted=rooted, whole=whole)


def _brief(page: Page, name: str, groups: Sequence[Group]) -> None:
    if not groups:
        return
    page.blank()
    page.spread(name, "not verified", right_style="bold yellow")
    for group in groups:
        write_brief(page, group)
    page.blank()
    page.para("Look at these again when the above is done; --verbose tells what each needs.", indent=4, style="dim")


def _section(page: Page, name: str, state: str, groups: Sequence[Group], *, rooted: bool, whole: bool) -> None:  # noqa: PLR0913
    if not groups:
        return
    page.blank()
    page.spread(name, state, right_style="bold yellow")
    for group in groups:
        page.blank()
        rule = group.rules[0]
        lead_style = kind_style(group.kind, group.level)
        page.para(rule.key, indent=2, lead=f"{symbol(group.kind, group.level)} ", style="bold", lead_style=lead_style)
        page.para(rule.title, indent=4, lead="rule: ", style="dim")
        where = ", ".join("the port" if gate == PORT else gate for gate in group.gates)
        said = "" if rule.trust else f" {group.findings[0].message}"
        page.para(f"Open on {where}.{said}", indent=4)
        if rule.trust and rooted:
            write_matters(page, group, whole=whole)
        page.para(rule.fix, indent=4, lead="fix: ", lead_style="green")

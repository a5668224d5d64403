"""The links fit the rules of their steps, and each other.

Why: The chain is that each step read what the one before it wrote, and wrote nothing else than it should.
Fix: Run the step again with a functionary's key (`calaudit run`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._chained import of_links
from calaudit.model import Result


@check("link-rule-violated", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def link_rule_violated(view: View) -> Iterator[Result]:
    """Fail where an artifact rule does not hold, for an undeclared product, and for two links of a step that differ."""
    yield from of_links(view)

"""A link names everything that its step read and wrote.

Why: What a link leaves out is bound to nothing; in-toto passes over it (as its recorder does over *.pyc, *~ and
links).
Fix: Run the step again with a functionary's key (`calaudit run`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._chained import of_links
from calaudit.model import Result


@check("link-incomplete", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def link_incomplete(view: View) -> Iterator[Result]:
    """Fail for a link that leaves out a file which the step's globs name and which is there, or that names nothing."""
    yield from of_links(view)

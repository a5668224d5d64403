"""A trust root is pinned.

Why: A port that brings its own keys vouches for itself; who may sign has to be known from elsewhere.
Fix: Pin the release owner's root (`calaudit trust pin DIR`), or name it for one call (`--trust DIR`).
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import of_trust
from calaudit.model import Result


@check("trust-root-missing", gate="port", kinds=("pass", "open"), trust=True, unwaivable=True)
def trust_root_missing(view: View) -> Iterator[Result]:
    """Open without a root, whatever the port holds."""
    yield from of_trust(view)

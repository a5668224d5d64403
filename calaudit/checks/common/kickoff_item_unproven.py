"""What the vendor is said to have brought is there.

Why: A deliverable without its bytes, version and date is a remote screenshot: nobody can say later what was received.
Fix: Give digest, version and date of each received item; where path names a file, the digest is that file's.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.vendor.kickoff import PATH, Kickoff, KickoffItem
from calaudit.model import PORT, Location, Result


@check("kickoff-item-unproven", gate=PORT, kinds=("pass", "fail", "open", "notApplicable"), back_to="vendor")
def kickoff_item_unproven(view: View) -> Iterator[Result]:
    """Every item that claims anything proves it, and no item stands twice."""
    if PATH not in view.evidence.entries:
        yield view.not_applicable(f"There is no {PATH}, so nothing is said to be received.")
        return
    seen: set[str] = set()
    for item in view.fact(Kickoff).items:
        if item.id in seen:
            yield view.fail(f"{item.id} stands twice.", at=item.at, expected="one entry an item")
        seen.add(item.id)
        if item.digest is None and item.version is None and item.received is None and item.path is None:
            continue
        view.saw()
        yield from _judge(view, item)
    if view.examined == 0 and len(seen) == len(view.fact(Kickoff).items):
        yield view.not_applicable("Nothing is said to be received.")


def _judge(view: View, item: KickoffItem) -> Iterator[Result]:
    if item.digest is None:
        yield view.fail(f"{item.id} is said to have come, and has no digest.", at=item.at, expected="sha256:…")
        return
    for member in ("version", "received"):
        if getattr(item, member) is None:
            yield view.fail(f"{item.id} has a digest and no {member}.", at=item.at, expected=member)
    if item.path is None:
        return
    entry = view.evidence.entries.get(item.path)
    place = Location(path=PATH, pointer=f"{item.at.pointer}/path")
    if entry is None:
        yield view.fail(f"{item.id} is said to be {item.path}, which is not in the port.", at=place)
    elif f"sha256:{entry.sha256}" != item.digest:
        yield view.fail(
            f"{item.path} is not the file that was received as {item.id}.",
            at=place,
            expected=item.digest,
            actual=f"sha256:{entry.sha256}",
        )

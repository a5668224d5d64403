"""Every signed file can be read in one way.

Why: A signature over bytes that two readers understand differently proves nothing to either.
Fix: Write it with `calaudit signoff`, `waive` or `attest`; never edit it.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._signed import NOBODY, told
from calaudit.model import Result


@check("envelope-malformed", gate="port", kinds=("pass", "fail", "open", "notApplicable"), trust=True, unwaivable=True)
def envelope_malformed(view: View) -> Iterator[Result]:
    """Fail for each envelope that is not exactly one, and for a statement that does not follow its schema."""
    signed = view.signed
    if signed.trust.registry is None:
        yield view.not_applicable(f"{NOBODY}, so nothing that is signed was looked at.")
        return
    folders = ("signoffs/", "waivers/", "attestations/")
    found = [path for path in view.evidence.entries if path.startswith(folders)]
    if not found:
        yield view.not_applicable("Nothing in the port is signed.")
        return
    view.saw(len(found))
    faults = [slot.fault for slot in signed.slots.values() if slot.fault is not None]
    yield from told(view, [*signed.faults_of(view.rule.id), *(f for f in faults if f.rule == view.rule.id)])

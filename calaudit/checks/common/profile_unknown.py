"""The port names a profile that exists.

Why: The profile sets the numbers a port is judged by; without one every rule that compares with them stays open.
Fix: Set profile in port.yaml to one of dense-single-chip, moe-dual-chip or example, or to one of your organisation's
policies.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.port import PortFact
from calaudit.model import Location, Result


@check("profile-unknown", gate="port")
def profile_unknown(view: View) -> Iterator[Result]:
    """Look the profile up."""
    port = view.fact(PortFact)
    view.saw()
    profiles = view.facts.contract.profiles
    if port.profile not in profiles:
        yield view.fail(
            "There is no such profile.",
            at=Location(path="port.yaml", pointer="/profile"),
            expected=", ".join(sorted(profiles)),
            actual=port.profile,
        )

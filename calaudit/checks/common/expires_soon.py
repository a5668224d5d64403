"""Nothing that is trusted expires soon.

Why: A registry, a layout or a waiver that runs out overnight stops a release the next morning.
Fix: Renew it ahead of time: `calaudit trust rotate`, `calaudit trust sign` or `calaudit layout`; repair what is waived.
"""

from collections.abc import Iterator
from datetime import datetime

from calaudit.checks import View, check
from calaudit.model import Result


@check(
    "expires-soon", gate="port", level="warning", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True
)
def expires_soon(view: View) -> Iterator[Result]:
    """Warn for the root, the registry, the layout and each waiver that ends within `expiry_warning_days`."""
    trust = view.signed.trust
    if trust.registry is None or trust.root_expires is None:
        yield view.not_applicable("There is nothing that could expire.")
        return
    days = view.number("expiry_warning_days")
    ends: list[tuple[str, datetime, str | None]] = [
        ("The root", trust.root_expires, None),
        ("The registry", trust.registry.expires, None),
    ]
    ends += [(f"The waiver {waiver.id}", waiver.until, waiver.path) for waiver in view.signed.waivers]
    chain = view.signed.chain
    if chain is not None and chain.layout is not None:
        ends.append(("The layout", chain.layout.expires, chain.layout.path))
    for what, end, path in view.each(ends):
        left = (end - trust.now).total_seconds() / 86_400
        if left <= days:
            yield view.fail(f"{what} ends on {end:%Y-%m-%d}, in {max(0, int(left))} days.", at=path)

"""The registry speaks for this port.

Why: Owners who answer for one port have not said a word about another.
Fix: Mend port.yaml where its id cannot be read; else add the port's id to the registry (`calaudit trust set DIR
--add-port ID`), or use the registry that has it.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.port import PATH, unread
from calaudit.model import Result


@check("port-unregistered", gate="port", kinds=("pass", "fail", "open", "notApplicable"), trust=True, unwaivable=True)
def port_unregistered(view: View) -> Iterator[Result]:
    """Fail when the registry does not list the port's id; open where that id cannot be read."""
    registry = view.signed.trust.registry
    if registry is None:
        yield view.not_applicable("There is no registry to look into.")
        return
    view.saw()
    if "id" in unread(view.facts):
        message = f"The port's id cannot be read from port.yaml, so that {registry.label} may or may not speak for it."
        yield view.open(message, at=PATH)
    elif view.port.id not in registry.ports:
        yield view.fail(
            f"The registry {registry.label} speaks for other ports.",
            at=PATH,
            expected=", ".join(sorted(registry.ports)),
            actual=view.port.id,
        )

"""The registry speaks for this port.

Why: Owners who answer for one port have not said a word about another.
Fix: Add the port's id to the registry (`calaudit trust set DIR --add-port ID`), or use the registry that has it.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.model import Result


@check("port-unregistered", gate="port", kinds=("pass", "fail", "notApplicable"), trust=True, unwaivable=True)
def port_unregistered(view: View) -> Iterator[Result]:
    """Fail when the registry does not list the port's id."""
    registry = view.signed.trust.registry
    if registry is None:
        yield view.not_applicable("There is no registry to look into.")
        return
    view.saw()
    if view.port.id not in registry.ports:
        yield view.fail(
            f"The registry {registry.label} speaks for other ports.",
            at="port.yaml",
            expected=", ".join(sorted(registry.ports)),
            actual=view.port.id,
        )

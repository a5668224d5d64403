"""The model and its targets are within the profile.

Why: A profile is what has been closed end to end before; what lies outside mixes several unknowns into every failure.
Fix: Take a model and targets within the profile, or set profile in port.yaml to the one that is meant for them:
dense-single-chip, moe-dual-chip, or example for tiny models.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.source.hf_config import ModelConfig
from calaudit.facts.source.manifest import SourceManifest, at
from calaudit.model import Location, Result


@check("profile-exceeded", gate="G0")
def profile_exceeded(view: View) -> Iterator[Result]:
    """Compare parameters, contexts, batches, chips and experts with the profile."""
    source = view.fact(SourceManifest)
    low, high = view.number("parameters_min"), view.number("parameters_max")
    place = at("/architecture/parameters")
    view.saw()
    if source.parameters is None:
        yield view.open("The manifest does not say how many parameters the model has.", at=at("/architecture"))
    elif not low <= source.parameters <= high:
        yield _exceeded(view, "number of parameters", place, f"{low} to {high}", source.parameters)
    longest = view.number("context_max")
    for n, context in enumerate(view.each(source.context)):
        if context > longest:
            yield _exceeded(view, "target context", at(f"/targets/context/{n}"), f"at most {longest} tokens", context)
    for member, param in (("batch", "batches"), ("chips", "chips")):
        allowed = view.params[param]
        assert isinstance(allowed, tuple)  # noqa: S101 - params.yaml says so
        for n, value in enumerate(view.each(getattr(source, member))):
            if value not in allowed:
                expected = ", ".join(map(str, allowed))
                yield _exceeded(view, f"target {member}", at(f"/targets/{member}/{n}"), expected, value)
    yield from _experts(view, source)


def _experts(view: View, source: SourceManifest) -> Iterator[Result]:
    view.saw()
    if view.params["moe_allowed"] is True:
        return
    stated = source.architecture.get("moe") is not None
    if stated or view.fact(ModelConfig).architecture.moe is not None:
        yield _exceeded(view, "architecture", at("/architecture"), "a dense model", "a mixture of experts")


def _exceeded(view: View, what: str, place: Location, expected: str, actual: object) -> Result:
    return view.fail(
        f"The {what} is outside the profile {view.port.profile}.", at=place, expected=expected, actual=actual
    )

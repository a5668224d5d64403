"""Both profiles are configured, the graph admits them, and they cover the boundary lengths.

Why: A model that was only ever run as prefill, or only at convenient lengths, is not known to decode.
Fix: Configure prefill and decode in 02-onnx/export-config.yaml with all boundary lengths and max-1, then export again.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.g02_onnx._boundaries import boundary_lengths
from calaudit.facts.onnx.export import CONFIG, PROFILES, ExportProfile, OnnxExport, SourceShape
from calaudit.facts.onnx.proto import MODEL
from calaudit.facts.onnx.signature import OnnxSignature
from calaudit.model import Location, Result


@check("profile-missing", gate="G2")
def profile_missing(view: View) -> Iterator[Result]:
    """Compare the configured shapes with the graph, the target context and each other."""
    config = view.fact(OnnxExport)
    profiles = {p.name: p for p in config.profiles}
    for name in view.each(PROFILES):
        if name not in profiles:
            yield view.fail(f"There is no profile {name!r}.", at=Location(path=CONFIG, pointer="/profiles"))
    for profile in profiles.values():
        yield from _admitted(view, profile)
    if "prefill" in profiles and "decode" in profiles:
        yield from _lengths(view, config, profiles["prefill"], profiles["decode"])


def _admitted(view: View, profile: ExportProfile) -> Iterator[Result]:
    inputs = {value.name: value for value in view.fact(OnnxSignature).inputs}
    for name, shape in view.each([("input_ids", profile.input_ids), ("position_ids", profile.position_ids)]):
        at = Location(path=CONFIG, pointer=f"/profiles/{profile.name}/{name}")
        if shape is None or shape != profile.input_ids:
            yield view.fail(
                "Tokens and positions have no common shape.", at=at, expected=profile.input_ids, actual=shape
            )
            continue
        value = inputs.get(name)
        dims = value.shape if value else None
        if (
            dims is None
            or len(dims) != len(shape)
            or any(isinstance(d, int) and d != n for d, n in zip(dims, shape, strict=False))
        ):
            yield view.fail(f"The graph does not take this shape ({MODEL}).", at=at, expected=value, actual=list(shape))


def _lengths(view: View, config: OnnxExport, prefill: ExportProfile, decode: ExportProfile) -> Iterator[Result]:
    if config.context is None:
        yield view.fail("The longest prompt is not configured.", at=prefill.at)
        return
    context = config.context
    target = view.fact(SourceShape).context
    view.saw(3)
    if target is not None and target != context:
        at = Location(path=CONFIG, pointer="/profiles/prefill/input_ids")
        yield view.fail(
            "The profile is not as long as the longest target context.", at=at, expected=target, actual=context
        )
    if decode.input_ids != (1, 1):
        at = Location(path=CONFIG, pointer="/profiles/decode/input_ids")
        yield view.fail("Decode takes one token.", at=at, expected=[1, 1], actual=decode.input_ids)
    if decode.past_max != context - 1:
        at = Location(path=CONFIG, pointer="/profiles/decode/past_sequence_max")
        yield view.fail(
            "The longest past is not the context less one.", at=at, expected=context - 1, actual=decode.past_max
        )
    lengths = prefill.lengths or ()
    at = Location(path=CONFIG, pointer="/profiles/prefill/valid_sequence_lengths")
    for length in view.each(boundary_lengths(view, context)):
        if length not in lengths:
            yield view.fail(
                f"The length {length} is not among the valid ones.", at=at, expected=length, actual=list(lengths)
            )
    for length in lengths:
        if not 1 <= length <= context:
            yield view.fail(
                f"The length {length} is outside the context.", at=at, expected=f"1 … {context}", actual=length
            )

"""Every weight file is listed with its size and digest.

Why: A shard that nobody hashed can be exchanged, and the model with it, without one digest in the port changing.
Fix: List every weight file in files[] of the manifest with bytes and sha256, those that are kept elsewhere as well.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.source.manifest import SourceManifest, at
from calaudit.facts.source.weights import Weights
from calaudit.model import Location, Result


@check("weights-unhashed", gate="G0", unwaivable=True)
def weights_unhashed(view: View) -> Iterator[Result]:
    """Look up every weight file that is present or that an index names."""
    source, weights = view.fact(SourceManifest), view.fact(Weights)
    if not weights.files and not weights.indexes:
        view.saw()
        yield view.fail("The manifest lists no weight file.", at=at("/files"), expected="at least one")
        return
    named: dict[str, Location] = {path: Location(path=path) for path in weights.files}
    for index in weights.indexes:
        named |= {path: Location(path=index.path) for path in index.files.values() if path not in named}
        for escape in view.each(index.escapes):
            yield view.fail(f"The index names {escape}, which is outside 00-source/.", at=index.path)
    for path, place in view.each(named.items()):
        listed = source.listed(path)
        if listed is None:
            yield view.fail(f"{path} is a weight file, and the manifest does not list it.", at=place)
        elif listed.size == 0:
            yield view.fail(f"{path} is listed with 0 bytes.", at=listed.at, expected="its size")
        elif listed.uri is None and path not in view.evidence.entries:
            yield view.fail(f"{path} is neither in the port nor listed with the uri where it is kept.", at=listed.at)

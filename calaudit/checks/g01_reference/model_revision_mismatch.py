"""Both runs used the revision of the model that the source manifest pins.

Why: A reference of last month's revision is a reference of another model, however well it reproduces.
Fix: Run the reference with the files of 00-source, and let it record the revision from source-manifest.json.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.g01_reference._parts import in_parts
from calaudit.facts.reference.runs import REPORT, SECOND_REPORT, ReportFact, SecondReportFact
from calaudit.facts.source.manifest import SourceManifest
from calaudit.model import Location, Result


@check("model-revision-mismatch", gate="G1", unwaivable=True)
def model_revision_mismatch(view: View) -> Iterator[Result]:
    """Compare each report with the manifest's revision and with the revision inside its model id."""
    yield from in_parts(view, _first, _second)


def _first(view: View) -> Iterator[Result]:
    yield from _compare(view, REPORT, view.fact(ReportFact).model_revision)


def _second(view: View) -> Iterator[Result]:
    yield from _compare(view, SECOND_REPORT, view.fact(SecondReportFact).document["model_revision"])


def _compare(view: View, path: str, revision: str) -> Iterator[Result]:
    manifest = view.fact(SourceManifest)
    for expected in view.each(dict.fromkeys((manifest.revision or manifest.model_revision, manifest.model_revision))):
        if revision != expected:
            yield view.fail(
                "This run used another revision of the model than the source manifest pins.",
                at=Location(path=path, pointer="/model_revision"),
                expected=expected,
                actual=revision,
            )

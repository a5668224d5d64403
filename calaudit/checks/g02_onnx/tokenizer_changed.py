"""The tokenizer of the ONNX run is the one of the source and of the reference.

Why: An exporter that rewrites the tokenizer changes every token, and equal tokens then prove nothing about equal text.
Fix: Restore the source's tokenizer.json, then run the reference and the ONNX comparison again.
"""

from collections.abc import Iterator
from typing import Any, cast

from calaudit.checks import View, check
from calaudit.facts.onnx.export import MANIFEST, SourceShape
from calaudit.facts.onnx.results import REPORT, OnnxReport
from calaudit.facts.tokens.tokenizer import TOKENIZER
from calaudit.model import Location, Result

_OTHERS = ("01-reference/reference-report.json", "01-reference/tokenizer-conformance.json")


@check("tokenizer-changed", gate="G2", back_to="exporter", unwaivable=True)
def tokenizer_changed(view: View) -> Iterator[Result]:
    """Compare the digest in the report with the file, the manifest, and what the reference used."""
    used = view.fact(OnnxReport).tokenizer_sha256
    at = Location(path=REPORT, pointer="/tokenizer_sha256")
    sources = [(TOKENIZER, view.evidence.entry(TOKENIZER).sha256), (MANIFEST, view.fact(SourceShape).tokenizer_sha256)]
    sources += [
        (path, str(cast("dict[str, Any]", view.evidence.document(path))["tokenizer_sha256"])) for path in _OTHERS
    ]
    for path, digest in view.each(sources):
        if digest != used:
            yield view.fail(
                f"The ONNX run used another tokenizer than {path} says.",
                at=at,
                expected=f"sha256 {digest}",
                actual=f"sha256 {used}",
            )

"""Every byte beside the model belongs to a tensor and is in the report's list of files.

Why: Bytes that no tensor claims are shipped unexamined, and a data file that no list names is not bound by its digest.
Fix: Delete the data files, export again, then run `calaudit onnx compare`, which writes the list into the report.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.onnx.proto import MODEL
from calaudit.facts.onnx.results import REPORT, OnnxReport
from calaudit.facts.onnx.values import OnnxValues
from calaudit.facts.onnx.weights import FOLDER, OnnxWeights
from calaudit.model import Location, Result


@check("external-data-unlisted", gate="G2", kinds=("pass", "fail", "open", "notApplicable"), unwaivable=True)
def external_data_unlisted(view: View) -> Iterator[Result]:
    """Compare the files there are, those tensors name, and those the report lists; then look between the tensors."""
    weights = view.fact(OnnxWeights)
    used = set(weights.external_files)
    for path in view.each(weights.data_files):
        if path not in used:
            yield view.fail("No tensor of the model is stored in this file; remove it.", at=path)
    for fault in weights.external.of("external-data-unlisted"):
        yield view.fail(fault.message, at=fault.path, expected=fault.expected, actual=fault.actual)
    listed = {f"{FOLDER}/{name}": n for n, name in enumerate(view.fact(OnnxReport).external_files)}
    if not used and not listed and not weights.data_files:
        yield view.not_applicable(f"{MODEL} keeps all its tensors inside.")
        return
    for path in view.each(sorted(used - set(listed))):
        yield view.fail(
            f"{path} holds tensors of the model and is not listed.", at=Location(path=REPORT, pointer="/external_data")
        )
    for path in view.each(sorted(set(listed) - used)):
        at = Location(path=REPORT, pointer=f"/external_data/{listed[path]}")
        yield view.fail(f"{path} is listed and holds no tensor of the model.", at=at)
    for path, offset, length in view.fact(OnnxValues).hidden:
        yield view.fail(
            f"{length} bytes at offset {offset} lie between tensors and are not zero.",
            at=path,
            expected="zero padding",
            actual="other bytes",
        )

"""The checksums that the model records for external tensors are those of their bytes.

Why: A recorded checksum that does not fit says that the data file is not the one the model was exported with; loaders
ignore it.
Fix: Delete the data file, then export again.

The ONNX specification calls the checksum the SHA-1 of the file; exporters that write one take the tensor's bytes.
Either is accepted: both bind the tensor's bytes. The port's own SHA-256 lists are what protects against forgery.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.onnx.proto import MODEL
from calaudit.facts.onnx.values import OnnxValues
from calaudit.facts.onnx.weights import OnnxWeights
from calaudit.model import Result


@check("external-data-checksum", gate="G2", kinds=("pass", "fail", "open", "notApplicable"), unwaivable=True)
def external_data_checksum(view: View) -> Iterator[Result]:
    """Compare every recorded SHA-1."""
    faults = view.fact(OnnxWeights).external.of(view.rule.id)
    for fault in view.each(faults):
        yield view.fail(fault.message, at=MODEL, expected=fault.expected, actual=fault.actual)
    checksums = view.fact(OnnxValues).checksums
    if not checksums and not faults:
        yield view.not_applicable(f"{MODEL} records no checksum for external data.")
    for item in view.each(checksums):
        if not item.agrees:
            yield view.fail(
                f"The tensor {item.extent.tensor!r} in {item.extent.path} has not the checksum that the model records.",
                at=MODEL,
                expected=f"sha1 {item.extent.checksum}",
                actual=f"sha1 {item.slice_sha1} (tensor), {item.file_sha1} (file)",
            )

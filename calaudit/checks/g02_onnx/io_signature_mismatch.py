"""Inputs and outputs have the names, types and shapes that the profiles and the architecture demand.

Why: The runtime binds buffers by name, type and shape; one that differs is read as something else.
Fix: Correct the export wrapper so that the graph takes and gives what the finding expects, then export again.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.onnx.export import CONFIG, OnnxExport, SourceShape
from calaudit.facts.onnx.graph import OnnxGraph
from calaudit.facts.onnx.kv import kv_names
from calaudit.facts.onnx.proto import MODEL
from calaudit.facts.onnx.signature import Dim, OnnxSignature, Value
from calaudit.model import Location, Result

_Wanted = dict[str, tuple[str, tuple[int | None, ...]]]
"""Name to type and shape; None is a dimension that must stay free."""


@check("io-signature-mismatch", gate="G2")
def io_signature_mismatch(view: View) -> Iterator[Result]:
    """Compare the signature after shape inference, name by name; what is there besides is wrong too."""
    signature, shape = view.fact(OnnxSignature), view.fact(SourceShape)
    if signature.checker_error is not None:
        yield view.open(
            "The graph does not pass the checker (onnx-invalid), so its shapes cannot be inferred.", at=MODEL
        )
        return
    graph = view.fact(OnnxGraph)
    cache = ("float32", (1, shape.kv_heads, None, shape.head_dim))
    names = list(kv_names(shape.layers, graph.inputs, graph.outputs))
    inputs: _Wanted = {"input_ids": ("int64", (1, None)), "position_ids": ("int64", (1, None))}
    inputs |= {past: cache for _, _, past, _ in names}
    vocab = _vocab(view, shape)
    outputs: _Wanted = {"logits": ("float32", (1, 1, vocab))} | {present: cache for _, _, _, present in names}
    yield from _compare(view, "input", inputs, signature.inputs)
    yield from _compare(view, "output", outputs, signature.outputs)
    for name in signature.replaceable:
        yield view.fail(
            f"The initializer {name!r} is an input too, so whoever runs the model can feed other values in its place. "
            "List what is fed alone as inputs.",
            at=MODEL,
            expected="no input",
            actual=name,
        )
    yield from _configured(view, vocab, shape)


def _vocab(view: View, shape: SourceShape) -> int:
    if shape.vocab is not None:
        return shape.vocab
    logits = view.fact(OnnxExport).logits
    return logits[-1] if logits else shape.tokenizer_vocab


def _compare(view: View, what: str, wanted: _Wanted, found: tuple[Value, ...]) -> Iterator[Result]:
    by_name = {value.name: value for value in found}
    for name, (dtype, dims) in view.each(wanted.items()):
        expected = f"{name} {dtype}[{', '.join('*' if d is None else str(d) for d in dims)}]"
        value = by_name.pop(name, None)
        if value is None:
            yield view.fail(f"The model has no {what} {name!r}.", at=MODEL, expected=expected, actual="absent")
        elif value.dtype != dtype or not _fits(value.shape, dims):
            yield view.fail(
                f"The {what} {name!r} has another type or shape.", at=MODEL, expected=expected, actual=value
            )
    for value in by_name.values():
        yield view.fail(f"Nothing asks for the {what} {value.name!r}.", at=MODEL, expected="absent", actual=value)


def _fits(found: tuple[Dim, ...] | None, wanted: tuple[int | None, ...]) -> bool:
    """A fixed size must be there as such; a free one must not be fixed."""
    if found is None or len(found) != len(wanted):
        return False
    return all(
        have == want if want is not None else not isinstance(have, int)
        for have, want in zip(found, wanted, strict=True)
    )


def _configured(view: View, vocab: int, shape: SourceShape) -> Iterator[Result]:
    logits = view.fact(OnnxExport).logits
    view.saw()
    at = Location(path=CONFIG, pointer="/output/logits")
    if logits != (1, 1, vocab):
        yield view.fail(
            "The configured logits are not [1, 1, vocabulary].",
            at=at,
            expected=[1, 1, vocab],
            actual=list(logits or ()),
        )
    if vocab < shape.tokenizer_vocab:
        yield view.fail(
            "The tokenizer has more tokens than the logits.", at=at, expected=f"≥ {shape.tokenizer_vocab}", actual=vocab
        )

"""What a tokenizer definition must not say, because the native code that would run it comes to no good end.

Dropout draws at random, replacements can blow a text up, and a template that names a special token which it does not
define makes the library panic, with a stack trace on standard error.
"""

import math
from collections.abc import Iterator
from typing import Any

from calaudit.errors import MissingFact
from calaudit.model import Location

__all__ = ["GROWTH_MAX", "TOKENIZER", "refuse_unsafe"]

TOKENIZER = "00-source/hf-config/tokenizer.json"

GROWTH_MAX = 4096
"""How many times longer its replacements may make a text before a tokenizer is not run at all."""


def refuse_unsafe(definition: dict[str, Any]) -> None:
    """Look at a definition before it is loaded.

    Raises:
        MissingFact: it is not run, and why.
    """
    model = definition.get("model")
    if isinstance(model, dict) and model.get("dropout"):
        raise MissingFact(
            "tokenizer.json has BPE dropout: it cuts texts at random, so nothing can be compared. Set it to null.",
            at=Location(path=TOKENIZER, pointer="/model/dropout"),
        )
    growth = math.prod(_growths([definition.get("normalizer"), definition.get("decoder")]))
    if growth > GROWTH_MAX:
        raise MissingFact(
            f"tokenizer.json can make a text {growth} times longer; it is not run.", at=Location(path=TOKENIZER)
        )
    for pointer, name in _undefined(definition.get("post_processor"), "/post_processor"):
        raise MissingFact(
            f"A template of tokenizer.json adds the special token {name!r}, which its special_tokens do not define; "
            "take the file from the model again.",
            at=Location(path=TOKENIZER, pointer=pointer),
        )


def _growths(node: Any) -> Iterator[int]:
    if isinstance(node, list):
        for item in node:
            yield from _growths(item)
    elif isinstance(node, dict):
        content, pattern = node.get("content"), node.get("pattern")
        if isinstance(content, str):
            literal = pattern.get("String") if isinstance(pattern, dict) else None
            length = len(literal) if isinstance(literal, str) and literal else 1
            yield max(1, math.ceil(len(content) / length))
        for item in node.values():
            yield from _growths(item)


def _undefined(node: Any, pointer: str) -> Iterator[tuple[str, str]]:
    """Special tokens that a template names and does not define, each with the template's place."""
    if not isinstance(node, dict):
        return
    if node.get("type") == "TemplateProcessing":
        defined = node.get("special_tokens")
        for which in ("single", "pair"):
            pieces = node.get(which)
            for piece in pieces if isinstance(pieces, list) else ():
                special = piece.get("SpecialToken") if isinstance(piece, dict) else None
                name = special.get("id") if isinstance(special, dict) else None
                if isinstance(name, str) and not (isinstance(defined, dict) and name in defined):
                    yield f"{pointer}/{which}", name
    inner = node.get("processors")
    for number, item in enumerate(inner if isinstance(inner, list) else ()):
        yield from _undefined(item, f"{pointer}/processors/{number}")

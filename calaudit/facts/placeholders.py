"""Where in a document a value stands that nobody has decided yet."""

from collections.abc import Iterator

from calaudit.contract.placeholders import Placeholders
from calaudit.model import ArtifactSpec, Json
from calaudit.pointers import fits, leaves


def left_in(document: Json, placeholders: Placeholders, spec: ArtifactSpec) -> Iterator[tuple[str, Json]]:
    """The JSON pointer and the value of each placeholder in a document of the contract."""
    for pointer, value in leaves(document, bare=False):
        if isinstance(value, str):
            if placeholders.is_placeholder(value) and not fits(pointer, spec.free_text):
                yield pointer, value
        elif _is_zero(pointer.rpartition("/")[2], value, placeholders):
            yield pointer, value


def _is_zero(member: str, value: Json, placeholders: Placeholders) -> bool:
    return member in placeholders.zero and value == 0 and not isinstance(value, bool)

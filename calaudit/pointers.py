"""JSON pointers (RFC 6901), and walking a parsed document without recursion."""

from collections.abc import Iterable, Iterator

from calaudit.model import Json

_BARE = frozenset({int, float, bool, type(None)})


def leaves(value: Json, *, bare: bool = True) -> Iterator[tuple[str, bool | int | float | str | None]]:
    """Every scalar with its JSON pointer, in document order.

    Without ``bare`` the elements of arrays that are no text are left out: token ids and logits, most of what there is.
    """
    stack: list[tuple[str, Json]] = [("", value)]
    while stack:
        pointer, item = stack.pop()
        if isinstance(item, dict):
            stack.extend((f"{pointer}/{escape(key)}", child) for key, child in reversed(item.items()))
        elif isinstance(item, list):
            wanted: Iterable[int] = range(len(item) - 1, -1, -1)
            if not bare:
                if _BARE.issuperset(map(type, item)):
                    continue
                wanted = [n for n in wanted if isinstance(item[n], (str, list, dict))]
            stack.extend((f"{pointer}/{n}", item[n]) for n in wanted)
        else:
            yield pointer, item


def escape(key: str) -> str:
    """One reference token of a JSON pointer."""
    return key.replace("~", "~0").replace("/", "~1")


def resolve(value: Json, pointer: str) -> Json:
    """What a JSON pointer points at.

    Raises:
        KeyError: nothing is there.
    """
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            raise KeyError(pointer)
    return value


def fits(pointer: str, patterns: frozenset[str]) -> bool:
    """Whether a pointer is one of ``patterns``, in which ``*`` stands for any one token."""
    if pointer in patterns:
        return True
    tokens = pointer.split("/")
    return any(
        len(tokens) == len(wanted) and all(w in ("*", t) for t, w in zip(tokens, wanted, strict=True))
        for wanted in (pattern.split("/") for pattern in patterns if "*" in pattern)
    )

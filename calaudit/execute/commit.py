"""The commit of a publication: what is to be put where in the port, and what is to go."""

import json
import os
import re
from collections.abc import Callable, Sequence
from typing import cast

from calaudit.errors import Malformed
from calaudit.evidence.strict_json import parse_json
from calaudit.execute.placing import COMMIT, NEW, READ, chunks_of, damaged, digest_of, exists

__all__ = ["PATH", "read_commit", "write_commit"]

PATH = re.compile(r"(?!\.calaudit(?:/|$))(?:(?!\.{1,2}(?:/|$))[^/\\\x00-\x1f\x7f]+/)*(?!\.{1,2}$)[^/\\\x00-\x1f\x7f]+")
"""What may be published: a path that stays in the port, and out of the journal."""

_TAG = "calaudit-journal/v1"
_STAGED = re.compile(r"[0-9]{1,9}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


def write_commit(
    box: int, writes: Sequence[dict[str, str]], removes: Sequence[str], reached: Callable[[str], None]
) -> None:
    """Write what is to be done into the journal's folder; it appears there by one rename.

    ``writes`` name the ``path``, the ``staged`` file and its ``sha256``. ``reached`` is told of the point before it.
    """
    document = {"schema": _TAG, "writes": writes, "removes": removes}
    temporary = f"{COMMIT}.new"
    descriptor = os.open(temporary, NEW, 0o666, dir_fd=box)
    with os.fdopen(descriptor, "wb") as file:
        file.write(json.dumps(document).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
    reached("commit")
    os.rename(temporary, COMMIT, src_dir_fd=box, dst_dir_fd=box)
    os.fsync(box)


def read_commit(box: int) -> tuple[list[dict[str, str]], list[str]]:
    """What is to be written and to be removed; everything in it is doubted, since a port may come from somebody else.

    Raises:
        UsageError: the journal is damaged.
    """
    try:
        document = parse_json(b"".join(chunks_of(os.open(COMMIT, READ, dir_fd=box))))
    except Malformed as error:
        raise damaged(error.message) from error
    if not isinstance(document, dict) or set(document) != {"schema", "writes", "removes"} or document["schema"] != _TAG:
        raise damaged("it is no journal of this version")
    writes, removes = document["writes"], document["removes"]
    if not isinstance(writes, list) or not isinstance(removes, list):
        raise damaged("it lists nothing")
    for write in writes:
        _doubt(write, box)
    for path in removes:
        if not isinstance(path, str) or not PATH.fullmatch(path):
            raise damaged(f"{path!r} is no path of a port")
    return cast("list[dict[str, str]]", writes), cast("list[str]", removes)


def _doubt(write: object, box: int) -> None:
    if not isinstance(write, dict) or set(write) != {"path", "staged", "sha256"}:
        raise damaged("an entry is no entry")
    for member, form in (("path", PATH), ("staged", _STAGED), ("sha256", _SHA256)):
        if not isinstance(write[member], str) or not form.fullmatch(write[member]):
            raise damaged(f"{write[member]!r} is no {member}")
    if exists(write["staged"], box) and digest_of(write["staged"], box) != write["sha256"]:
        raise damaged(f"the new {write['path']} is not what was committed")

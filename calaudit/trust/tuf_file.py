"""One TUF metadata file, read by the one strict JSON parser and then by python-tuf.

python-tuf alone takes the last of two equal keys; a reader who looks at the file may see the first.
"""

import copy
from typing import Any, TypeVar, cast

from securesystemslib.exceptions import Error as SecureSystemsError
from tuf.api.exceptions import RepositoryError
from tuf.api.metadata import Metadata, Root, Targets

from calaudit.errors import Malformed
from calaudit.evidence.strict_json import parse_json
from calaudit.trust.source import SIZE_MAX

__all__ = ["TUF_ERRORS", "read_metadata"]

TUF_ERRORS = (RepositoryError, SecureSystemsError, ValueError, KeyError, TypeError, AttributeError)
"""What python-tuf and securesystemslib raise over metadata that is not what it should be."""

S = TypeVar("S", Root, Targets)


def read_metadata(data: bytes, kind: type[S]) -> Metadata[S]:
    """The metadata of one file; its signatures are not verified here.

    Raises:
        Malformed: it is no TUF metadata of this kind, or two readers could disagree about it.
    """
    if len(data) > SIZE_MAX:
        raise Malformed(f"It has {len(data)} bytes; metadata has at most {SIZE_MAX}.")
    document = parse_json(data)
    if not isinstance(document, dict) or set(document) != {"signed", "signatures"}:
        raise Malformed("It is not TUF metadata, which has exactly the members signed and signatures.")
    try:
        metadata = Metadata[Any].from_dict(copy.deepcopy(cast("dict[str, Any]", document)))
    except TUF_ERRORS as error:
        raise Malformed(f"It is not TUF metadata ({error}).") from error
    if not isinstance(metadata.signed, kind):
        raise Malformed(f"It is TUF metadata of type {metadata.signed.type}, not {kind.type}.")
    if metadata.signed.to_dict() != document["signed"]:
        raise Malformed("It does not come out as it went in, so its signatures would cover something else.")
    try:
        _ = metadata.signed_bytes
    except TUF_ERRORS as error:
        raise Malformed(
            "It holds a number with a fraction, which has no canonical form that could be signed."
        ) from error
    return cast("Metadata[S]", metadata)

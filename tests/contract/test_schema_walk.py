"""Following a schema along a document."""

from typing import Any

import pytest

from calaudit.contract import Contract
from calaudit.contract.schema_walk import at_pointer, inexact_integers
from calaudit.errors import ContractError

ROOT: dict[str, Any] = {
    "properties": {
        "count": {"type": "integer"},
        "ratio": {"type": "number"},
        "either": {"type": ["integer", "string"]},
        "wide": {"anyOf": [{"type": "integer"}, {"type": "number"}]},
        "points": {"enum": [0, 1, 3]},
        "switch": {"enum": [True]},
        "pairs": {"items": {"prefixItems": [{"$ref": "#/$defs/id"}, {"type": "number"}]}},
        "maybe": {"anyOf": [{"type": "null"}, {"properties": {"n": {"$ref": "#/$defs/id"}}}]},
        "a/b": {"additionalProperties": {"type": "integer"}},
    },
    "$defs": {"id": {"type": "integer"}},
}


@pytest.mark.parametrize(
    ("value", "pointers"),
    [
        ({"count": 4, "ratio": 4.0, "wide": 4.0, "switch": 1.0, "other": 4.0}, []),
        ({"count": 4.0}, ["/count"]),
        ({"count": 4.5}, []),
        ({"either": 4.0, "points": 3.0}, ["/either", "/points"]),
        ({"pairs": [[1.0, 2.0], [1, 2.0], [3.0, 1]]}, ["/pairs/0/0", "/pairs/2/0"]),
        ({"maybe": {"n": 2.0}}, ["/maybe/n"]),
        ({"a/b": {"x~y": 2.0}}, ["/a~1b/x~0y"]),
        (4.0, []),
        ([1.0], []),
        ({"count": True}, []),
    ],
)
def test_integers_are_written_as_integers(value: Any, pointers: list[str]) -> None:
    assert [pointer for pointer, _ in inexact_integers(ROOT, value)] == pointers


def test_documents_are_held_to_it_and_records_are_not(contract: Contract) -> None:
    kinds = contract.schemas["shape-matrix/v1"], contract.schemas["token-record/v1"]
    matrix, record = (schema.document["examples"][0] for schema in kinds)
    case = {**matrix["cases"][0], "sequence_length": 1024.0}
    assert not kinds[0].is_valid({**matrix, "cases": [case]})
    (error,) = kinds[0].errors({**matrix, "cases": [case]})
    assert (error.pointer, error.message) == (
        "/cases/0/sequence_length",
        "Found 1024.0, expected an integer; write 1024.",
    )
    assert kinds[1].is_valid({**record, "token_ids": [5.0]})


@pytest.mark.parametrize(
    ("pointer", "count"),
    [("", 1), ("/count", 1), ("/nothing", 0), ("/pairs/*/0", 2), ("/pairs/7/1", 1), ("/a~1b/any", 1), ("/maybe/n", 2)],
)
def test_at_pointer(pointer: str, count: int) -> None:
    assert len(at_pointer(ROOT, pointer)) == count


def test_a_reference_that_leads_nowhere() -> None:
    with pytest.raises(ContractError, match="leads nowhere"):
        at_pointer({"$ref": "#/$defs/x"}, "")

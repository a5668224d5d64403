"""Reading one YAML document of the contract: strictly, and held against its schema."""

from typing import Any

from calaudit.contract.schemas import Schemas
from calaudit.errors import ContractError, Malformed
from calaudit.evidence.strict_yaml import parse_yaml
from calaudit.model import Json

__all__ = ["follow", "parse_document", "parse_strictly"]


def parse_document(data: bytes, where: str, schemas: Schemas, schema: str) -> dict[str, Any]:
    """The document in some bytes; ``where`` names its file in messages.

    Raises:
        ContractError: it is not strict YAML, or does not follow its schema.
    """
    return follow(parse_strictly(data, where), where, schemas, schema)


def parse_strictly(data: bytes, where: str) -> Json:
    """The value of a YAML file.

    Raises:
        ContractError: it is not strict YAML.
    """
    try:
        return parse_yaml(data)
    except Malformed as error:
        raise ContractError(f"{where}:{error.line}: {error.message}") from error


def follow(value: Json, where: str, schemas: Schemas, schema: str) -> dict[str, Any]:
    """The value, which follows its schema.

    Raises:
        ContractError: it does not.
    """
    for problem in schemas.errors(schema, value):
        raise ContractError(f"{where}#{problem.pointer}: {problem.message} (schemas/{schema}.json)")
    assert isinstance(value, dict)  # noqa: S101 - the schema says so
    return value

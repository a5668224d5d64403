"""Fixtures of the whole suite."""

from collections.abc import Iterator

import pytest

from calaudit.contract import Contract, load_contract
from tests import guard


@pytest.fixture
def inert() -> Iterator[None]:
    """Forbid starting a process or opening a connection while the test runs."""
    with guard.inert():
        yield


@pytest.fixture(scope="session")
def contract() -> Contract:
    """The shipped contract, loaded once."""
    return load_contract()

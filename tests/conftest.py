"""Fixtures of the whole suite."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from calaudit.contract import Contract, load_contract
from tests import guard

# A loaded machine is no failure: nothing here is judged by the clock.
settings.register_profile("calaudit", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("calaudit")


@pytest.fixture
def inert() -> Iterator[None]:
    """Forbid starting a process or opening a connection while the test runs."""
    with guard.inert():
        yield


@pytest.fixture(scope="session")
def contract() -> Contract:
    """The shipped contract, loaded once."""
    return load_contract()

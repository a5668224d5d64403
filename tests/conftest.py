"""Fixtures of the whole suite."""

import gc
import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from calaudit.contract import Contract, load_contract
from tests import guard

# A loaded machine is no failure: nothing here is judged by the clock.
settings.register_profile("calaudit", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("calaudit")


# An audit makes some hundred thousand objects and no cycles: looking for cycles at the usual rate costs a sixth.
gc.set_threshold(1_000_000, 50, 50)

# Tests run on all cores already; threads of one BLAS would spin against those of the others. Set before numpy is there.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@pytest.fixture
def inert() -> Iterator[None]:
    """Forbid starting a process or opening a connection while the test runs."""
    with guard.inert():
        yield


@pytest.fixture
def remembered() -> Iterator[None]:
    """Work out once in a process what the example's own files say."""
    from tests import memo  # it imports numpy

    with memo.remembered():
        yield


@pytest.fixture(scope="session")
def contract() -> Contract:
    """The shipped contract, loaded once."""
    return load_contract()

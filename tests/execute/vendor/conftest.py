"""The two sides of a trade."""

from pathlib import Path

import pytest

from calaudit.contract import Contract
from tests.execute.vendor.trade import Trade


@pytest.fixture
def trade(tmp_path: Path, contract: Contract) -> Trade:
    return Trade.begin(tmp_path, contract)

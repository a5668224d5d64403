"""Fixtures of the keyless tests."""

import json

import pytest

from tests.sigstore.bundles import Bundles, signed
from tests.sigstore.loopback import Loopback, loopback

__all__ = ["bundles", "loopback"]


@pytest.fixture(scope="session")
def bundles(loopback: Loopback) -> Bundles:
    signed(loopback)  # so that there is a tree, and an inclusion proof has hashes
    return Bundles(
        v1=signed(loopback),
        v2=signed(loopback, rekor=2),
        stamped=signed(loopback, timestamps=True),
        root=json.dumps(loopback.trusted_root()).encode(),
    )

"""Fixtures of the tests with other implementations."""

from tests.sigstore.loopback import loopback

__all__ = ["loopback"]

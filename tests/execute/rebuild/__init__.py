"""Tests of rebuilds."""

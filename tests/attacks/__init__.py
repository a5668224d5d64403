"""Forged ports: something that matters is wrong, every digest is right, and no gate may pass."""

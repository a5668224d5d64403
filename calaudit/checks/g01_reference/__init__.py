"""Checks of G1, the reference (runbook §5): a corpus, answered twice alike, and every number in it true."""

"""G2: the exported graph is well-formed and computes what the reference computes."""

"""The names of the roles; apart from the registry, which imports python-tuf, because rules name roles without one."""

__all__ = ["FUNCTIONARY", "RELEASE", "ROLES"]

ROLES = ("model", "export", "quant", "compiler", "runtime", "serving", "release")
"""The roles of the runbook (§2)."""

RELEASE = "release"

FUNCTIONARY = "-functionary"
"""Ends the name of the delegation whose keys sign links and provenance of a role, never its signoffs."""

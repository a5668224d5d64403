"""calaudit's version, the one place it is written (hatchling reads it here)."""

VERSION = "0.1.0.dev0"

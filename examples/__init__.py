"""Examples: a real model port and the toolchain that makes it."""

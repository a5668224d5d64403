"""Python's search for cycles, and when not to make it."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Look for no garbage inside the block: for work that makes many objects that stay, and no cycles.

    What nobody refers to is freed as ever. Looking for cycles among what piles up takes a sixth to a fifth of the time.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()

import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest


@pytest.fixture
def public_path():
    """A folder that every user may enter (pytest's own are closed)."""
    path = Path(tempfile.mkdtemp(prefix="calaudit-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def unprivileged():
    """A context in which file permissions count, although the tests may run as root."""

    @contextmanager
    def act():
        root = os.geteuid() == 0
        if root:
            os.seteuid(65534)
        try:
            yield
        finally:
            if root:
                os.seteuid(0)

    return act

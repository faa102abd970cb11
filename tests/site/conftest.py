"""The trial site, built once for all the tests that read it."""

import fcntl
import os
from pathlib import Path

import pytest

from tests.site import trial_site


@pytest.fixture(scope="session")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole site, as built: in ``site`` without an address, in ``linked`` with one.

    It belongs to every test: whoever breaks something takes a copy.
    """
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # which the processes of one run have in common
    root, done = folder / "trial", folder / "trial.done"
    with open(folder / "trial.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            root.mkdir()
            trial_site.build_whole(root)
            done.touch()
    return root

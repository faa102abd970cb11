"""One small run that nothing stopped, made once; and torch's threads as they were."""

from pathlib import Path

import pytest
import torch

from tests.command.runs import SMALL, train


@pytest.fixture(scope="session")
def whole(tmp_path_factory) -> Path:
    threads = torch.get_num_threads()
    folder = tmp_path_factory.mktemp("whole") / "run"
    assert train(*SMALL, "--out", folder) == 0
    torch.set_num_threads(threads)
    return folder


@pytest.fixture(autouse=True)
def same_threads():
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)

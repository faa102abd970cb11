"""One small run that nothing stopped, made once; and torch's threads as they were."""

from pathlib import Path

import pytest
import torch

from ppo_ref.command.checkpoint import LAST
from tests.command import endings
from tests.command.runs import SMALL, train


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    threads = torch.get_num_threads()
    folder = tmp_path_factory.mktemp("whole") / "run"
    assert train(*SMALL, "--out", folder) == 0
    torch.set_num_threads(threads)
    return folder


@pytest.fixture(scope="session")
def dead(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> endings.Dead:
    config, last = ((whole / name).stat().st_size for name in ("config.json", LAST))
    limits = {"config": config - 1, "first": config + 100, "last": last - 100}
    return endings.dead(tmp_path_factory.mktemp("dead"), limits)


@pytest.fixture(autouse=True)
def same_threads():
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)

"""One folder per kind of model, and no way to a network."""

import socket
from pathlib import Path
from typing import NoReturn

import pytest
import torch

from tests.pretrained.folders import SIZES, save


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def refuse(*arguments: object) -> NoReturn:
        raise AssertionError(f"somebody wants to reach {arguments[1:]}")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture(scope="session")
def folders(tmp_path_factory) -> dict[str, Path]:
    state = torch.get_rng_state()
    made = {kind: save(tmp_path_factory.mktemp(kind), kind) for kind in SIZES}
    torch.set_rng_state(state)
    return made


@pytest.fixture(params=SIZES)
def folder(request, folders) -> Path:
    return folders[request.param]

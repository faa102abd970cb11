"""The contenders of the GAE benchmark compute the same thing, on what it says."""

import pytest
import torch
from torch.testing import assert_close

from bench import gae
from bench.floors import FLOORS
from tests.differential import control_peers, peers, wheels

PEERS = [peers.NOW, control_peers.TORCHRL, control_peers.STABLE]


@pytest.mark.parametrize("kind", ["padded", "masked", "dense"])
@wheels.requires(*PEERS)
def test_contenders_agree(kind):
    contenders = gae.contenders(kind, 8, 128, "cpu")
    mask = gae.rows(kind, 8, 128, "cpu").response_mask
    ours = contenders["gae"]().advantages
    assert_close(contenders["kernel"](), ours)
    if kind != "dense":
        assert_close(contenders[peers.NOW]()[0][mask], ours[mask], rtol=1e-5, atol=1e-5)
        return
    vectorised = contenders[gae.TORCHRL]()[0].squeeze(-1)
    assert_close(vectorised, ours, rtol=1e-4, atol=1e-4)
    stable = contenders[control_peers.STABLE]
    stable()
    buffer, *_ = stable.args
    assert_close(torch.from_numpy(buffer.advantages).T, ours, rtol=1e-5, atol=1e-5)


@wheels.requires(*PEERS)
def test_every_floor_names_contenders_that_run():
    names = {
        kind: gae.contenders(kind, 8, 128, "cpu").keys()
        for kind in ("padded", "masked", "dense")
    }
    for floor in FLOORS:
        if floor.subject == gae.SUBJECT:
            kind = floor.setting.split()[0]
            assert floor.needed <= names[kind]

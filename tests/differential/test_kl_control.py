"""``ppo_ref.kl`` beside the controllers of verl and OpenRLHF."""

import pytest
import torch

from ppo_ref.kl import adaptive_kl_coef
from tests.differential.batches import generator, seeds
from tests.differential.group_peers import controllers
from tests.differential.others import OPEN
from tests.differential.peers import RELEASES
from tests.differential.wheels import requires

pytestmark = requires(*RELEASES, OPEN)
SETTINGS = {"target": 0.1, "horizon": 10000}


@seeds
def test_a_run_of_batches_gives_the_same_coefficients(seed: int) -> None:
    kls = 0.2 * torch.randn(50, generator=generator(seed), dtype=torch.float64)
    kl_coef, peers = 0.5, controllers(0.5, 0.1, 10000)
    for kl in kls.tolist():
        kl_coef = adaptive_kl_coef(kl_coef=kl_coef, kl=kl, steps=256, **SETTINGS)
        for release, peer in peers.items():
            peer.update(kl, 256)
            assert kl_coef == pytest.approx(float(peer.value), rel=1e-12), release


def test_a_batch_too_large_for_the_horizon_is_refused_and_turns_theirs_negative() -> (
    None
):
    for peer in controllers(0.5, 0.1, 1000).values():
        peer.update(0.0, 6000)
        assert float(peer.value) == pytest.approx(-0.1)
    with pytest.raises(ValueError, match="steps must be below 5 times the horizon"):
        adaptive_kl_coef(kl_coef=0.5, kl=0.0, target=0.1, horizon=1000, steps=6000)

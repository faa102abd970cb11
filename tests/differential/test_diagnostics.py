"""``ppo_ref.diagnostics`` beside what verl logs."""

import math

import pytest
from torch import Tensor

from ppo_ref.diagnostics import (
    effective_sample_size,
    explained_variance,
    rollout_mismatch,
)
from tests.differential import rollout_peers
from tests.differential.batches import gapped_mask, normal, row, seeds
from tests.differential.peers import NOW
from tests.differential.test_rollout_correction import WEIGHTS, batch, pair
from tests.differential.wheels import requires

pytestmark = requires(NOW)


def critic_batch(returns: Tensor, values: Tensor, mask: Tensor) -> dict[str, Tensor]:
    return {"returns": returns, "values": values, "response_mask": mask}


@seeds
def test_explained_variance_is_verls_but_for_its_epsilon(seed: int) -> None:
    mask = gapped_mask(seed)
    inputs = critic_batch(normal(seed, mask), normal(seed + 1, mask), mask)
    ours = explained_variance(**inputs).item()
    theirs = rollout_peers.explained_variance(**inputs)
    variance = inputs["returns"][mask].var().item()
    assert 1 - ours == pytest.approx((1 - theirs) * (variance + 1e-5) / variance)


def test_verls_epsilon_hides_a_small_variance() -> None:
    returns = 1e-3 * row(1, -1, 1, -1)
    inputs = critic_batch(returns, -returns, row(1, 1, 1, 1).bool())
    assert explained_variance(**inputs).item() == pytest.approx(-3)
    variance = 4e-6 / 3
    theirs = rollout_peers.explained_variance(**inputs)
    assert theirs == pytest.approx(1 - 4 * variance / (variance + 1e-5))
    assert theirs > 0  # of a critic that has every sign wrong


@seeds
@pytest.mark.parametrize("level", WEIGHTS)
def test_effective_sample_size_is_verls(seed: int, level: str) -> None:
    inputs = batch(seed)
    theirs, metrics = rollout_peers.weights(level, 2.0, **inputs)
    share = effective_sample_size(theirs, inputs["response_mask"]).item()
    assert share == pytest.approx(metrics["rollout_is_eff_sample_size"], rel=1e-6)


@seeds
def test_mismatch_is_verls(seed: int) -> None:
    inputs = batch(seed)
    ours, theirs = rollout_mismatch(**inputs), rollout_peers.mismatch(**inputs)
    assert ours.kl_k1.item() == pytest.approx(theirs["kl"])
    assert ours.kl_k3.item() == pytest.approx(theirs["k3_kl"])
    chi2 = ours.mean.square() / ours.effective_sample_size - 1
    assert chi2.item() == pytest.approx(theirs["chi2_token"])


def test_the_mismatch_is_clamped_at_twenty_here_alone() -> None:
    inputs = pair([-1.0], [-101.0])
    ours, theirs = rollout_mismatch(**inputs), rollout_peers.mismatch(**inputs)
    assert ours.kl_k1.item() == -20
    assert ours.kl_k3.item() == pytest.approx(math.exp(20) - 21)
    assert theirs["kl"] == pytest.approx(-100)
    assert theirs["k3_kl"] == pytest.approx(math.exp(100) - 101)

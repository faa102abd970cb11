"""``ppo_ref.advantages`` beside TorchRL, Stable-Baselines3 and TRL's block."""

import pytest
import torch
from torch.testing import assert_close

from ppo_ref.advantages import gae
from tests.differential import batches, control_peers, others
from tests.differential.batches import normal, seeds
from tests.differential.control_peers import STABLE, TORCHRL
from tests.differential.others import TRL
from tests.differential.test_advantages import discounted
from tests.differential.wheels import requires

LOOP = "generalized_advantage_estimate"
VECTORISED = f"vec_{LOOP}"
# TorchRL multiplies its discounts by integers, which makes float32 of them.
TO_FLOAT32 = {"atol": 1e-5, "rtol": 1e-5}
cut_off = pytest.mark.parametrize("cut_off", [False, True])


def batch(seed: int, cut_off: bool) -> dict[str, object]:
    mask = batches.contiguous_mask(seed)
    given = {
        "token_level_rewards": normal(seed, mask),
        "values": normal(seed + 100, mask),
        "response_mask": mask,
    }
    if cut_off:
        given["bootstrap_values"] = normal(seed + 200, mask)[:, 0]
    return given


def last_reward(time: int) -> dict[str, object]:
    """One row that earns 1 at its last token, and a critic that expects nothing."""
    rewards = torch.zeros(1, time, dtype=torch.float64)
    mask, values = torch.ones(1, time).bool(), rewards.clone()
    rewards[0, -1] = 1
    return {"token_level_rewards": rewards, "values": values, "response_mask": mask}


@requires(TORCHRL)
@seeds
@discounted
@cut_off
def test_gae_is_torchrls_done_at_the_last_token(
    seed: int, gamma: float, gae_lambda: float, cut_off: bool
) -> None:
    given = batch(seed, cut_off) | {"gamma": gamma, "gae_lambda": gae_lambda}
    ours, mask = gae(**given), given["response_mask"]
    theirs = control_peers.torchrl_gae(LOOP, **given)
    assert_close(ours.advantages[mask], theirs[0][mask], **TO_FLOAT32)
    assert_close(ours.returns[mask], theirs[1][mask], **TO_FLOAT32)


@requires(STABLE)
@seeds
@discounted
@cut_off
def test_gae_is_stable_baselines_with_the_cut_off_value_in_the_reward(
    seed: int, gamma: float, gae_lambda: float, cut_off: bool
) -> None:
    given = batch(seed, cut_off) | {"gamma": gamma, "gae_lambda": gae_lambda}
    ours, mask = gae(**given), given["response_mask"]
    theirs = control_peers.stable_gae(**given)
    assert_close(ours.advantages[mask], theirs[0][mask])
    assert_close(ours.returns[mask], theirs[1][mask])


@requires(TRL)
@seeds
@discounted
def test_gae_is_trls_block_when_padding_is_cleared_and_no_gap_is_there(
    seed: int, gamma: float, gae_lambda: float
) -> None:
    given = batch(seed, cut_off=False)
    mask = given["response_mask"]
    ours = gae(**given, gamma=gamma, gae_lambda=gae_lambda)
    names = "values", "token_level_rewards"
    rows = (batches.zero_outside(mask, given[name]) for name in names)
    advantages, returns = others.trl_recursion(*rows, gamma, gae_lambda)
    assert_close(ours.advantages, advantages)
    assert_close(ours.returns, returns)

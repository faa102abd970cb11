"""``ppo_ref.losses`` beside OpenRLHF, TRL, TorchRL and Stable-Baselines3."""

import math

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from ppo_ref.aggregation import sequence_mean_token_mean, token_mean
from ppo_ref.losses import policy_loss, value_loss
from tests.differential import control_losses, loss_peers
from tests.differential.batches import gapped_mask, normal, seeds
from tests.differential.control_peers import STABLE, TORCHRL
from tests.differential.others import OPEN, TRL
from tests.differential.test_losses import assert_same, one_token, policy_batch
from tests.differential.wheels import requires

ranges = pytest.mark.parametrize("clip_range", [(0.2, 0.2), (0.2, 0.28), (0.1, 3.0)])


def value_batch(seed: int) -> dict[str, Tensor]:
    mask = gapped_mask(seed)
    return {
        "values": normal(seed, mask).requires_grad_(),
        "old_values": normal(seed + 1, mask),
        "returns": normal(seed + 2, mask),
        "response_mask": mask,
    }


def counted(batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """What lies on the mask, flat; the first of it keeps its gradient."""
    mask = batch["response_mask"]
    return {k: x[mask] for k, x in batch.items() if k != "response_mask"}


@requires(OPEN)
@seeds
@ranges
@pytest.mark.parametrize("dual_clip", [None, 1.5, 3.0])
@pytest.mark.parametrize("by_token", [True, False])
def test_openrlhfs_clipped_loss_is_ours(
    seed: int, clip_range: tuple[float, float], dual_clip: float | None, by_token: bool
) -> None:
    batch = policy_batch(seed)
    aggregate = token_mean if by_token else sequence_mean_token_mean
    given = {"clip_range": clip_range, "dual_clip": dual_clip}
    ours = policy_loss(**batch, **given, aggregate=aggregate)
    loss, clipped, shift = loss_peers.open_policy_loss(
        **batch, **given, token_level_loss=by_token
    )
    assert_same(ours.loss, loss, batch["log_probs"])
    assert_close(ours.approx_kl, shift)
    if dual_clip is None:
        assert_close(ours.clip_fraction.float(), clipped.float())


@requires(TRL)
@seeds
def test_trls_clipped_loss_is_ours(seed: int) -> None:
    batch = policy_batch(seed)
    ours = policy_loss(**batch, clip_range=0.2)
    loss, clipped = loss_peers.trl_policy_loss(**batch, clip_range=0.2)
    assert_same(ours.loss, loss, batch["log_probs"])
    assert_close(ours.clip_fraction.float(), clipped)


@requires(TORCHRL)
@seeds
@ranges
def test_torchrls_clipped_loss_is_ours(
    seed: int, clip_range: tuple[float, float]
) -> None:
    batch = policy_batch(seed)
    ours = policy_loss(**batch, clip_range=clip_range)
    tokens = counted(batch)
    loss, _ = control_losses.torchrl_policy_loss(**tokens, clip_range=clip_range)
    assert_same(ours.loss, loss, batch["log_probs"])


@requires(STABLE)
@seeds
def test_stable_baselines_clipped_loss_is_ours(seed: int) -> None:
    batch = policy_batch(seed)
    ours = policy_loss(**batch, clip_range=0.2)
    loss, _ = control_losses.stable_policy_loss(**counted(batch), clip_range=0.2)
    assert_same(ours.loss, loss, batch["log_probs"])


@requires(TORCHRL, STABLE)
def test_a_ratio_outside_counts_as_clipped_there_and_here_if_it_binds() -> None:
    # The ratio is 2, and a negative advantage wants it lower: nothing is clipped.
    batch = one_token(math.log(2), -1)
    assert policy_loss(**batch).clip_fraction.item() == 0
    tokens = counted(batch)
    _, theirs = control_losses.torchrl_policy_loss(**tokens, clip_range=(0.2, 0.2))
    assert theirs.item() == 1
    assert control_losses.stable_policy_loss(**tokens, clip_range=0.2)[1] == 1


@requires(OPEN, TRL, TORCHRL, STABLE)
def test_the_log_ratio_is_clamped_at_twenty_by_openrlhf_alone() -> None:
    batch = one_token(25, -1)
    ours = policy_loss(**batch, clip_range=(0.2, 0.2)).loss
    theirs = loss_peers.open_policy_loss(**batch, clip_range=(0.2, 0.2))[0]
    assert_same(ours, theirs, batch["log_probs"])
    tokens = counted(batch)
    for loss, _ in (
        loss_peers.trl_policy_loss(**batch, clip_range=0.2),
        control_losses.torchrl_policy_loss(**tokens, clip_range=(0.2, 0.2)),
        control_losses.stable_policy_loss(**tokens, clip_range=0.2),
    ):
        assert loss.item() == pytest.approx(math.exp(25))


@requires(OPEN, TRL)
@seeds
def test_openrlhfs_and_trls_value_losses_are_ours(seed: int) -> None:
    batch = value_batch(seed)
    for theirs in (loss_peers.open_value_loss, loss_peers.trl_value_loss):
        ours = value_loss(**batch, value_clip_range=0.5).loss
        assert_same(ours, theirs(**batch, value_clip_range=0.5), batch["values"])


@requires(TORCHRL)
@seeds
def test_torchrls_value_loss_is_twice_ours(seed: int) -> None:
    batch = value_batch(seed)
    ours = value_loss(**batch, value_clip_range=0.5).loss
    theirs, _ = control_losses.torchrl_value_loss(
        **counted(batch), value_clip_range=0.5
    )
    assert_same(2 * ours, theirs, batch["values"])


@requires(STABLE)
@seeds
def test_stable_baselines_takes_the_clipped_error_even_where_it_is_smaller(
    seed: int,
) -> None:
    batch = value_batch(seed)
    unclipped = control_losses.stable_value_loss(
        **counted(batch), value_clip_range=math.inf
    )
    ours = value_loss(**batch, value_clip_range=math.inf).loss
    assert_same(2 * ours, unclipped, batch["values"])
    clipped = control_losses.stable_value_loss(**counted(batch), value_clip_range=0.5)
    assert clipped < 2 * value_loss(**batch, value_clip_range=0.5).loss
    (gradient,) = torch.autograd.grad(clipped, batch["values"])
    outside = (batch["values"] - batch["old_values"]).abs() > 0.5
    assert (gradient[outside] == 0).all()

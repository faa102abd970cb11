"""OpenRLHF and TRL: what docs/comparison.yml says of them, and their losses and KL."""

import pytest
import torch
from torch.testing import assert_close

from ppo_ref.advantages import gae
from ppo_ref.aggregation import sequence_mean_token_mean, token_mean
from ppo_ref.kl import kl_k1, kl_k2, kl_k3, kl_k3_times_ratio
from ppo_ref.losses import policy_loss, value_loss
from ppo_ref.masking import masked_whiten
from tests.differential import batches, others, peers
from tests.differential.batches import gapped_mask, normal, seeds
from tests.differential.others import GRPO, OPEN, TRL
from tests.differential.test_losses import assert_same, policy_batch, value_batch
from tests.differential.wheels import requires

GAP = torch.tensor([[True, True, False, False, True, True]])
VALUES = torch.tensor([[0.3, 0.4, 0.9, -0.7, 0.6, 0.7]])
REWARDS = torch.tensor([[0.0, 0.0, 0.0, 0.0, 0.0, 1.0]])


@requires(OPEN, peers.NOW)
def test_openrlhf_decays_over_a_gap_and_bootstraps_from_nothing_before_it():
    given = {"token_level_rewards": REWARDS, "values": VALUES, "response_mask": GAP}
    # Which of the four tokens agree: the last two have no gap behind them.
    agree = {1.0: [1, 1, 1, 1], 0.95: [0, 0, 1, 1], 0.0: [1, 0, 1, 1]}
    for gae_lambda, expected in agree.items():
        ours = gae(**given, gae_lambda=gae_lambda).advantages
        verls, _ = peers.gae(peers.NOW, **given, gae_lambda=gae_lambda)
        assert_close(ours[GAP], verls[GAP])
        theirs, _ = others.open_gae(VALUES, REWARDS, GAP, 1.0, gae_lambda)
        same = torch.isclose(ours, theirs, atol=1e-6)[GAP]
        assert same.tolist() == expected
    # With lambda = 0 only delta is left: the token before the gap should see the
    # value behind it, and sees 0.
    assert_close(ours[0, 1], torch.tensor(0.6 - 0.4))
    assert_close(theirs[0, 1], torch.tensor(0.0 - 0.4))


@requires(OPEN, peers.NOW)
@seeds
def test_openrlhf_whitens_with_the_divisor_n(seed):
    mask = batches.gapped_mask(seed)
    raw = normal(seed, mask)
    count = int(mask.sum())
    theirs = others.open_whitened(raw, mask)[mask]
    verls = masked_whiten(raw, mask)[mask]
    assert_close(theirs, verls * (count / (count - 1)) ** 0.5, atol=1e-4, rtol=1e-4)


@requires(TRL)
def test_trl_puts_the_score_behind_the_answer_if_the_batch_has_room():
    last = torch.tensor([1, 3])  # the longest answer fills its four slots
    ran = others.trl_gae(last, torch.tensor([5.0, 7.0]), torch.zeros(2, 4), 0.95)
    assert ran.rewards.tolist() == [[0, 0, 5, 0], [0, 0, 0, 7]]
    masks = others.trl_mask(last, 4)
    assert (~masks.padding_mask).tolist() == [[1, 1, 0, 0], [1, 1, 1, 1]]
    assert (~masks.padding_mask_p1).tolist() == [[1, 1, 1, 0], [1, 1, 1, 1]]


@requires(TRL)
def test_trl_judges_an_answer_by_its_neighbours_length():
    scores, values = torch.ones(1), torch.tensor([[0.3, 0.4, 0.8]])
    alone = others.trl_gae(torch.tensor([1]), scores, values[:, :2], 0.95)
    beside = others.trl_gae(torch.tensor([1]), scores, values, 0.95)
    ours = gae(
        token_level_rewards=torch.tensor([[0.0, 1.0]]),
        values=values[:, :2],
        response_mask=torch.ones(1, 2, dtype=torch.bool),
        gae_lambda=0.95,
    )
    assert_close(alone.advantages, ours.advantages)
    # One slot more: what the critic says after the last token, and then the score.
    assert_close(beside.advantages[0, 1].item(), 0.8 - 0.4 + 0.95 * (1 - 0.8))
    at_one = others.trl_gae(torch.tensor([1]), scores, values, 1.0)
    assert_close(at_one.advantages[0, :2], 1 - values[0, :2])


ranges = pytest.mark.parametrize("clip_range", [(0.2, 0.2), (0.2, 0.28), (0.1, 3.0)])


@requires(OPEN)
@seeds
@ranges
@pytest.mark.parametrize("dual_clip", [None, 1.5, 3.0])
@pytest.mark.parametrize("by_token", [True, False])
def test_openrlhfs_clipped_loss_is_ours(seed, clip_range, dual_clip, by_token):
    batch = policy_batch(seed)
    aggregate = token_mean if by_token else sequence_mean_token_mean
    given = {"clip_range": clip_range, "dual_clip": dual_clip}
    ours = policy_loss(**batch, **given, aggregate=aggregate)
    loss, clipped, shift = others.open_policy_loss(
        **batch, **given, token_level_loss=by_token
    )
    assert_same(ours.loss, loss, batch["log_probs"])
    assert_close(ours.approx_kl, shift)
    if dual_clip is None:
        assert_close(ours.clip_fraction.float(), clipped.float())


@requires(TRL)
@seeds
def test_trls_clipped_loss_is_ours(seed):
    batch = policy_batch(seed)
    ours = policy_loss(**batch, clip_range=0.2)
    loss, clipped = others.trl_policy_loss(**batch, clip_range=0.2)
    assert_same(ours.loss, loss, batch["log_probs"])
    assert_close(ours.clip_fraction.float(), clipped)


@requires(OPEN, TRL)
@seeds
def test_openrlhfs_and_trls_value_losses_are_ours(seed):
    batch = value_batch(seed)
    for theirs in (others.open_value_loss, others.trl_value_loss):
        ours = value_loss(**batch, value_clip_range=0.5).loss
        assert_same(ours, theirs(0.5, **batch), batch["values"])


TO_FLOAT32 = {"atol": 1e-6, "rtol": 1e-6}


@requires(OPEN, TRL)
@seeds
def test_estimates_are_openrlhfs_below_ten_and_trls(seed):
    mask = gapped_mask(seed)
    log_probs = -normal(seed, mask).abs()
    shift = 2 * normal(seed + 1, mask).tanh()
    both = {"log_probs": log_probs, "ref_log_probs": log_probs + shift}
    for name, ours in {"k1": kl_k1, "k2": kl_k2, "k3": kl_k3}.items():
        theirs = others.open_kl(name, **both)
        assert_close(ours(**both).float(), theirs, **TO_FLOAT32)
        if ours is not kl_k2:  # which TRL has not
            assert_close(ours(**both), others.trl_kl(name, **both))


def three_rows(seed: int) -> dict[str, torch.Tensor]:
    """Log-probs of the actor, of the one that sampled, and of the reference."""
    mask = gapped_mask(seed)
    new = -normal(seed, mask).abs()
    old, ref = (new + normal(seed + n, mask).tanh() for n in (1, 2))
    return {
        "log_probs": new.requires_grad_(),
        "old_log_probs": old.detach(),
        "ref_log_probs": ref.detach(),
    }


@requires(GRPO)
@seeds
def test_k3_times_the_ratio_is_that_of_trls_grpo(seed):
    rows = three_rows(seed)
    ours, theirs = kl_k3_times_ratio(**rows), others.grpo_kl(**rows)
    assert_same(ours.sum(), theirs.sum(), rows["log_probs"])


@requires(OPEN)
@seeds
def test_openrlhf_has_its_gradient_up_to_a_ratio_of_ten(seed):
    rows = three_rows(seed)
    new = rows["log_probs"]

    def slopes(tokens):
        return torch.autograd.grad(tokens.sum(), new)[0]

    theirs = others.open_kl("k3", **rows)
    assert_close(slopes(kl_k3_times_ratio(**rows)), slopes(theirs), **TO_FLOAT32)
    assert_close(theirs, others.open_kl("k3", **rows | {"old_log_probs": None}))
    rows["old_log_probs"] = new.detach() - 3  # a ratio of 20
    k1 = (new - rows["ref_log_probs"]).detach()
    assert_close(slopes(others.open_kl("k3", **rows)) / 10, k1, **TO_FLOAT32)

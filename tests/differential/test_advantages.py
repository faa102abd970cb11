"""``ppo_ref.advantages`` beside other loops: agreement, and every disagreement."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from bench.steps import LIGER
from ppo_ref.advantages import gae
from ppo_ref.masking import masked_whiten
from tests.differential import batches, control_peers, others, peers
from tests.differential.batches import normal, row, seeds
from tests.differential.control_peers import TORCHRL
from tests.differential.others import OPEN, TRL
from tests.differential.peers import NOW, OLD
from tests.differential.wheels import requires

pytestmark = requires(NOW, OLD)
discounted = pytest.mark.parametrize(
    ("gamma", "gae_lambda"), [(1, 1), (1, 0.95), (0.99, 0.9999), (0.9, 0), (0, 0.5)]
)


def batch(seed: int, mask: Tensor, gamma: float, gae_lambda: float) -> dict[str, Any]:
    return {
        "token_level_rewards": normal(seed, mask),
        "values": normal(seed + 100, mask),
        "response_mask": mask,
        "gamma": gamma,
        "gae_lambda": gae_lambda,
    }


def assert_same(given: dict[str, Any], theirs: Any, **tolerance: float) -> None:
    """Our advantages and returns are theirs where a token counts."""
    mask = given["response_mask"]
    for ours, other in zip(gae(**given), theirs, strict=True):
        assert_close(ours[mask], other[mask], **tolerance)


@requires(OPEN, TRL)
@seeds
@discounted
def test_gae_is_openrlhfs_and_trls_where_the_mask_has_no_gap(seed, gamma, gae_lambda):
    mask = batches.contiguous_mask(seed)
    given = batch(seed, mask, gamma, gae_lambda)
    # TRL reads its padding.
    names = "values", "token_level_rewards"
    rows = [batches.zero_outside(mask, given[name]) for name in names]
    assert_same(given, others.open_gae(*rows, mask, gamma, gae_lambda))
    assert_same(given, others.trl_recursion(*rows, gamma, gae_lambda))


@requires(TORCHRL)
@seeds
@discounted
@pytest.mark.parametrize("cut_off", [False, True])
def test_gae_is_torchrls_done_at_the_last_token(seed, gamma, gae_lambda, cut_off):
    mask = batches.contiguous_mask(seed)
    given = batch(seed, mask, gamma, gae_lambda)
    if cut_off:
        given["bootstrap_values"] = normal(seed + 200, mask)[:, 0]
    theirs = control_peers.torchrl_gae("generalized_advantage_estimate", **given)
    # TorchRL multiplies its discounts by integers, which makes float32 of them.
    assert_same(given, theirs, atol=1e-5, rtol=1e-5)


def test_gap_tokens_decay_in_old_verl_and_are_skipped_now():
    batch = {
        "token_level_rewards": row(0, 0, 0, 0, 0, 1),
        "values": row(0, 0, 0, 0, 0, 0),
        "response_mask": row(1, 1, 0, 0, 1, 1).bool(),
        "gamma": 0.9,
    }
    assert gae(**batch).advantages[0, 0].item() == pytest.approx(0.9**3)
    assert peers.gae(NOW, **batch)[0][0, 0].item() == pytest.approx(0.9**3)
    assert peers.gae(OLD, **batch)[0][0, 0].item() == pytest.approx(0.9**5)


def test_masked_slots_are_zero_here_and_neither_in_verl_nor_in_old_verl():
    """verl writes the next token's advantage there; the old one counts its reward."""
    batch = {
        "token_level_rewards": row(0, 0, 0, 0, 0, 1, 0),
        "values": row(0.3, 0.4, 0.9, -0.7, 0.6, 0.7, 0.8),
        "response_mask": row(1, 1, 0, 0, 1, 1, 0).bool(),
        "gae_lambda": 0.95,
    }
    advantages, returns = gae(**batch)
    assert_close(advantages, row(0.6374625, 0.56575, 0, 0, 0.385, 0.3, 0))
    assert_close(returns, row(0.9374625, 0.96575, 0, 0, 0.985, 1, 0))
    advantages, returns = peers.gae(NOW, **batch)
    assert_close(advantages, row(0.6374625, 0.56575, 0.385, 0.385, 0.385, 0.3, 0))
    assert_close(returns, row(0.9374625, 0.96575, 1.285, -0.315, 0.985, 1, 0.8))

    batch = {name: x[:, :6] for name, x in batch.items() if name != "gae_lambda"}
    batch["token_level_rewards"] = row(0, 0, 0, 1, 0, 0)
    assert_close(gae(**batch).advantages, row(-0.3, -0.4, 0, 0, -0.6, -0.7))
    now, old = (peers.gae(release, **batch)[0] for release in (NOW, OLD))
    assert_close(now, row(-0.3, -0.4, -0.6, -0.6, -0.6, -0.7))
    assert_close(old, row(0.7, 0.6, 0.1, 1.7, -0.6, -0.7))


def test_nan_at_a_masked_slot_poisons_verl_to_its_left_and_never_us():
    batch = {
        "token_level_rewards": row(0, 0, math.nan, 0, 1),
        "values": row(0.1, 0.2, math.nan, 0.4, 0.5),
        "response_mask": row(1, 1, 0, 1, 1).bool(),
    }
    assert_close(gae(**batch).advantages, row(0.9, 0.8, 0, 0.6, 0.5))
    for release in peers.RELEASES:
        advantages, _ = peers.gae(release, **batch)
        assert advantages[0, :2].isnan().all()
        whitened, _ = peers.gae(release, **batch, whitening="verl")
        assert whitened.isnan().any()


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


def test_every_peer_is_pinned():
    pins = (Path(__file__).parents[2] / "pins/peers.txt").read_text()
    for release in (*peers.RELEASES, OPEN, TRL, TORCHRL, control_peers.STABLE, LIGER):
        assert f"{release.lower().replace(' ', '==')} --hash=sha256:" in pins

"""What docs/comparison.yml says of OpenRLHF and TRL is what their code does."""

import pytest
import torch
from torch.testing import assert_close

from ppo_ref.advantages import gae
from ppo_ref.masking import masked_whiten
from tests.differential import batches, others, peers
from tests.differential.batches import normal, seeds
from tests.differential.others import OPEN, TRL
from tests.differential.wheels import requires, source

GAP = torch.tensor([[True, True, False, False, True, True]])
VALUES = torch.tensor([[0.3, 0.4, 0.9, -0.7, 0.6, 0.7]])
REWARDS = torch.tensor([[0.0, 0.0, 0.0, 0.0, 0.0, 1.0]])


@requires(OPEN)
def test_a_file_is_read_where_pip_would_put_it() -> None:
    assert source("OpenRLHF 0.11.2", "openrlhf/models/loss.py").startswith("from typi")
    with pytest.raises(
        LookupError, match=r"OpenRLHF 0\.11\.2 has no openrlhf/loss\.py"
    ):
        source(OPEN, "openrlhf/loss.py")


@requires(OPEN)
@seeds
@pytest.mark.parametrize("gae_lambda", [1.0, 0.95, 0.0])
def test_openrlhf_is_ours_where_the_mask_has_no_gap(
    seed: int, gae_lambda: float
) -> None:
    mask = torch.arange(7) < torch.tensor([[7], [3], [1 + seed % 6]])
    batch = {"token_level_rewards": normal(seed, mask), "values": normal(seed, mask)}
    given = {"response_mask": mask, "gamma": 0.9, "gae_lambda": gae_lambda}
    ours = gae(**batch, **given)
    theirs = others.open_gae(*reversed(batch.values()), mask, 0.9, gae_lambda)
    assert_close(ours.advantages[mask], theirs[0][mask])
    assert_close(ours.returns[mask], theirs[1][mask])


@requires(OPEN, peers.NOW)
def test_openrlhf_decays_over_a_gap_and_bootstraps_from_nothing_before_it() -> None:
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


@requires(OPEN)
def test_openrlhf_decays_even_without_a_value() -> None:
    blank = torch.zeros_like(VALUES)
    theirs, _ = others.open_gae(blank, REWARDS, GAP, 0.9, 1.0)
    ours = gae(token_level_rewards=REWARDS, values=blank, response_mask=GAP, gamma=0.9)
    assert_close(theirs[0, 0].item(), 0.9**5)
    assert_close(ours.advantages[0, 0].item(), 0.9**3)


@requires(OPEN, peers.NOW)
@seeds
def test_openrlhf_whitens_with_the_divisor_n(seed: int) -> None:
    mask = batches.gapped_mask(seed)
    raw = normal(seed, mask)
    count = int(mask.sum())
    theirs = others.open_whitened(raw, mask)[mask]
    verls = masked_whiten(raw, mask)[mask]
    assert_close(theirs, verls * (count / (count - 1)) ** 0.5, atol=1e-4, rtol=1e-4)


@requires(OPEN)
def test_openrlhf_puts_the_score_on_the_models_last_token_and_clips_it() -> None:
    mask = torch.tensor([[1, 1, 0, 0], [1, 0, 1, 0]])
    score, kl = torch.tensor([1.0, 40.0]), torch.full((2, 4), 0.5)
    run = others.open_rewards().compute_reward
    placed = run(score, 0.0, kl, action_mask=mask, reward_clip_range=(-10, 10))
    assert placed.tolist() == [[0, 1, 0, 0], [0, 0, 10, 0]]


@requires(OPEN, peers.NOW)
def test_openrlhf_clamps_k1_and_verl_does_not() -> None:
    rows = torch.tensor([[-0.5, -0.5]]), torch.tensor([[-12.5, -0.25]])
    theirs = others.open_rewards().compute_approx_kl(*rows, kl_estimator="k1")
    verls = peers.kl(peers.NOW, "kl", log_probs=rows[0], ref_log_probs=rows[1])
    assert theirs.tolist() == [[10.0, -0.25]] and verls.tolist() == [[12.0, -0.25]]


@requires(TRL)
def test_trl_puts_the_score_behind_the_answer_if_the_batch_has_room() -> None:
    last = torch.tensor([1, 3])  # the longest answer fills its four slots
    ran = others.trl_gae(last, torch.tensor([5.0, 7.0]), torch.zeros(2, 4), 0.95)
    assert ran.rewards.tolist() == [[0, 0, 5, 0], [0, 0, 0, 7]]
    masks = others.trl_mask(last, 4)
    assert (~masks.padding_mask).tolist() == [[1, 1, 0, 0], [1, 1, 1, 1]]
    assert (~masks.padding_mask_p1).tolist() == [[1, 1, 1, 0], [1, 1, 1, 1]]


@requires(TRL)
def test_trl_judges_an_answer_by_its_neighbours_length() -> None:
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


@requires(TRL)
def test_trl_averages_over_padding_what_it_logs() -> None:
    code = source(TRL, others.TRAINER)
    for line in (
        "approxkl = 0.5 * (logprobs_diff**2).mean()",
        "gradient_accumulation_idx] = entropy.mean()",
        "gradient_accumulation_idx] = ratio.mean()",
    ):
        assert line in code
    # Over padding both rows of log-probs are filled with one number: no difference.
    difference = torch.tensor([[0.2, 0.2, 0.0, 0.0]])
    ran = others.piece(
        TRL, others.TRAINER, "approxkl = 0.5", "approxkl", logprobs_diff=difference
    )
    assert_close(ran.approxkl.item(), 0.5 * 0.2**2 / 2)

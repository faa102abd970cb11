"""Scores land on the last token; the KL is priced per token."""

import torch
from hypothesis import given
from torch.testing import assert_close

from ppo_ref.rewards import token_level_rewards, token_level_scores
from tests.strategies import full_row_masks, numbers, token_tensors


@given(full_row_masks())
def test_each_score_lies_on_its_rows_last_token(mask):
    scores = numbers(0, len(mask))
    placed = token_level_scores(scores, mask)
    for row, counts in enumerate(mask.tolist()):
        last = max(t for t, count in enumerate(counts) if count)
        expected = [scores[row].item() * (t == last) for t in range(len(counts))]
        assert placed[row].tolist() == expected


@given(token_tensors(2, least=0))
def test_rewards_are_scores_less_priced_kl(batch):
    (scores, kl), mask = batch
    rewards = token_level_rewards(
        token_level_scores=scores, kl=kl, response_mask=mask, kl_coef=0.3
    )
    assert_close(rewards[mask], scores[mask] - 0.3 * kl[mask])
    assert not rewards[~mask].any()


@given(full_row_masks())
def test_without_a_price_a_rows_rewards_sum_to_its_score(mask):
    scores = numbers(1, len(mask))
    rewards = token_level_rewards(
        token_level_scores=token_level_scores(scores, mask),
        kl=numbers(2, *mask.shape),
        response_mask=mask,
        kl_coef=0,
    )
    assert_close(rewards.sum(1), scores)


def test_padding_gets_no_gradient():
    mask = torch.tensor([[True, False]])
    kl = torch.tensor([[1.0, torch.nan]], requires_grad=True)
    token_level_rewards(
        token_level_scores=torch.zeros(1, 2), kl=kl, response_mask=mask, kl_coef=0.5
    ).sum().backward()
    assert kl.grad.tolist() == [[-0.5, 0.0]]

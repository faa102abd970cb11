"""GRPO, Dr. GRPO, RLOO and REINFORCE++ from their definitions, and by one another."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from ppo_ref.group_advantages import (
    dr_grpo,
    grpo,
    reinforce_plus_plus,
    reinforce_plus_plus_baseline,
    rloo,
)
from ppo_ref.training.estimates import whitened_gae
from tests import oracles
from tests.strategies import (
    GroupedBatch,
    grouped_batches,
    numbers,
    token_tensors,
    unit_interval,
)

EPSILON = 1e-6
WHITEN_EPSILON = 1e-8
RAW = (dr_grpo, rloo)
ALL = (grpo, *RAW, reinforce_plus_plus_baseline)
each = pytest.mark.parametrize("estimate", ALL, ids=lambda f: f.__name__)


def scores(batch):
    rows = oracles.row_lists(batch.token_level_rewards, batch.response_mask)
    return [sum(row) for row in rows]


def of_rows(batch, advantages):
    """The one number that every token of a row has; 0 stands outside the mask."""
    mask = batch.response_mask
    assert not advantages[~mask].any()
    for row, own in zip(advantages, mask, strict=True):
        assert len(set(row[own].tolist())) == 1
    return [row[own][0].item() for row, own in zip(advantages, mask, strict=True)]


def found(estimate, batch):
    return of_rows(batch, estimate(**batch._asdict()).advantages)


@given(grouped_batches())
def test_dr_grpo_is_the_score_less_the_mean_of_its_group(batch):
    r"""A_i = s_i - \operatorname{mean}(s)"""
    expected = oracles.excess_in_group(scores(batch), batch.groups.tolist())
    assert found(dr_grpo, batch) == pytest.approx(expected, abs=1e-12)


@given(grouped_batches())
def test_rloo_is_the_score_less_the_mean_of_the_others(batch):
    expected = oracles.excess_over_others(scores(batch), batch.groups.tolist())
    assert found(rloo, batch) == pytest.approx(expected, abs=1e-12)


@given(grouped_batches())
def test_grpo_is_that_in_standard_deviations_of_the_group(batch):
    r"""A_i = \frac{s_i - \operatorname{mean}(s)}{\operatorname{std}(s) + \epsilon}"""
    groups = batch.groups.tolist()
    expected = oracles.deviations_in_group(scores(batch), groups, EPSILON)
    assert found(grpo, batch) == pytest.approx(expected, rel=1e-6, abs=1e-9)


@given(grouped_batches())
def test_reinforce_plus_plus_baseline_whitens_dr_grpo_over_the_tokens(batch):
    of_row = oracles.excess_in_group(scores(batch), batch.groups.tolist())
    lengths = batch.response_mask.sum(1).tolist()
    pairs = list(zip(of_row, lengths, strict=True))
    tokens = [x for x, length in pairs for _ in range(length)]
    expected = oracles.whitened(tokens, WHITEN_EPSILON)
    estimate = reinforce_plus_plus_baseline(**batch._asdict())
    actual = oracles.counted(estimate.advantages, batch.response_mask)
    assert actual == pytest.approx(expected, rel=1e-6, abs=1e-9)


@given(token_tensors(1, least=2), unit_interval)
def test_reinforce_plus_plus_is_the_whitened_monte_carlo_return(batch, gamma):
    ((rewards,), mask) = batch
    estimate = reinforce_plus_plus(
        token_level_rewards=rewards, response_mask=mask, gamma=gamma
    )
    received = oracles.over_rows(oracles.monte_carlo_returns(gamma), mask, rewards)
    expected = oracles.whitened(oracles.counted(received, mask), WHITEN_EPSILON)
    actual = oracles.counted(estimate.advantages, mask)
    assert actual == pytest.approx(expected, rel=1e-6, abs=1e-7)
    assert_close(estimate.returns, received)
    assert not estimate.advantages[~mask].any()


@given(token_tensors(1, least=2), unit_interval)
def test_reinforce_plus_plus_is_gae_with_a_critic_that_says_0(batch, gamma):
    ((rewards,), mask) = batch
    given = {"token_level_rewards": rewards, "response_mask": mask, "gamma": gamma}
    gae = whitened_gae(**given, values=torch.zeros_like(rewards), gae_lambda=1)
    for ours, theirs in zip(reinforce_plus_plus(**given), gae, strict=True):
        assert torch.equal(ours, theirs)


@given(grouped_batches())
def test_the_three_differ_by_a_factor_of_each_group(batch):
    groups = batch.groups.tolist()
    sizes = torch.tensor([groups.count(g) for g in groups], dtype=torch.float64)
    shared, left_out = (torch.tensor(found(f, batch)).double() for f in RAW)
    assert_close(left_out, shared * sizes / (sizes - 1), rtol=1e-6, atol=1e-7)


@each
@given(batch=grouped_batches())
def test_a_group_sums_to_0(estimate, batch):
    if estimate is reinforce_plus_plus_baseline:
        return  # it takes the mean over tokens away once more
    advantages = torch.tensor(found(estimate, batch), dtype=torch.float64)
    for name in batch.groups.unique():
        assert abs(advantages[batch.groups == name].sum()) < 1e-9


@each
@given(batch=grouped_batches(), seed=st.integers(0, 999))
def test_rows_may_come_in_any_order(estimate, batch, seed):
    order = torch.randperm(len(batch.groups), generator=torch.manual_seed(seed))
    moved = GroupedBatch(*(x[order] for x in batch))
    expected = estimate(**batch._asdict()).advantages[order]
    assert_close(estimate(**moved._asdict()).advantages, expected)


@each
@given(batch=grouped_batches(), seed=st.integers(0, 999))
def test_what_a_prompt_gives_every_response_does_not_count(estimate, batch, seed):
    """Easy or hard, a prompt's own reward is taken out: it needs no critic."""
    own = 5 * numbers(seed, len(batch.groups))
    shift = torch.stack([own[batch.groups == g][0] for g in batch.groups])
    last = batch.response_mask.cumsum(1).argmax(1)
    rewards = batch.token_level_rewards.clone()
    rewards[torch.arange(len(last)), last] += shift
    moved = batch._replace(token_level_rewards=rewards)
    expected = estimate(**batch._asdict()).advantages
    actual = estimate(**moved._asdict()).advantages
    assert_close(actual, expected, rtol=1e-5, atol=1e-7)


@given(grouped_batches(), st.floats(0.5, 8))
def test_scale_leaves_grpo_alone_and_scales_the_others(batch, scale):
    scaled = batch._replace(token_level_rewards=scale * batch.token_level_rewards)
    for estimate in RAW:
        expected = scale * estimate(**batch._asdict()).advantages
        assert_close(estimate(**scaled._asdict()).advantages, expected)
    expected = grpo(**batch._asdict(), epsilon=1e-12).advantages
    actual = grpo(**scaled._asdict(), epsilon=1e-12).advantages
    assert_close(actual, expected, rtol=1e-6, atol=1e-7)


@each
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_equal_scores_are_exactly_0(estimate, dtype):
    """Their mean, rounded, is not theirs; GRPO would divide that by next to nothing."""
    for count in range(2, 12):
        advantages = estimate(
            token_level_rewards=torch.full((count, 1), 0.1, dtype=dtype),
            response_mask=torch.ones(count, 1, dtype=torch.bool),
            groups=torch.zeros(count, dtype=torch.int64),
        ).advantages
        assert not advantages.any()


@each
def test_estimates_have_no_gradient(estimate):
    rewards = numbers(0, 2, 3).requires_grad_()
    given = {"response_mask": torch.ones(2, 3).bool(), "groups": torch.zeros(2).int()}
    found = estimate(token_level_rewards=rewards, **given)
    assert not any(x.requires_grad for x in found)


@pytest.mark.parametrize("estimate", (*RAW, grpo, reinforce_plus_plus_baseline))
@pytest.mark.parametrize(
    ("groups", "first"), [([5, 5, 7, 3], 3), ([9, 4, 4, 4], 9), ([6, 4, 8, 2], 2)]
)
def test_a_response_without_company_is_refused_by_its_group(estimate, groups, first):
    x = torch.ones(4, 2)
    text = (
        f"^{estimate.__name__}: groups must hold at least 2 rows each, got 1 row of "
        f"group {first}, which has nothing to be compared with$"
    )
    with pytest.raises(ValueError, match=text):
        estimate(
            token_level_rewards=x, response_mask=x.bool(), groups=torch.tensor(groups)
        )

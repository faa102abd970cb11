"""GRPO, Dr. GRPO, RLOO and REINFORCE++ from their definitions, and what they favour."""

import math
from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from ppo_ref import loops
from ppo_ref.group_advantages import (
    dr_grpo,
    grpo,
    reinforce_plus_plus,
    reinforce_plus_plus_baseline,
    rloo,
)
from tests.strategies import (
    GroupedBatch,
    grouped_batches,
    numbers,
    token_tensors,
    unit_interval,
)

EPSILON = 1e-6
WHITEN_EPSILON = 1e-8


def of_rows(estimate, batch):
    """The one number that every token of a row has; 0 stands outside the mask."""
    advantages, mask = estimate(**batch._asdict()).advantages, batch.response_mask
    assert not advantages[~mask].any()
    for row, own in zip(advantages, mask, strict=True):
        assert len(set(row[own].tolist())) == 1
    return [row[own][0].item() for row, own in zip(advantages, mask, strict=True)]


@given(grouped_batches(), st.data())
def test_a_rollout_is_compared_with_its_group_and_counts_once(batch, data):
    """With the mean, with the mean of the others, in standard deviations.

    The rows of a rollout, wherever they stand, share the sum of their rewards.
    """
    listed = loops.row_lists(batch.token_level_rewards, batch.response_mask)
    groups, n = batch.groups.tolist(), len(listed)
    counts = [1] * n
    if several := data.draw(st.booleans()):
        counts = data.draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))
    rollouts = [i for i, count in enumerate(counts) for _ in range(count)]
    rollouts = data.draw(st.permutations(rollouts))
    rows = GroupedBatch(*(x[rollouts] for x in batch))
    scores = [c * sum(row) for c, row in zip(counts, listed, strict=True)]
    shared = loops.dr_grpo(scores, groups)
    expected = {
        dr_grpo: shared,
        rloo: loops.rloo(scores, groups),
        grpo: loops.grpo(scores, groups, EPSILON),
    }
    names = 7 - 2 * torch.tensor(rollouts) if several else None
    for estimate, by_rollout in expected.items():
        found = of_rows(partial(estimate, rollouts=names), rows)
        own = [by_rollout[i] for i in rollouts]
        assert found == pytest.approx(own, rel=1e-6, abs=1e-9)
    tokens = [shared[i] for i in rollouts for _ in listed[i]]
    whitened = reinforce_plus_plus_baseline(**rows._asdict(), rollouts=names).advantages
    expected = loops.whitened(tokens, WHITEN_EPSILON)
    found = loops.counted(whitened, rows.response_mask)
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-9)


@given(token_tensors(1, least=2), unit_interval)
def test_reinforce_plus_plus_is_the_whitened_monte_carlo_return(batch, gamma):
    ((rewards,), mask) = batch
    estimate = reinforce_plus_plus(
        token_level_rewards=rewards, response_mask=mask, gamma=gamma
    )
    received = loops.over_rows(loops.monte_carlo_returns, mask, rewards, gamma=gamma)
    expected = loops.whitened(loops.counted(received, mask), WHITEN_EPSILON)
    actual = loops.counted(estimate.advantages, mask)
    assert actual == pytest.approx(expected, rel=1e-6, abs=1e-7)
    assert_close(estimate.returns, received)
    assert not estimate.advantages[~mask].any()


def advantages(estimate, groups, dtype=torch.float64):
    """Of one-token responses, given by their scores, a group a list."""
    scores = torch.tensor(groups, dtype=dtype)
    return estimate(
        token_level_rewards=scores.reshape(-1, 1),
        response_mask=torch.ones(scores.numel(), 1, dtype=torch.bool),
        groups=torch.arange(len(scores)).repeat_interleave(scores.shape[1]),
    ).advantages.reshape(scores.shape)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_equal_scores_are_exactly_0(dtype):
    """Their mean, rounded, is not theirs; GRPO would divide that by next to nothing."""
    for estimate in grpo, dr_grpo, rloo, reinforce_plus_plus_baseline:
        for count in range(2, 12):
            assert not advantages(estimate, [[0.1] * count], dtype).any()


@given(st.lists(st.floats(-4, 4), min_size=2, max_size=9))
def test_leave_one_out(scores):
    r"""\begin{aligned}
    \hat A_i &= s_i - \frac{1}{n-1} \sum_{j\ne i} s_j \\
    &= \frac{n}{n-1}\,(s_i - \bar s)
    \end{aligned}
    """
    n, total = len(scores), math.fsum(scores)
    others = loops.rloo(scores, [0] * n)
    found = advantages(rloo, [scores])[0].tolist()
    assert found == pytest.approx(others, abs=1e-12)
    scaled = [n / (n - 1) * (s - total / n) for s in scores]
    assert found == pytest.approx(scaled, abs=1e-12)


@given(st.lists(st.tuples(st.floats(-4, 4), st.integers(1, 4)), min_size=2, max_size=6))
def test_leave_one_row_out(group):
    r"""\hat A_i = \frac{\sum_{j\ne i} m_j\,(s_i - s_j)}{m_i - 1 + \sum_{j\ne i} m_j}

    RLOO that counts rows, of rollouts with a score each, in so many rows.
    """
    rows = [score for score, count in group for _ in range(count)]
    found = iter(advantages(rloo, [rows])[0].tolist())
    for i, (score, count) in enumerate(group):
        others = group[:i] + group[i + 1 :]
        above = math.fsum(m * (score - s) for s, m in others)
        below = count - 1 + math.fsum(m for _, m in others)
        own = [next(found) for _ in range(count)]
        assert own == pytest.approx([above / below] * count, abs=1e-9)


def expected_gradient(estimate, probs, scores, n):
    """Over every group that can be drawn: mean of advantage times score function."""
    drawn = torch.cartesian_prod(*[torch.arange(len(probs))] * n)
    chances = probs[drawn].prod(1) / n
    pushes = torch.eye(len(probs))[drawn] - probs
    found = advantages(estimate, scores[drawn].tolist())
    return torch.einsum("g,gi,gik->k", chances, found, pushes)


@given(st.integers(2, 4), st.integers(2, 3), st.integers(0, 999))
def test_group_baseline_gradient(answers, n, seed):
    r"""\begin{aligned}
    \mathbb{E}[\hat g_{\text{RLOO}}] &= g \\
    \mathbb{E}[\hat g_{\text{Dr. GRPO}}] &= \frac{n-1}{n}\,g
    \end{aligned}
    """
    logits, scores = numbers(seed, 2, answers)
    probs = logits.softmax(0)
    slope = probs * (scores - probs @ scores)  # of the expected score, by each logit
    assert_close(expected_gradient(rloo, probs, scores, n), slope)
    assert_close(expected_gradient(dr_grpo, probs, scores, n), (n - 1) / n * slope)


@given(st.integers(2, 16), st.data())
def test_weight_of_a_prompt(n, data):
    r"""\frac{1}{\mathrm{std}(s)} = \sqrt{\frac{n(n-1)}{k(n-k)}}

    With k right answers of n: GRPO's advantages are Dr. GRPO's, so many times over.
    It is least at half, most at one right or one wrong.
    """
    k = data.draw(st.integers(1, n - 1))
    group = [[1.0] * k + [0.0] * (n - k)]
    weight = math.sqrt(n * (n - 1) / (k * (n - k)))
    assert math.sqrt(loops.variance(group[0])) == pytest.approx(1 / weight)
    divided, raw = advantages(grpo, group), advantages(dr_grpo, group)
    assert (divided / raw)[0].tolist() == pytest.approx([weight] * n, rel=1e-5)
    pull = 2 * k * (n - k) / n
    assert raw.abs().sum().item() == pytest.approx(pull)
    assert divided.abs().sum().item() == pytest.approx(pull * weight, rel=1e-5)

"""What must not change an advantage, and how it changes where it must."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from ppo_ref.advantages import gae
from ppo_ref.examples import shared_batch, three_tokens
from tests.strategies import TokenBatch, numbers, poisoned, token_batches, unit_interval


def advantages(batch: TokenBatch, gamma: float, gae_lambda: float) -> torch.Tensor:
    return gae(**batch._asdict(), gamma=gamma, gae_lambda=gae_lambda).advantages


def rows(batch: TokenBatch, index: torch.Tensor) -> TokenBatch:
    return TokenBatch(*(tensor[index] for tensor in batch))


@given(token_batches(), unit_interval, unit_interval, st.randoms())
def test_rows_do_not_know_of_each_other(batch, gamma, gae_lambda, random):
    order = list(range(len(batch.response_mask)))
    random.shuffle(order)
    index = torch.tensor(order)
    whole = advantages(batch, gamma, gae_lambda)
    assert torch.equal(advantages(rows(batch, index), gamma, gae_lambda), whole[index])
    for row in order:
        alone = rows(batch, torch.tensor([row]))
        assert torch.equal(advantages(alone, gamma, gae_lambda), whole[row : row + 1])


@given(token_batches(), unit_interval, unit_interval, st.integers(0, 9))
def test_a_slot_that_does_not_count_changes_nothing(batch, gamma, gae_lambda, at):
    """Padding at the end, on the left, or a tool token in between."""
    at = min(at, batch.response_mask.shape[1])

    def widened(tensor, fill):
        left, right = tensor[:, :at], tensor[:, at:]
        return torch.cat([left, torch.full_like(tensor[:, :1], fill), right], 1)

    wider = TokenBatch(
        widened(batch.token_level_rewards, torch.nan),
        widened(batch.values, torch.nan),
        widened(batch.response_mask, False),
        batch.bootstrap_values,
    )
    expected = widened(advantages(batch, gamma, gae_lambda), 0)
    assert_close(advantages(wider, gamma, gae_lambda), expected)


@given(token_batches(), unit_interval, unit_interval)
def test_garbage_outside_the_mask_changes_no_bit(batch, gamma, gae_lambda):
    garbage = 1e30 * numbers(7, *batch.response_mask.shape)
    dirty = batch._replace(
        token_level_rewards=batch.token_level_rewards.where(
            batch.response_mask, garbage
        ),
        values=batch.values.where(batch.response_mask, -garbage),
    )
    expected = advantages(batch, gamma, gae_lambda)
    assert torch.equal(advantages(dirty, gamma, gae_lambda), expected)


@given(token_batches(), unit_interval, unit_interval)
def test_rewards_and_values_in_another_unit(batch, gamma, gae_lambda):
    rescaled = batch._replace(
        token_level_rewards=-3 * batch.token_level_rewards,
        values=-3 * batch.values,
        bootstrap_values=-3 * batch.bootstrap_values,
    )
    expected = -3 * advantages(batch, gamma, gae_lambda)
    assert_close(advantages(rescaled, gamma, gae_lambda), expected)


@given(token_batches(), unit_interval, unit_interval)
def test_potential_based_shaping_leaves_advantages_alone(batch, gamma, gae_lambda):
    r"""r' = r + gamma * phi_{t+1} - phi_t and V' = V - phi, phi 0 after the end."""
    mask = batch.response_mask
    potential = numbers(11, *mask.shape)
    shaped = batch.token_level_rewards.clone()
    for row, counts in enumerate(mask):
        slots = counts.nonzero().flatten().tolist()
        for t, later in zip(slots, [*slots, None][1:], strict=True):
            after = 0.0 if later is None else potential[row, later]
            shaped[row, t] += gamma * after - potential[row, t]
    moved = batch._replace(token_level_rewards=shaped, values=batch.values - potential)
    expected = advantages(batch, gamma, gae_lambda)
    assert_close(advantages(moved, gamma, gae_lambda), expected)


@given(token_batches(), unit_interval, st.floats(min_value=0.1, max_value=1))
def test_advantage_plus_value_over_lambda(batch, gamma, gae_lambda):
    """A + V / lambda sums r + (1 / lambda - 1) V, and the bootstrap at the end."""
    mask = batch.response_mask
    actual = advantages(batch, gamma, gae_lambda) + batch.values / gae_lambda
    terms = batch.token_level_rewards + (1 / gae_lambda - 1) * batch.values
    for row, counts in enumerate(mask):
        later = batch.bootstrap_values[row] / gae_lambda
        for t in reversed(counts.nonzero().flatten().tolist()):
            later = terms[row, t] + gamma * gae_lambda * later
            assert_close(actual[row, t], later)


@given(token_batches(), unit_interval)
def test_at_lambda_1_the_returns_forget_the_critic(batch, gamma):
    other = batch._replace(values=poisoned(numbers(5, *batch.values.shape), batch[2]))
    assert_close(
        gae(**batch._asdict(), gamma=gamma, gae_lambda=1).returns,
        gae(**other._asdict(), gamma=gamma, gae_lambda=1).returns,
    )


@given(token_batches(), unit_interval)
def test_a_zero_bootstrap_is_an_ended_response(batch, gae_lambda):
    ended = batch._replace(bootstrap_values=torch.zeros_like(batch.bootstrap_values))
    inputs = ended._asdict()
    del inputs["bootstrap_values"]
    expected = gae(**inputs, gae_lambda=gae_lambda).advantages
    assert torch.equal(advantages(ended, 1, gae_lambda), expected)


def test_a_bootstrap_is_what_one_more_token_would_have_said():
    """Cut after token 1, bootstrapped by V(s_2): the residuals before stay the same."""
    rewards, values, mask = three_tokens()
    whole = gae(
        token_level_rewards=rewards, values=values, response_mask=mask, gae_lambda=0
    )
    cut = gae(
        token_level_rewards=rewards[:, :2],
        values=values[:, :2],
        response_mask=mask[:, :2],
        gae_lambda=0,
        bootstrap_values=values[:, 2],
    )
    assert_close(cut.advantages, whole.advantages[:, :2])
    expected = torch.tensor([[0.1, 0.2]], dtype=torch.float64)
    assert_close(cut.advantages, expected)


@settings(max_examples=20)
@given(token_batches())
def test_arguments_are_left_alone(batch):
    before = TokenBatch(*(tensor.clone() for tensor in batch))
    advantages(batch, 0.9, 0.9)
    for tensor, copy in zip(batch, before, strict=True):
        assert torch.equal(tensor.nan_to_num(), copy.nan_to_num())


def test_a_row_without_a_token_has_no_advantage():
    batch = shared_batch()
    mask = batch.response_mask.clone()
    mask[1] = False
    estimate = gae(
        token_level_rewards=numbers(0, 2, 6), values=batch.values, response_mask=mask
    )
    assert not estimate.advantages[1].any()
    assert not estimate.returns[1].any()

"""Variants that stand in the snippet of the page that needs them, beside loops."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from ppo_ref import loops
from ppo_ref.advantages import gae
from tests.properties.trees import trees
from tests.snippets import defined
from tests.strategies import numbers, token_batches, unit_interval

pytestmark = pytest.mark.pages

OF_ROWS = defined("off_policy/rollout_correction", "levels", "filter")
product_weights, accepted = OF_ROWS["product_weights"], OF_ROWS["accepted"]
COLD_START = defined("critic/cold_start", "comment", "judge", "adaptive")
adaptive_lambda = COLD_START["adaptive_lambda"]
METHODS = defined("debug/methods", "batch", "parts")
CUTS = defined("bootstrap/meaning", "cuts")
k3_times_ratio = defined("rewards/kl_estimators", "ratio")["k3_times_ratio"]

tokens, seeds = st.integers(1, 6), st.integers(0, 999)
log_probs = st.floats(-8, -1e-3)


def ratios(old, rollout):
    """Of one answer, as a loop has them."""
    return [
        math.exp(a - b) for a, b in zip(old.tolist(), rollout.tolist(), strict=True)
    ]


@given(tokens, seeds)
def test_a_weight_of_an_answer_is_the_product_of_its_ratios(time, seed):
    old, rollout = numbers(seed, 2, 3, time)
    expected = [math.prod(ratios(*row)) for row in zip(old, rollout, strict=True)]
    assert product_weights(old, rollout).flatten().tolist() == pytest.approx(expected)


def test_an_answer_adds_its_log_ratios_before_any_exponent():
    old, rollout = torch.tensor([[0.0, -1000]]), torch.tensor([[-1000.0, 0]])
    assert product_weights(old, rollout).item() == 1


@pytest.mark.parametrize("bounds", [(0.5, 2.0), (0, 1.5), (0.9, math.inf), (3, 3)])
@given(tokens, seeds)
def test_an_answer_is_accepted_by_its_geometric_mean(bounds, time, seed):
    old, rollout = numbers(seed, 2, 3, time)
    expected = []
    for row in zip(old, rollout, strict=True):
        mean = math.prod(ratios(*row)) ** (1 / time)
        expected.append(bounds[0] <= mean <= bounds[1])
    assert accepted(old, rollout, *bounds).tolist() == expected
    assert accepted(old, old, 1.0, 1.0).all()


@given(trees(), st.integers(0, 99))
def test_product_drift(tree, seed):
    r"""
    \mathbb{E}_{\mu}\frac{\pi(y)}{\mu(y)} = 1, \qquad
    \mathbb{E}_{\mu}\log\frac{\pi(y)}{\mu(y)} = -\mathrm{KL}(\mu\,\|\,\pi)
    """
    logits = numbers(seed, 2, len(tree.states()), tree.vocab())
    engine, trainer = (tree.log_probs(x) for x in logits)
    mask = tree.batch()["response_mask"]
    clean = (torch.where(mask, x, 0) for x in (trainer, engine))
    weights = product_weights(*clean)[:, 0]
    sampled, drift = engine.sum(1).exp(), (engine - trainer).sum(1)
    assert (sampled @ weights).item() == pytest.approx(1)
    assert_close(sampled @ weights.log(), -(sampled @ drift))


# From weights of two tokens to weights of all; lambda is 0 up to 1 / alpha of them.
alphas = st.sampled_from([0.05, 0.12, 0.15, 0.3, 0.6, 1, 3])


@given(token_batches(), unit_interval, alphas)
def test_length_adaptive_lambda(batch, gamma, alpha):
    r"""\lambda = 1 - \frac{1}{\alpha \ell}"""
    COLD_START["alpha"] = alpha
    for row, mask in enumerate(batch.response_mask):
        length = int(mask.sum())
        if not length:
            continue
        one = {name: x[row : row + 1] for name, x in batch._asdict().items()}
        found = gae(**one, gamma=gamma, gae_lambda=adaptive_lambda(length)).advantages
        inputs = (one["token_level_rewards"], one["values"])
        expected = loops.over_rows(
            loops.gae,
            one["response_mask"],
            *inputs,
            bootstrap_values=one["bootstrap_values"],
            gamma=gamma,
            gae_lambda=max(0, 1 - 1 / (alpha * length)),
        )
        assert_close(found, expected)


@given(seeds)
def test_vapo_has_a_lambda_for_each_row(seed):
    mask = METHODS["mask"]
    rewards, values = (torch.where(mask, x, 0) for x in numbers(seed, 2, *mask.shape))
    found = METHODS["by_length"](
        token_level_rewards=rewards, values=values, response_mask=mask
    )

    def of_row(rewards, values, end):
        return loops.gae(rewards, values, end, gamma=1, gae_lambda=1 - 1 / len(rewards))

    assert_close(found, loops.over_rows(of_row, mask, rewards, values))


@given(st.integers(1, 3), seeds)
def test_a_target_is_rewards_up_to_the_cut_and_the_value_there(steps, seed):
    rewards, values = numbers(seed, 2, 3)
    CUTS["r"] = rewards
    expected = math.fsum(rewards[:steps].tolist())
    if steps < 3:
        expected += values[steps].item()
    assert CUTS["target"](steps, values).item() == pytest.approx(expected)


def one(x):
    return torch.tensor([[x]], dtype=torch.float64)


@given(log_probs, log_probs, log_probs)
def test_a_tokens_derivative_is_its_ratio_times_k1(new, old, ref):
    x = one(new).requires_grad_()
    found = k3_times_ratio(x, one(old), one(ref))
    found.sum().backward()
    weight = math.exp(new - old)
    k3 = math.exp(ref - new) - 1 - (ref - new)
    assert_close(found.item(), weight * k3)
    assert_close(x.grad.item(), weight * (new - ref))

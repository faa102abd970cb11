"""k1, k2, k3: definitions, exact expectations, gradients, and small differences."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from ppo_ref.kl import adaptive_kl_coef, kl_k1, kl_k2, kl_k3
from tests.strategies import numbers

log_probs = st.floats(min_value=-30, max_value=0)


def one(x: float) -> torch.Tensor:
    return torch.tensor([[x]], dtype=torch.float64)


@given(log_probs, log_probs)
def test_estimators_are_their_formulas(p, q):
    k1, k2, k3 = (
        estimator(log_probs=one(p), ref_log_probs=one(q)).item()
        for estimator in (kl_k1, kl_k2, kl_k3)
    )
    assert_close(k1, p - q)
    assert_close(k2, (p - q) ** 2 / 2)
    assert_close(k3, math.exp(q - p) - 1 - (q - p))
    assert k2 >= 0
    assert k3 >= -1e-15 * abs(k1)  # rounding of the last subtraction


def test_k1_and_k3_have_the_exact_kl_as_expectation():
    p, q = numbers(0, 2, 1, 5).log_softmax(-1)
    exact = (p.exp() * (p - q)).sum()
    for estimator in (kl_k1, kl_k3):
        assert_close((p.exp() * estimator(log_probs=p, ref_log_probs=q)).sum(), exact)


def test_mean_gradient_of_k2_is_that_of_the_exact_kl():
    logits = numbers(1, 1, 5).requires_grad_()
    q, p = numbers(2, 1, 5).log_softmax(-1), logits.log_softmax(-1)
    (exact,) = torch.autograd.grad((p.exp() * (p - q)).sum(), logits, retain_graph=True)
    k2 = (p.detach().exp() * kl_k2(log_probs=p, ref_log_probs=q)).sum()
    (estimated,) = torch.autograd.grad(k2, logits, retain_graph=True)
    assert_close(estimated, exact)
    k1 = (p.detach().exp() * kl_k1(log_probs=p, ref_log_probs=q)).sum()
    (blind,) = torch.autograd.grad(k1, logits)
    assert_close(blind, torch.zeros_like(blind))


def test_k3_keeps_its_digits_when_the_models_are_close():
    difference = 1e-3
    k3 = kl_k3(log_probs=torch.tensor([[difference]]), ref_log_probs=torch.zeros(1, 1))
    exact = difference**2 / 2 - difference**3 / 6
    assert_close(k3.item(), exact, rtol=1e-3, atol=0.0)  # exp(x) - 1 is off by 2e-2


def test_nothing_is_clamped():
    p, q = one(-40.0), one(0.0)
    assert kl_k1(log_probs=p, ref_log_probs=q).item() == -40
    assert kl_k3(log_probs=p, ref_log_probs=q).item() > 1e17


@pytest.mark.parametrize(
    ("kl", "error"), [(60, 0.2), (6.6, 0.1), (6, 0), (5.4, -0.1), (0, -0.2), (-3, -0.2)]
)
@pytest.mark.parametrize("steps", [1, 10, 49])
def test_the_price_moves_by_the_error_times_the_share_of_the_horizon(kl, error, steps):
    found = adaptive_kl_coef(kl_coef=0.5, kl=kl, target=6, horizon=10, steps=steps)
    assert found == pytest.approx(0.5 * (1 + error * steps / 10), rel=1e-12)


@pytest.mark.parametrize("steps", [50, 51])
def test_a_batch_that_could_take_the_price_to_nothing_is_refused(steps):
    text = f"steps must be below 5 times the horizon, 50, got {steps}"
    with pytest.raises(ValueError, match=f"^adaptive_kl_coef: {text}$"):
        adaptive_kl_coef(kl_coef=0.5, kl=6, target=6, horizon=10, steps=steps)

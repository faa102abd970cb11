"""k1, k2, k3: definitions, expectations by sampler, gradients, small differences."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.testing import assert_close

from ppo_ref.kl import adaptive_kl_coef, kl_k1, kl_k2, kl_k3
from ppo_ref.losses import surrogate_objective
from tests.properties.trees import trees
from tests.strategies import numbers

log_probs = st.floats(min_value=-9, max_value=0)
seeds = st.integers(0, 2**16)


def one(x: float) -> Tensor:
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


@given(seeds, st.integers(1, 4))
def test_self_distillation(seed, hints):
    r"""\mathbb{E}_c\,\mathrm{KL}(S\,\|\,T_c)=\mathrm{KL}(S\,\|\,S^*)-\log Z

    So the geometric mean of the teachers is the student with the least KL to them.
    """
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(hints + 1, 5, generator=generator, dtype=torch.float64)
    student, *teachers = (3 * logits).softmax(1)
    product = torch.ones(5, dtype=torch.float64)
    for teacher in teachers:
        product *= teacher ** (1 / hints)
    best = product / product.sum()
    mean = sum(kl(student, teacher) for teacher in teachers) / hints
    assert_close(mean, kl(student, best) - product.sum().log())


def kl(p: Tensor, q: Tensor) -> Tensor:
    return (p * (p / q).log()).sum()


@given(trees(), seeds)
def test_sum_of_log_ratios(tree, seed):
    r"""\sum_{t} \log\frac{\pi(a_t \mid s_t)}{\pi_{\mathrm{ref}}(a_t \mid s_t)} =
    \log\frac{\pi(a_0,\dots,a_{L-1} \mid s_0)}
    {\pi_{\mathrm{ref}}(a_0,\dots,a_{L-1} \mid s_0)}

    On every answer of a tree; so their mean is the KL of whole answers.
    """
    logits = numbers(seed, 2, len(tree.states()), tree.vocab())
    log_probs, ref_log_probs = (tree.log_probs(x) for x in logits)
    found = kl_k1(log_probs=log_probs, ref_log_probs=ref_log_probs).sum(1)
    whole, whole_ref = (x.exp().prod(1) for x in (log_probs, ref_log_probs))
    assert_close(found, (whole / whole_ref).log())
    assert_close(whole @ found, kl(whole, whole_ref))
    assert whole @ found >= -1e-12


@given(seeds, st.integers(1, 6))
def test_log_ratio_under_a_sampler(seed, vocab):
    r"""\mathbb{E}_{a \sim b}\Bigl[\log\frac{\pi(a)}{\pi_{\mathrm{ref}}(a)}\Bigr] =
    \mathrm{KL}(b \,\|\, \pi_{\mathrm{ref}}) - \mathrm{KL}(b \,\|\, \pi)
    """
    b, p, q = numbers(seed, 3, vocab).softmax(1)
    ratios = kl_k1(log_probs=p.log()[None], ref_log_probs=q.log()[None])[0]
    for sampler in b, p, q:
        assert_close(sampler @ ratios, kl(sampler, q) - kl(sampler, p))


@given(seeds, st.integers(2, 6))
def test_gradients_of_the_estimators(seed, vocab):
    r"""\begin{aligned}
    \mathbb{E}_{a \sim \pi}[\nabla k_1] &= 0 \\
    \mathbb{E}_{a \sim \pi}[\nabla k_2] &=
    \nabla\,\mathrm{KL}(\pi \,\|\, \pi_{\mathrm{ref}}) \\
    \mathbb{E}_{a \sim \pi}[\nabla k_3] &=
    \nabla\,\mathrm{KL}(\pi_{\mathrm{ref}} \,\|\, \pi)
    \end{aligned}

    By logit, those on the right are p_i (log(p_i / q_i) - KL) and p_i - q_i.
    """
    logits, ref = numbers(seed, 2, 1, vocab)
    p, q = (x.softmax(1)[0] for x in (logits, ref))
    right = {kl_k1: 0 * p, kl_k2: p * ((p / q).log() - kl(p, q)), kl_k3: p - q}
    for estimator, expected in right.items():
        x = logits.clone().requires_grad_()
        given = {"log_probs": x.log_softmax(1), "ref_log_probs": ref.log_softmax(1)}
        (p * estimator(**given)).sum().backward()
        assert_close(x.grad[0], expected)


def ratio(new: float, old: float) -> float:
    """As the loss of one token with advantage 1 has it."""
    return surrogate_objective(
        log_probs=one(new),
        old_log_probs=one(old),
        advantages=one(1.0),
        response_mask=torch.tensor([[True]]),
    ).item()


@given(log_probs, log_probs, log_probs)
def test_two_distances(new, old, ref):
    r"""\log\frac{\pi_\theta}{\pi_{\mathrm{ref}}}
    = \underbrace{\log\frac{\pi_\theta}{\pi_{\mathrm{old}}}}_{\log\rho_t}
    + \underbrace{\log\frac{\pi_{\mathrm{old}}}{\pi_{\mathrm{ref}}}}_{\mathrm{kld}_t}

    The ratio of the loss and k1 of the old row add up to the log-quotient, by ``math``.
    With the reference for the old row the first is all of it.
    """
    whole = math.log(math.exp(new) / math.exp(ref))
    kld = kl_k1(log_probs=one(old), ref_log_probs=one(ref)).item()
    assert_close(math.log(ratio(new, old)) + kld, whole)
    assert_close(math.log(ratio(new, ref)), whole)

"""The log-ratio of sampled tokens: its sum, its mean by sampler, its gradients."""

import itertools
import math
import random
from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ppo_ref.kl import kl_k1, kl_k2, kl_k3

seeds = st.integers(0, 2**16)


def distribution(source: random.Random, size: int) -> list[float]:
    weights = [source.uniform(0.05, 1) for _ in range(size)]
    return [weight / math.fsum(weights) for weight in weights]


def kl(p: list[float], q: list[float]) -> float:
    return math.fsum(a * math.log(a / b) for a, b in zip(p, q, strict=True))


def estimate(of: Callable, p: list[float], q: list[float]) -> list[float]:
    """The estimator of every token of a vocabulary."""
    log_probs, ref_log_probs = (
        torch.tensor([x], dtype=torch.float64).log() for x in (p, q)
    )
    return of(log_probs=log_probs, ref_log_probs=ref_log_probs)[0].tolist()


@given(seeds, st.integers(1, 3), st.integers(1, 4))
def test_sum_of_log_ratios(seed, vocab, length):
    r"""\sum_{t} \log\frac{\pi(a_t \mid s_t)}{\pi_{\mathrm{ref}}(a_t \mid s_t)} =
    \log\frac{\pi(a_0,\dots,a_{L-1} \mid s_0)}
    {\pi_{\mathrm{ref}}(a_0,\dots,a_{L-1} \mid s_0)}

    On every answer of a tree; so their mean is the KL of whole answers.
    """
    source = random.Random(seed)
    answers = list(itertools.product(range(vocab), repeat=length))
    states = {answer[:t] for answer in answers for t in range(length)}
    actor, ref = (
        {state: distribution(source, vocab) for state in sorted(states)}
        for _ in range(2)
    )
    rows = [
        [[model[a[:t]][a[t]] for t in range(length)] for a in answers]
        for model in (actor, ref)
    ]
    log_probs, ref_log_probs = (
        torch.tensor(row, dtype=torch.float64).log() for row in rows
    )
    kld = kl_k1(log_probs=log_probs, ref_log_probs=ref_log_probs)
    whole, whole_ref = ([math.prod(answer) for answer in row] for row in rows)
    for total, p, q in zip(kld.sum(1).tolist(), whole, whole_ref, strict=True):
        assert total == pytest.approx(math.log(p / q), abs=1e-12)
    mean = math.fsum(p * x for p, x in zip(whole, kld.sum(1).tolist(), strict=True))
    assert mean == pytest.approx(kl(whole, whole_ref), abs=1e-12)
    assert mean >= -1e-12


@given(seeds, st.integers(1, 6))
def test_log_ratio_under_a_sampler(seed, vocab):
    r"""\mathbb{E}_{a \sim b}\Bigl[\log\frac{\pi(a)}{\pi_{\mathrm{ref}}(a)}\Bigr] =
    \mathrm{KL}(b \,\|\, \pi_{\mathrm{ref}}) - \mathrm{KL}(b \,\|\, \pi)
    """
    source = random.Random(seed)
    b, p, q = (distribution(source, vocab) for _ in range(3))
    for sampler in b, p, q:
        tokens = zip(sampler, estimate(kl_k1, p, q), strict=True)
        mean = math.fsum(weight * x for weight, x in tokens)
        expected = kl(sampler, q) - kl(sampler, p)
        assert mean == pytest.approx(expected, abs=1e-12)


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
    source = random.Random(seed)
    p, q = distribution(source, vocab), distribution(source, vocab)
    forward = kl(p, q)
    right = {
        kl_k1: [0.0] * vocab,
        kl_k2: [a * (math.log(a / b) - forward) for a, b in zip(p, q, strict=True)],
        kl_k3: [a - b for a, b in zip(p, q, strict=True)],
    }
    for estimator, expected in right.items():
        logits = torch.tensor([p], dtype=torch.float64).log().requires_grad_()
        ref_log_probs = torch.tensor([q], dtype=torch.float64).log()
        tokens = estimator(log_probs=logits.log_softmax(1), ref_log_probs=ref_log_probs)
        (torch.tensor([p], dtype=torch.float64) * tokens).sum().backward()
        assert logits.grad[0].tolist() == pytest.approx(expected, abs=1e-12)

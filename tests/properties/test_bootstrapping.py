"""What bootstrapping is, how far a value reaches, and what a wrong one does."""

import itertools
import math

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from ppo_ref.advantages import gae, n_step_advantages
from tests import oracles
from tests.strategies import numbers, token_batches, unit_interval


def cut_targets(batch, row, gamma):
    """All targets of each token of a row by loops: cut after 1, 2, ... tokens."""
    mask = batch.response_mask[row]
    rewards = batch.token_level_rewards[row][mask].tolist()
    values = batch.values[row][mask].tolist()
    states = [*values, batch.bootstrap_values[row].item()]
    return [
        [
            math.fsum(gamma**k * r for k, r in enumerate(rewards[t : t + n]))
            + gamma**n * states[t + n]
            for n in range(1, len(rewards) - t + 1)
        ]
        for t in range(len(rewards))
    ]


@given(token_batches(), unit_interval, st.integers(1, 10))
def test_cut_target(batch, gamma, steps):
    r"""\hat G_t^{(n)} = r_t + \dots + \gamma^{n-1} r_{t+n-1} + \gamma^n V(s_{t+n})"""
    advantages = n_step_advantages(**batch._asdict(), gamma=gamma, steps=steps)
    for row, mask in enumerate(batch.response_mask):
        wanted = [cut[:steps][-1] for cut in cut_targets(batch, row, gamma)]
        targets = advantages[row][mask] + batch.values[row][mask]
        assert_close(targets, torch.tensor(wanted, dtype=torch.float64))


@given(token_batches(), unit_interval, unit_interval)
def test_mixture_of_cuts(batch, gamma, gae_lambda):
    r"""\begin{aligned}
    R_t &= (1-\lambda) \sum_{n=1}^{N-1} \lambda^{n-1} \hat G_t^{(n)} \\
    &\quad + \lambda^{N-1} \hat G_t^{(N)}
    \end{aligned}"""
    returns = gae(**batch._asdict(), gamma=gamma, gae_lambda=gae_lambda).returns
    for row, mask in enumerate(batch.response_mask):
        wanted = []
        for cuts in cut_targets(batch, row, gamma):
            last = len(cuts) - 1
            mixed = [
                (1 - gae_lambda) * gae_lambda**n * cut
                for n, cut in enumerate(cuts[:last])
            ]
            wanted.append(math.fsum([*mixed, gae_lambda**last * cuts[last]]))
        assert_close(returns[row][mask], torch.tensor(wanted, dtype=torch.float64))


@given(st.integers(1, 7), unit_interval, unit_interval, st.integers(0, 999))
def test_bootstrap_reach(tokens, gamma, gae_lambda, seed):
    r"""\frac{\partial \hat A_t}{\partial V(s_{t+k})} =
    \gamma^k \lambda^{k-1} (1-\lambda)

    The advantages are linear in the values, so that a nudge by 1 is the derivative;
    the value after a cut has weight gamma**N * lambda**(N-1), without 1 - lambda.
    """
    rewards, values = numbers(seed, 2, 1, tokens)
    nudged = values + torch.eye(tokens + 1, tokens, dtype=torch.float64)
    after = torch.zeros(tokens + 1, dtype=torch.float64)
    after[tokens] = 1
    batch = {
        "token_level_rewards": rewards.expand(tokens + 1, -1),
        "response_mask": torch.ones(tokens + 1, tokens, dtype=torch.bool),
        "gamma": gamma,
        "gae_lambda": gae_lambda,
    }
    base = gae(**batch, values=values.expand(tokens + 1, -1)).advantages
    found = gae(**batch, values=nudged, bootstrap_values=after).advantages - base
    for t in range(tokens):
        weights = [0.0] * t + [-1.0]
        weights += [
            gamma**k * gae_lambda ** (k - 1) * (1 - gae_lambda)
            for k in range(1, tokens - t)
        ]
        left = tokens - t
        weights.append(gamma**left * gae_lambda ** (left - 1))
        assert_close(found[:, t], torch.tensor(weights, dtype=torch.float64))


@given(st.integers(2, 3), st.integers(1, 3), unit_interval, st.integers(0, 999))
def test_baseline_without_bias(vocab, tokens, gamma, seed):
    r"""\mathbb{E}_{a_t\sim\pi}\big[\nabla\log\pi(a_t\mid s_t)\,V(s_t)\big] = 0

    Hence, over all answers, the advantages at lambda 1 of whatever values give the
    gradient of the expected return.
    """
    answers = list(itertools.product(range(vocab), repeat=tokens))
    states = sorted({a[:t] for a in answers for t in range(tokens)})
    place = {state: i for i, state in enumerate(states)}
    logits = numbers(seed, len(states), vocab).requires_grad_()
    critic = numbers(seed + 1, len(states))
    log_pi = logits.log_softmax(1)
    baseline = (log_pi.exp().detach() * log_pi * critic[:, None]).sum()
    (bias,) = torch.autograd.grad(baseline, logits, retain_graph=True)
    assert_close(bias, torch.zeros_like(bias))

    at = torch.tensor([[place[a[:t]] for t in range(tokens)] for a in answers])
    rewards = numbers(seed + 2, len(answers), tokens)
    rewards[:, :-1] = 0  # a reward before the end would hang on its prefix alone
    chosen = log_pi[at, torch.tensor(answers)]
    probs = chosen.sum(1).exp()
    discount = gamma ** torch.arange(tokens, dtype=torch.float64)
    expected = (probs * (discount * rewards).sum(1)).sum()
    (wanted,) = torch.autograd.grad(expected, logits, retain_graph=True)
    batch = {
        "token_level_rewards": rewards,
        "values": critic[at],
        "response_mask": torch.ones(at.shape, dtype=torch.bool),
    }
    advantages = gae(**batch, gamma=gamma).advantages
    looped = oracles.over_rows(
        oracles.gae(gamma, 1), batch["response_mask"], rewards, critic[at]
    )
    assert_close(advantages, looped)
    mean = (probs.detach()[:, None] * discount * advantages * chosen).sum()
    (found,) = torch.autograd.grad(mean, logits)
    assert_close(found, wanted)

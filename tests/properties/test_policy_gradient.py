"""The gradient of the expected return, on all answers of small actors."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.testing import assert_close

from ppo_ref.advantages import gae
from ppo_ref.losses import surrogate_objective
from tests.properties.trees import trees
from tests.strategies import numbers, unit_interval

seeds = st.integers(0, 999)


def gradient(x: Tensor, logits: Tensor) -> Tensor:
    return torch.autograd.grad(x, logits, retain_graph=True)[0]


@given(trees(), unit_interval, seeds)
def test_baseline_without_bias(tree, gamma, seed):
    r"""\mathbb{E}_{a_t\sim\pi}\big[\nabla\log\pi(a_t\mid s_t)\,V(s_t)\big] = 0

    Hence, over all answers, the advantages at lambda 1 of whatever values give the
    gradient of the expected return.
    """
    logits = numbers(seed, len(tree.states()), tree.vocab()).requires_grad_()
    critic = numbers(seed + 1, len(logits))
    log_pi = logits.log_softmax(1)
    baseline = (log_pi.exp().detach() * log_pi * critic[:, None]).sum()
    assert_close(gradient(baseline, logits), torch.zeros_like(logits))

    batch, chosen = tree.batch(), tree.log_probs(logits)
    probs = chosen.sum(1).exp()
    discount = gamma ** torch.arange(chosen.shape[1], dtype=torch.float64)
    received = (discount * batch["token_level_rewards"].nan_to_num()).sum(1)
    wanted = gradient((probs * received).sum(), logits)
    advantages = gae(**batch, values=critic[tree.state_of()], gamma=gamma).advantages
    mean = (probs.detach()[:, None] * discount * advantages * chosen).sum()
    assert_close(gradient(mean, logits), wanted)


@given(trees(), st.booleans(), seeds)
def test_two_gradients(tree, moved, seed):
    r"""\begin{aligned}
    \nabla J &= \mathbb{E}_{\mathrm{old}} \sum_t \Bigl(\prod_{k<t}\rho_k\Bigr)
    \rho_t\, A^{\theta}_t\, \nabla\log\pi_\theta \\
    \nabla L &= \mathbb{E}_{\mathrm{old}} \sum_t
    \rho_t\, A^{\mathrm{old}}_t\, \nabla\log\pi_\theta
    \end{aligned}

    J is the mean of all rewards, L the surrogate; while the actor is still the old
    one, both have the same gradient.
    """
    old_logits, change = numbers(seed, 2, len(tree.states()), tree.vocab())
    logits = (old_logits + moved * change).requires_grad_()
    new, old = tree.log_probs(logits), tree.log_probs(old_logits)
    of_new, of_old = (
        tree.rows(tree.written_by(x).true_advantages(1).__getitem__).nan_to_num()
        for x in (logits, old_logits)
    )
    batch = tree.batch()
    received = batch["token_level_rewards"].nan_to_num().sum(1)
    p = old.sum(1, keepdim=True).exp()
    ratio = (new - old).exp().detach()
    before = ratio.cumprod(1) / ratio
    exact = gradient((new.sum(1).exp() * received).sum(), logits)
    assert_close(exact, gradient((p * before * ratio * of_new * new).sum(), logits))
    surrogate = surrogate_objective(
        log_probs=new,
        old_log_probs=old,
        advantages=of_old,
        response_mask=batch["response_mask"],
        aggregate=lambda terms, _: (p * terms).sum(),
    )
    found = gradient(surrogate, logits)
    assert_close(found, gradient((p * ratio * of_old * new).sum(), logits))
    if not moved:
        assert_close(found, exact)


@given(trees(), seeds)
def test_turn_fee(tree, seed):
    r"""\nabla \tilde J = \nabla J - \sum_k m_k\, \nabla P_k

    Each token is a turn, and token 0 stops: each turn's reward less its mean over the
    answers that take the turn, summed from a turn on, is charged for going on.
    """
    logits = numbers(seed, len(tree.states()), tree.vocab()).requires_grad_()
    chosen = tree.log_probs(logits)
    probs = chosen.sum(1).exp()
    paid = tree.batch()["token_level_rewards"]
    takes = ~paid.isnan()
    paid = paid.nan_to_num()
    wanted = gradient((probs * paid.sum(1)).sum(), logits)
    taken = probs @ takes.double()
    means = (probs @ paid / taken).detach()
    for chance, mean in zip(taken, means, strict=True):
        wanted -= mean * gradient(chance, logits)
    ahead = (takes * (paid - means)).flip(1).cumsum(1).flip(1)
    estimate = (probs.detach()[:, None] * ahead * chosen).sum()
    assert_close(gradient(estimate, logits), wanted)

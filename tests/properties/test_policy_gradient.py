"""The gradient of the expected return, on all answers of small actors."""

import itertools
import math

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from ppo_ref.advantages import gae
from ppo_ref.losses import surrogate_objective
from tests.properties.trees import states, trees
from tests.strategies import numbers, unit_interval


def all_answers(vocab, tokens):
    """Every answer, the states it goes through, and by slot the number of its state."""
    answers = list(itertools.product(range(vocab), repeat=tokens))
    states = sorted({a[:t] for a in answers for t in range(tokens)})
    at = torch.tensor([[states.index(a[:t]) for t in range(tokens)] for a in answers])
    return answers, states, at


@given(st.integers(2, 3), st.integers(1, 3), unit_interval, st.integers(0, 999))
def test_baseline_without_bias(vocab, tokens, gamma, seed):
    r"""\mathbb{E}_{a_t\sim\pi}\big[\nabla\log\pi(a_t\mid s_t)\,V(s_t)\big] = 0

    Hence, over all answers, the advantages at lambda 1 of whatever values give the
    gradient of the expected return.
    """
    answers, states, at = all_answers(vocab, tokens)
    logits = numbers(seed, len(states), vocab).requires_grad_()
    critic = numbers(seed + 1, len(states))
    log_pi = logits.log_softmax(1)
    baseline = (log_pi.exp().detach() * log_pi * critic[:, None]).sum()
    (bias,) = torch.autograd.grad(baseline, logits, retain_graph=True)
    assert_close(bias, torch.zeros_like(bias))

    rewards = numbers(seed + 2, len(answers), tokens)
    rewards[:, :-1] = 0  # a reward before the end would hang on its prefix alone
    chosen = log_pi[at, torch.tensor(answers)]
    probs = chosen.sum(1).exp()
    discount = gamma ** torch.arange(tokens, dtype=torch.float64)
    expected = (probs * (discount * rewards).sum(1)).sum()
    (wanted,) = torch.autograd.grad(expected, logits, retain_graph=True)
    advantages = gae(
        token_level_rewards=rewards,
        values=critic[at],
        response_mask=torch.ones(at.shape, dtype=torch.bool),
        gamma=gamma,
    ).advantages
    mean = (probs.detach()[:, None] * discount * advantages * chosen).sum()
    (found,) = torch.autograd.grad(mean, logits)
    assert_close(found, wanted)


def advantage(policy, rewards, written, tokens):
    """Q - V by loops: ``policy`` and ``rewards`` by what is written, its last token."""

    def value(state):
        if len(state) == tokens:
            return 0.0
        ahead = [w for w in policy if w[:-1] == state]
        return math.fsum(policy[w] * (rewards[w] + value(w)) for w in ahead)

    return rewards[written] + value(written) - value(written[:-1])


@given(st.integers(2, 3), st.integers(1, 3), st.booleans(), st.integers(0, 999))
def test_two_gradients(vocab, tokens, moved, seed):
    r"""\begin{aligned}
    \nabla J &= \mathbb{E}_{\mathrm{old}} \sum_t \Bigl(\prod_{k<t}\rho_k\Bigr)
    \rho_t\, A^{\theta}_t\, \nabla\log\pi_\theta \\
    \nabla L &= \mathbb{E}_{\mathrm{old}} \sum_t
    \rho_t\, A^{\mathrm{old}}_t\, \nabla\log\pi_\theta
    \end{aligned}

    J is the mean of all rewards, L the surrogate; while the actor is still the old
    one, both have the same gradient.
    """
    answers, states, at = all_answers(vocab, tokens)
    tokens_of = torch.tensor(answers)
    old_logits = numbers(seed, len(states), vocab)
    logits = old_logits + moved * numbers(seed + 1, len(states), vocab)
    log_pi = logits.requires_grad_().log_softmax(1)
    places = [(*s, i) for s in states for i in range(vocab)]
    reward = dict(zip(places, numbers(seed + 2, len(places)).tolist(), strict=True))

    def policy(logits):
        table = logits.detach().softmax(1).flatten().tolist()
        return dict(zip(places, table, strict=True))

    new, old = log_pi[at, tokens_of], old_logits.log_softmax(1)[at, tokens_of]
    prefixes = [[a[: t + 1] for t in range(tokens)] for a in answers]
    rewards = torch.tensor([[reward[w] for w in row] for row in prefixes]).double()
    of_new, of_old = (
        torch.tensor(
            [[advantage(pi, reward, w, tokens) for w in row] for row in prefixes]
        )
        for pi in (policy(logits), policy(old_logits))
    )
    p = old.sum(1, keepdim=True).exp()
    ratio = (new - old).exp().detach()
    before = ratio.cumprod(1) / ratio

    def gradient(x):
        return torch.autograd.grad(x, logits, retain_graph=True)[0]

    exact = gradient((new.sum(1).exp() * rewards.sum(1)).sum())
    assert_close(exact, gradient((p * before * ratio * of_new.double() * new).sum()))
    surrogate = surrogate_objective(
        log_probs=new,
        old_log_probs=old,
        advantages=of_old.double(),
        response_mask=torch.ones(at.shape, dtype=torch.bool),
        aggregate=lambda terms, _: (p * terms).sum(),
    )
    found = gradient(surrogate)
    assert_close(found, gradient((p * ratio * of_old.double() * new).sum()))
    if not moved:
        assert_close(found, exact)


@given(trees())
def test_turn_fee(tree):
    r"""\nabla \tilde J = \nabla J - \sum_k m_k\, \nabla P_k

    Each token is a turn, and token 0 stops: each turn's reward less its mean over the
    answers that take the turn, summed from a turn on, is charged for going on.
    """
    vocab = 1 + max(written[-1] for written in tree.probs)
    at = states(tree)
    chances = [[tree.probs[*s, i] for i in range(vocab)] for s in at]
    logits = torch.tensor(chances, dtype=torch.float64).log().requires_grad_()
    log_pi = dict(zip(at, logits.log_softmax(1), strict=True))

    def chosen(answer):
        return [log_pi[answer[:t]][answer[t]] for t in range(len(answer))]

    def gradient(x):
        return torch.autograd.grad(x, logits, retain_graph=True)[0]

    terms = {answer: torch.stack(chosen(answer)) for answer in tree.answers}
    probs = {answer: log_probs.sum().exp() for answer, log_probs in terms.items()}
    paid = {a: [tree.rewards[a[: t + 1]] for t in range(len(a))] for a in tree.answers}
    wanted = gradient(sum(probs[a] * sum(paid[a]) for a in tree.answers))
    means = []
    for k in range(max(map(len, tree.answers))):
        takers = [a for a in tree.answers if len(a) > k]
        taken = torch.stack([probs[a] for a in takers]).sum()
        paid_there = sum(probs[a].item() * paid[a][k] for a in takers)
        means.append(paid_there / taken.item())
        wanted -= means[k] * gradient(taken)
    estimate = torch.zeros((), dtype=torch.float64)
    for a in tree.answers:
        for k, log_prob in enumerate(terms[a]):
            ahead = sum(paid[a][j] - means[j] for j in range(k, len(a)))
            estimate = estimate + probs[a].item() * ahead * log_prob
    assert_close(gradient(estimate), wanted)

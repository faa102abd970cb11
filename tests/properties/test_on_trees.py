"""Values, advantages and gradients on average, and how far they stray: on trees."""

import itertools
import math
import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.testing import assert_close

from ppo_ref.advantages import gae, monte_carlo_returns, td_residuals
from ppo_ref.examples import four_token_tree, two_token_tree
from ppo_ref.losses import surrogate_objective
from tests.properties.trees import Tree, trees
from tests.strategies import numbers, unit_interval

seeds = st.integers(0, 2**16)


def near(numbers):
    return pytest.approx(numbers, abs=1e-9)


def wrong_critic(tree, gamma, seed):
    """A wrong value for every state, and by how much it is wrong; 0 after the end."""
    source = random.Random(seed)
    errors = dict.fromkeys(tree.answers, 0.0)
    errors |= {state: source.uniform(-1, 1) for state in tree.states()}
    exact = tree.exact_values(gamma)
    return {state: exact[state] + error for state, error in errors.items()}, errors


def mean_return(tree, gamma):
    """V of every state, the mean of what ``ppo_ref`` says its answers still earn."""
    received = monte_carlo_returns(**tree.batch(), gamma=gamma)
    values = {s: tree.mean_after(s, received[:, len(s)]) for s in tree.states()}
    return values | dict.fromkeys(tree.answers, 0.0)


def next_mean(tree, state, of_next):
    """The mean over the tokens that may come next."""
    ahead = tree.next_states(state)
    return math.fsum(tree.probs[w] * of_next(w) for w in ahead)


@given(trees(), unit_interval)
def test_expected_return_before_token(tree, gamma):
    r"""V(s_t) = \mathbb{E}_{a_t \sim \pi}[r_t + \gamma V(s_{t+1})]

    The loop's expected returns obey it; the mean of ``monte_carlo_returns`` over the
    answers ahead is that V, and the mean of ``td_residuals`` with that V is 0.
    """
    exact, received = tree.exact_values(gamma), mean_return(tree, gamma)
    deltas = td_residuals(**tree.batch(exact), gamma=gamma)
    for state in tree.states():
        mean = next_mean(tree, state, lambda w: tree.rewards[w] + gamma * exact[w])
        assert (exact[state], received[state]) == near((mean, mean))
        assert tree.mean_after(state, deltas[:, len(state)]) == near(0)


@given(trees(), unit_interval)
def test_value_martingale(tree, gamma):
    r"""\gamma\,\mathbb{E}[V(s_{t+1}) \mid s_t] = V(s_t) - \mathbb{E}[r_t \mid s_t]"""
    values = mean_return(tree, gamma)
    for state in tree.states():
        later = next_mean(tree, state, values.__getitem__)
        earned = next_mean(tree, state, tree.rewards.__getitem__)
        assert gamma * later == near(values[state] - earned)


@given(trees(), seeds)
def test_value_given_success(tree, seed):
    r"""\begin{aligned}
    &\mathbb{E}[V(s_{t+1}) \mid s_t, G=1] \\
    &\quad = V(s_t) + \frac{\mathrm{Var}(V(s_{t+1}) \mid s_t)}{V(s_t)}
    \end{aligned}

    With G = 0 less the variance over 1 - V(s_t); V of a finished answer is its score.
    """
    source = random.Random(seed)
    rewards = dict.fromkeys(tree.rewards, 0.0)
    rewards |= {answer: float(source.random() < 0.5) for answer in tree.answers}
    tree = tree._replace(rewards=rewards)
    values = mean_return(tree, 1) | {a: rewards[a] for a in tree.answers}
    for state in tree.states():
        here = tree.expected_return(1, state)
        squares = {w: (values[w] - here) ** 2 for w in tree.next_states(state)}
        variance = next_mean(tree, state, squares.__getitem__)
        for score, share, sign in ((1, here, 1), (0, 1 - here, -1)):
            scored = [a for a in tree.answers if rewards[a] == score]
            likely = {a: tree.prob_from(state, a) for a in scored}
            if total := math.fsum(likely.values()):
                step = len(state) + 1
                mean = math.fsum(p * values[a[:step]] for a, p in likely.items() if p)
                assert mean / total == near(here + sign * variance / share)


@given(trees(), unit_interval)
def test_variance_along_the_answer(tree, gamma):
    r"""\begin{aligned}
    \mathrm{Var}(G_t \mid s_t) ={}& \gamma^2\,\mathbb{E}[\mathrm{Var}(G_{t+1} \mid
    s_{t+1}) \mid s_t] \\
    &+ \mathrm{Var}(r_t + \gamma V(s_{t+1}) \mid s_t)
    \end{aligned}
    """
    received = monte_carlo_returns(**tree.batch(), gamma=gamma)
    exact = tree.exact_values(gamma)
    variances = dict.fromkeys(tree.answers, 0.0)
    for s in tree.states():
        variances[s] = tree.variance_after(s, received[:, len(s)])
    for s in tree.states():
        later = next_mean(tree, s, variances.__getitem__)
        of_step = next_mean(
            tree, s, lambda w: (tree.rewards[w] + gamma * exact[w] - exact[w[:-1]]) ** 2
        )
        assert variances[s] == near(gamma**2 * later + of_step)


@given(trees(), unit_interval)
def test_regression_mean(tree, gamma):
    r"""\begin{aligned}
    \arg\min_v \mathbb{E}\bigl[(G_t - v)^2 \mid s_t\bigr] &= \mathbb{E}[G_t \mid s_t] \\
    &= V^\pi(s_t)
    \end{aligned}

    The mean error rises by the square of the distance from there.
    """
    received = monte_carlo_returns(**tree.batch(), gamma=gamma)
    exact = tree.exact_values(gamma)
    for state in tree.states():
        errors = received[:, len(state)] - exact[state]
        least, *others = (
            tree.mean_after(state, (errors - off).square()) for off in (0, -1.0, 0.1)
        )
        assert others == near([least + 1, least + 0.01])


@given(trees(), unit_interval, st.randoms())
def test_mean_residual(tree, gamma, source):
    r"""V = V^\pi \iff \mathbb{E}[\delta_t \mid s_t] = 0 \quad \forall s_t

    One way on the exact values; the other at the last state that a wrong critic errs
    in: nothing after it can make up for the error.
    """
    exact = tree.exact_values(gamma)
    errors = {state: source.choice([0.0, 0.5, -2.0]) for state in tree.states()}
    wrong = exact | {state: exact[state] + error for state, error in errors.items()}
    for values, off in (exact, {}), (wrong, errors):
        deltas = td_residuals(**tree.batch(values), gamma=gamma)
        means = {s: tree.mean_after(s, deltas[:, len(s)]) for s in tree.states()}
        if err := [state for state in tree.states() if off.get(state)]:
            last = max(err, key=len)
            assert means[last] == near(-off[last])
        else:
            assert means == near(dict.fromkeys(means, 0))


@given(trees(), unit_interval)
def test_excess_of_a_token(tree, gamma):
    r"""\delta_t = r_t + \gamma V^\pi(s_{t+1}) - V^\pi(s_t) = A^\pi(s_t, a_t)"""
    advantages = tree.true_advantages(gamma)
    expected = tree.rows(lambda written: advantages[written]).nan_to_num()
    deltas = td_residuals(**tree.batch(tree.exact_values(gamma)), gamma=gamma)
    assert_close(deltas, expected, rtol=0, atol=1e-12)


@given(st.integers(1, 4), seeds, unit_interval, st.floats(-1, 2))
def test_what_a_cold_critic_keeps(length, seed, gae_lambda, share):
    r"""\begin{aligned}
    &\mathbb{E}[\hat A_t \mid s_t, a] - \mathbb{E}[\hat A_t \mid s_t, a'] \\
    &\quad = \big(c + (1-c)\,\lambda^{T-t-1}\big)\,\big(A(s_t, a) - A(s_t, a')\big)
    \end{aligned}

    Of a critic that says c times the exact value; answers of T tokens, scored at the
    end.
    """
    source = random.Random(seed)
    answers = list(itertools.product((0, 1), repeat=length))
    written = [a[: t + 1] for a in answers for t in range(length)]
    first = {w: source.uniform(0.1, 0.9) for w in {w[:-1] for w in written}}
    probs = {w: abs(w[-1] - first[w[:-1]]) for w in written}
    tree = Tree(answers, probs, dict.fromkeys(written, 0.0))
    tree.rewards.update({answer: source.uniform(-1, 1) for answer in answers})
    values = {s: share * value for s, value in tree.exact_values(1).items()}
    found = gae(**tree.batch(values), gae_lambda=gae_lambda).advantages
    true = tree.true_advantages(1)
    for state in first:
        t, (one, other) = len(state), ((*state, 0), (*state, 1))
        kept = share + (1 - share) * gae_lambda ** (length - t - 1)
        pair = [tree.mean_after(w, found[:, t]) for w in (one, other)]
        assert pair[0] - pair[1] == near(kept * (true[one] - true[other]))


@given(trees(), unit_interval)
def test_excesses_add_up(tree, gamma):
    r"""\sum_t \gamma^t A^\pi(s_t, a_t) = G_0 - V^\pi(s_0)

    In every answer; V^\pi(s_0) is the mean over all of them.
    """
    before = tree.expected_return(gamma, ())
    exact = tree.batch(tree.exact_values(gamma))
    deltas = td_residuals(**exact, gamma=gamma).tolist()
    for answer, of_answer in zip(tree.answers, deltas, strict=True):
        steps = [(t, answer[: t + 1]) for t in range(len(answer))]
        received = math.fsum(gamma**t * tree.rewards[written] for t, written in steps)
        total = math.fsum(gamma**t * delta for t, delta in enumerate(of_answer))
        assert total == near(received - before)


@given(trees(), unit_interval, seeds)
def test_policy_difference(tree, gamma, seed):
    r"""J(\pi') - J(\pi) = \mathbb{E}_{\pi'}\Big[\sum_t \gamma^t A^\pi(s_t, a_t)\Big]"""
    logits = numbers(seed, len(tree.states()), tree.vocab())
    other, advantages = tree.written_by(logits), tree.true_advantages(gamma)
    gain = other.expected_return(gamma, ()) - tree.expected_return(gamma, ())
    excess = other._replace(rewards=advantages)
    assert excess.expected_return(gamma, ()) == near(gain)


@given(trees(), unit_interval, seeds)
def test_mean_of_return_minus_value(tree, gamma, seed):
    r"""\mathbb{E}[G_t - V(s_t) \mid s_t, a_t] = Q(s_t, a_t) - V(s_t)

    Whatever the critic says of a state.
    """
    values, errors = wrong_critic(tree, gamma, seed)
    found = tree.means(gae(**tree.batch(values), gamma=gamma).advantages)
    true = tree.true_advantages(gamma)
    assert found == near({w: a - errors[w[:-1]] for w, a in true.items()})


@given(trees(), unit_interval, seeds)
def test_residual_mean(tree, gamma, seed):
    r"""\begin{aligned}
    \mathbb{E}[\delta_t \mid s_t, a_t] ={}& A^\pi(s_t, a_t) \\
    &+ \gamma\,\mathbb{E}[e(s_{t+1}) \mid s_t, a_t] - e(s_t)
    \end{aligned}
    """
    values, errors = wrong_critic(tree, gamma, seed)
    found = tree.means(td_residuals(**tree.batch(values), gamma=gamma))
    off = {w: gamma * errors[w] - errors[w[:-1]] for w in found}
    true = tree.true_advantages(gamma)
    assert found == near({w: true[w] + off[w] for w in found})


@given(trees(), unit_interval, unit_interval, seeds)
def test_bias_left(tree, gamma, gae_lambda, seed):
    r"""\begin{aligned}
    &\mathbb{E}[\hat A_t \mid s_t, a_t] - A^\pi(s_t, a_t) = -e(s_t) \\
    &+ (1-\lambda)\sum_{k\ge 1}\gamma^k\lambda^{k-1}\,
    \mathbb{E}[e(s_{t+k}) \mid s_t, a_t]
    \end{aligned}"""
    values, errors = wrong_critic(tree, gamma, seed)
    batch = tree.batch(values)
    found = tree.means(gae(**batch, gamma=gamma, gae_lambda=gae_lambda).advantages)
    reached = tree.rows(lambda written: errors[written[:-1]]).nan_to_num()
    for written, advantage in tree.true_advantages(gamma).items():
        later = math.fsum(
            gamma**k * gae_lambda ** (k - 1) * tree.mean_after(written, column)
            for k, column in enumerate(reached.T[len(written) :], start=1)
        )
        bias = -errors[written[:-1]] + (1 - gae_lambda) * later
        assert found[written] - advantage == near(bias)


@given(trees(), unit_interval, unit_interval)
def test_variance_with_exact_values(tree, gamma, gae_lambda):
    r"""\begin{aligned}
    &\mathrm{Var}(\hat A_t \mid s_t, a_t) \\
    &\quad = \sum_{k\ge 1} (\gamma\lambda)^{2k}\,\mathrm{Var}(\delta_{t+k} \mid
    s_t, a_t)
    \end{aligned}

    And the mean is Q - V, whatever lambda is.
    """
    batch = tree.batch(tree.exact_values(gamma))
    advantages = gae(**batch, gamma=gamma, gae_lambda=gae_lambda).advantages
    true = tree.true_advantages(gamma)
    assert tree.means(advantages) == near(true)
    residuals = tree.rows(true.__getitem__).nan_to_num()
    for written in true:
        expected = math.fsum(
            (gamma * gae_lambda) ** (2 * k) * tree.variance_after(written, later)
            for k, later in enumerate(residuals.T[len(written) :], start=1)
        )
        of_token = advantages[:, len(written) - 1]
        assert tree.variance_after(written, of_token) == near(expected)


TREES = [(two_token_tree, 2, 2), (four_token_tree, 4, 3)]


@pytest.mark.parametrize(("tree_of", "tokens", "ones"), TREES)
def test_a_tree_has_every_response_once_and_the_actors_means_as_values(
    tree_of, tokens, ones
):
    """How many ways of writing on from a prefix have enough 1s: counted, not summed."""
    tree = tree_of()
    written = list(itertools.product([0, 1], repeat=tokens))
    assert tree.responses.tolist() == [list(answer) for answer in written]
    assert (tree.actor_probs == 0.5).all() and tree.response_mask.all()
    assert tree.token_level_rewards.tolist() == [
        [0.0] * (tokens - 1) + [float(answer.count(1) >= ones)] for answer in written
    ]
    for answer, values in zip(written, tree.values.tolist(), strict=True):
        for t, value in enumerate(values):
            left, missing = tokens - t, max(ones - sum(answer[:t]), 0)
            ways = sum(math.comb(left, k) for k in range(missing, left + 1))
            assert value == ways / 2**left


def test_the_critic_that_the_latest_token_sways():
    tree = four_token_tree()
    for answer, wrong, right in zip(
        tree.responses.tolist(), tree.wrong_values, tree.values, strict=True
    ):
        sway = [0.0] + [0.25 if token else -0.25 for token in answer[:-1]]
        assert (wrong - right).tolist() == sway


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

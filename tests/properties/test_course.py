"""The formulas of the course, on random cases in float64."""

import math
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.testing import assert_close

from ppo_ref.advantages import gae, monte_carlo_returns, td_residuals
from ppo_ref.losses import policy_loss, value_loss
from ppo_ref.masking import masked_whiten
from ppo_ref.rewards import token_level_rewards, token_level_scores
from tests import oracles
from tests.strategies import numbers, token_batches, token_tensors, unit_interval

SEEDS = st.integers(0, 2**31)
MASK = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])


def random_tree(seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Logits of two tokens out of three, the second's for each first; scores."""
    first, *second = numbers(seed, 4, 3)
    scores = numbers(seed + 1, 3, 3)
    return first.requires_grad_(), torch.stack(second).requires_grad_(), scores


def answer_probs(first: Tensor, second: Tensor) -> Tensor:
    return (first.softmax(0)[:, None] * second.softmax(1)).flatten()


def mean_push(first: Tensor, second: Tensor, weights: Tensor | float) -> list[Tensor]:
    """The mean over answers of weight times the gradient of the answer's log-prob."""
    probs = answer_probs(first, second)
    weights = torch.as_tensor(weights, dtype=torch.float64).expand(9)
    means = [torch.zeros_like(first), torch.zeros_like(second)]
    for p, weight in zip(probs, weights, strict=True):
        pushes = torch.autograd.grad(p.log(), [first, second], retain_graph=True)
        for mean, push in zip(means, pushes, strict=True):
            mean += p.detach() * weight * push
    return means


def gradient_of_mean_score(
    first: Tensor, second: Tensor, scores: Tensor
) -> tuple[Tensor, ...]:
    mean_score = answer_probs(first, second) @ scores.flatten()
    return torch.autograd.grad(mean_score, [first, second])


@given(SEEDS)
def test_course_log_trick(seed):
    r"""\nabla P_\theta(y) = P_\theta(y)\, \nabla \log P_\theta(y)"""
    first, second, _ = random_tree(seed)
    for p in answer_probs(first, second):
        plain = torch.autograd.grad(p, [first, second], retain_graph=True)
        logs = torch.autograd.grad(p.log(), [first, second], retain_graph=True)
        for direct, log in zip(plain, logs, strict=True):
            assert_close(direct, p.detach() * log)


@given(SEEDS)
def test_course_policy_gradient(seed):
    r"""\nabla J = \sum_{y} P_\theta(y)\, s(y)\, \nabla \log P_\theta(y)
    = \mathbb{E}_{y}\big[\, s(y)\, \nabla \log P_\theta(y) \,\big]
    """
    first, second, scores = random_tree(seed)
    direct = gradient_of_mean_score(first, second, scores)
    assert_close([*direct], mean_push(first, second, scores.flatten()))


@given(SEEDS)
def test_course_token_gradient(seed):
    r"""\nabla J = \mathbb{E}\Big[\, s(y) \sum_{t}
    \nabla \log \pi_\theta(a_t \mid s_t) \,\Big]
    """
    # The log-prob of a token moves the logits of its own prefix alone, by e_a - p.
    first, second, scores = random_tree(seed)
    direct = gradient_of_mean_score(first, second, scores)
    means = [torch.zeros_like(first), torch.zeros_like(second)]
    probs = answer_probs(first, second).detach().view(3, 3)
    for a in range(3):
        for b in range(3):
            weight = probs[a, b] * scores[a, b]
            means[0] += weight * (torch.eye(3)[a] - first.detach().softmax(0))
            means[1][a] += weight * (torch.eye(3)[b] - second.detach()[a].softmax(0))
    assert_close([*direct], means)


@given(SEEDS)
def test_course_objective(seed):
    r"""J(\theta) = \sum_{y} P_\theta(y)\, s(y),
    \qquad P_\theta(y) = \prod_{t} \pi_\theta(a_t \mid s_t)
    """
    # Three tokens out of two: the mean score is found from the last token backwards.
    levels = [numbers(seed + t, 2**t, 2).softmax(1) for t in range(3)]
    scores = numbers(seed + 3, 8)
    products = [
        levels[0][0, y // 4] * levels[1][y // 4, y // 2 % 2] * levels[2][y // 2, y % 2]
        for y in range(8)
    ]
    means = scores
    for level in reversed(levels):
        means = (level * means.view(-1, 2)).sum(1)
    assert_close(torch.stack(products).sum().item(), 1.0)
    assert_close(torch.stack(products) @ scores, means[0])


@given(SEEDS)
def test_course_nothing_on_average(seed):
    r"""\mathbb{E}_{y}\big[\, \nabla \log P_\theta(y) \,\big]
    = \sum_{y} \nabla P_\theta(y) = \nabla \sum_{y} P_\theta(y) = \nabla 1 = 0
    """
    first, second, _ = random_tree(seed)
    for mean in mean_push(first, second, 1.0):
        assert_close(mean, torch.zeros_like(mean))


@given(SEEDS, st.floats(-10, 10))
def test_course_baseline(seed, b):
    r"""\nabla J = \mathbb{E}_{y}\big[\, (s(y) - b)\, \nabla \log P_\theta(y) \,\big]"""
    first, second, scores = random_tree(seed)
    direct = gradient_of_mean_score(first, second, scores)
    assert_close([*direct], mean_push(first, second, scores.flatten() - b))


@given(SEEDS)
def test_course_prefix_baseline(seed):
    r"""\mathbb{E}_{a_t}\big[\, V(s_t)\, \nabla \log \pi_\theta(a_t \mid s_t) \,\big]
    = V(s_t)\, \nabla \sum_{a_t} \pi_\theta(a_t \mid s_t) = 0
    """
    logits, value = numbers(seed, 5).requires_grad_(), numbers(seed + 1)
    probs = logits.softmax(0)
    mean = torch.zeros(5, dtype=torch.float64)
    for token in range(5):
        (push,) = torch.autograd.grad(probs[token].log(), logits, retain_graph=True)
        mean += probs[token].detach() * value * push
    (of_sum,) = torch.autograd.grad(probs.sum(), logits)
    assert_close(mean, value * of_sum)
    assert_close(mean, torch.zeros_like(mean))


@given(token_tensors(2))
def test_course_critic_loss(batch):
    r"""L = \frac{1}{2N} \sum_{t} \big(V(s_t) - G_t\big)^2"""
    (values, returns), mask = batch
    found = value_loss(
        values=values,
        old_values=values,
        returns=returns,
        response_mask=mask,
        value_clip_range=math.inf,
    ).loss
    errors = oracles.counted(values - returns, mask)
    assert_close(found.item(), oracles.mean([error**2 for error in errors]) / 2)


def near(number):
    return pytest.approx(number, abs=1e-12)


def rows(batch, gamma=1.0, gae_lambda=1.0):
    """Of each answer: rewards, values, TD errors, advantages, returns; 0 after it."""
    inputs = batch._replace(bootstrap_values=None)._asdict() | {"gamma": gamma}
    deltas = td_residuals(**inputs)
    advantages = gae(**inputs, gae_lambda=gae_lambda).advantages
    del inputs["values"]
    columns = deltas, advantages, monte_carlo_returns(**inputs)
    for i, mask in enumerate(batch.response_mask):
        given = batch.token_level_rewards, batch.values, *columns
        yield [[*x[i][mask].tolist(), 0.0] for x in given]


@given(token_batches())
def test_course_td_error(batch):
    r"""\delta_t = r_t + V(s_{t+1}) - V(s_t)"""
    for r, V, delta, _, _ in rows(batch):
        for t in range(len(r) - 1):
            assert delta[t] == near(r[t] + V[t + 1] - V[t])


@given(token_batches())
def test_course_telescope(batch):
    r"""\begin{aligned}
    \delta_0 + \delta_1 + \delta_2 ={}& r_0 + V(s_1) - V(s_0) \\
    &+ r_1 + V(s_2) - V(s_1) \\
    &+ r_2 + 0 - V(s_2) \\
    ={}& r_0 + r_1 + r_2 - V(s_0)
    \end{aligned}
    """
    for r, V, delta, _, G in rows(batch):
        for t in range(len(r)):
            assert sum(delta[t:]) == near(sum(r[t:]) - V[t])
            assert sum(delta[t:]) == near(G[t] - V[t])


@given(token_batches(), unit_interval)
def test_course_gae_recursion(batch, gae_lambda):
    r"""\hat A_t = \delta_t + \lambda\, \hat A_{t+1}"""
    for r, V, _, A, _ in rows(batch, gae_lambda=gae_lambda):
        for t in range(len(r) - 1):
            delta = r[t] + V[t + 1] - V[t]
            assert A[t] == near(delta + gae_lambda * A[t + 1])


@given(token_batches(), unit_interval)
def test_course_gae_weights(batch, gae_lambda):
    r"""\hat A_t = \delta_t + \lambda\,\delta_{t+1}
    + \lambda^2\,\delta_{t+2} + \cdots
    """
    for r, V, _, A, _ in rows(batch, gae_lambda=gae_lambda):
        delta = [r[t] + V[t + 1] - V[t] for t in range(len(r) - 1)]
        for t in range(len(delta)):
            total = sum(gae_lambda**k * later for k, later in enumerate(delta[t:]))
            assert A[t] == near(total)


@given(token_batches(), unit_interval, unit_interval)
def test_course_gae(batch, gamma, gae_lambda):
    r"""\begin{aligned}
    \delta_t &= r_t + \gamma V(s_{t+1}) - V(s_t) \\
    \hat A_t &= \delta_t + \gamma\lambda\, \hat A_{t+1}
    \end{aligned}
    """
    for r, V, delta, A, _ in rows(batch, gamma, gae_lambda):
        for t in range(len(r) - 1):
            assert delta[t] == near(r[t] + gamma * V[t + 1] - V[t])
            assert A[t] == near(delta[t] + gamma * gae_lambda * A[t + 1])


def two_policies(seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Logits of the actor being trained and of the old one; a function of the token."""
    new, old, f = numbers(seed, 3, 5)
    return new.requires_grad_(), old, f


def quotient(new: Tensor, old: Tensor) -> Tensor:
    return new.softmax(0) / old.softmax(0)


@given(SEEDS)
def test_course_ratio(seed):
    r"""\rho_t = \frac{\pi_\theta(a_t\mid s_t)}{\pi_{\mathrm{old}}(a_t\mid s_t)}
    = \exp\big(\log\pi_\theta(a_t\mid s_t) - \log\pi_{\mathrm{old}}(a_t\mid s_t)\big)
    """
    new, old, _ = two_policies(seed)
    difference = new.log_softmax(0) - old.log_softmax(0)
    assert_close(difference.exp(), quotient(new, old))


@given(SEEDS)
def test_course_importance(seed):
    r"""\sum_a \pi_\theta(a\mid s)\, f(a) = \sum_a \pi_{\mathrm{old}}(a\mid s)\,
    \frac{\pi_\theta(a\mid s)}{\pi_{\mathrm{old}}(a\mid s)}\, f(a)
    """
    new, old, f = two_policies(seed)
    wanted = new.softmax(0) @ f
    weighted = (old.softmax(0) * quotient(new, old) * f).sum()
    assert_close(wanted, weighted)


@given(SEEDS)
def test_course_ratio_gradient(seed):
    r"""\nabla \rho_t = \rho_t\, \nabla\log\pi_\theta(a_t\mid s_t)"""
    new, old, _ = two_policies(seed)
    for a in range(5):
        ratio = quotient(new, old)[a]
        (direct,) = torch.autograd.grad(ratio, new)
        # By the logits, the log-prob of token a has the gradient e_a - p.
        by_log = torch.eye(5, dtype=torch.float64)[a] - new.detach().softmax(0)
        assert_close(direct, ratio.detach() * by_log)


@given(SEEDS, st.floats(0.05, 0.5))
def test_course_clip(seed, eps):
    r"""L^{CLIP} = \mathbb{E}_t\big[\min\big(\rho_t \hat A_t,\
    \mathrm{clip}(\rho_t, 1-\varepsilon, 1+\varepsilon)\,\hat A_t\big)\big]
    """
    new, old, advantages = numbers(seed, 3, 2, 5)
    ratios = oracles.counted((new - old).exp(), MASK)
    terms = [
        min(rho * a, min(max(rho, 1 - eps), 1 + eps) * a)
        for rho, a in zip(ratios, oracles.counted(advantages, MASK), strict=True)
    ]
    judged = policy_loss(
        log_probs=new,
        old_log_probs=old,
        advantages=advantages,
        response_mask=MASK,
        clip_range=eps,
    )
    assert judged.loss.item() == near(-oracles.mean(terms))


@given(SEEDS)
def test_course_kl_mean(seed):
    r"""\mathrm{KL}(\pi \,\|\, \pi_{\mathrm{ref}}) = \mathbb{E}_{y \sim \pi}\Big[\log
    \frac{\pi(y)}{\pi_{\mathrm{ref}}(y)}\Big] \ge 0
    """
    logits = 3 * numbers(seed, 2, 7)
    pi, ref = (torch.distributions.Categorical(logits=row) for row in logits)
    mean = sum(
        pi.probs[y] * (pi.log_prob(y) - ref.log_prob(y)) for y in torch.arange(7)
    )
    assert_close(mean, torch.distributions.kl_divergence(pi, ref))
    assert mean >= 0


@given(SEEDS, st.integers(1, 5), st.floats(0, 2))
def test_course_kl_reward(seed, length, beta):
    r"""r_t = -\beta \big(\log \pi_{\mathrm{old}}(a_t \mid s_t)
    - \log \pi_{\mathrm{ref}}(a_t \mid s_t)\big)
    """
    (old, ref), s = numbers(seed, 2, 1, 5), numbers(seed + 1, 1)
    mask = torch.arange(5)[None] < length
    judged = token_level_rewards(
        token_level_scores=token_level_scores(s, mask),
        kl=old - ref,
        response_mask=mask,
        kl_coef=beta,
    )
    for t in range(length):
        r = -beta * (old - ref)[0, t]
        last = t == length - 1  # which receives the score on top
        assert_close(judged[0, t], r + s[0] if last else r)


@given(SEEDS)
def test_course_whitening(seed):
    r"""\hat A_t^{\,\mathrm{white}}
    = \frac{\hat A_t - \mu}{\sqrt{\sigma^2 + \epsilon}}
    """
    advantages = numbers(seed, 2, 5)
    white = oracles.whitened(oracles.counted(advantages, MASK), epsilon=1e-8)
    found = masked_whiten(advantages, MASK)
    assert oracles.counted(found, MASK) == pytest.approx(white)


def test_all_of_ppo_is_a_hundred_lines_of_torch_alone():
    source = Path(__file__).parents[2] / "snippets" / "course" / "one_file.py"
    whole = source.read_text("utf-8").split("# --8<-- [start:whole]\n")[1]
    whole = whole.split("# --8<-- [end:whole]")[0].rstrip()
    assert len(whole.splitlines()) == 100
    imports = [line for line in whole.splitlines() if "import " in line]
    assert imports == ["import copy", "import torch", "from torch import nn"]

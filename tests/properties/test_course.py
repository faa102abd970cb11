"""The formulas of the course, on random cases in float64."""

import math
import re
import statistics
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.autograd.functional import jacobian
from torch.testing import assert_close

from ppo_ref import loops
from ppo_ref.advantages import gae, monte_carlo_returns
from ppo_ref.examples import shared_batch
from ppo_ref.group_advantages import grpo, rloo
from ppo_ref.log_probs import kept_tokens, token_entropy
from ppo_ref.losses import value_loss
from ppo_ref.masking import masked_whiten
from ppo_ref.rewards import token_level_rewards, token_level_scores
from tests.properties.test_gae_identities import assert_as_looped
from tests.properties.test_losses import assert_clipped
from tests.strategies import numbers, token_batches, token_tensors, unit_interval

COURSE = Path(__file__).parents[2] / "snippets" / "course"
SEEDS = st.integers(0, 2**31)
MASK = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])


def answer_log_probs(logits: Tensor) -> Tensor:
    """Of two tokens out of three: row 0 draws the first, the others the second."""
    first, second = logits[0], logits[1:]
    return (first.log_softmax(0)[:, None] + second.log_softmax(1)).flatten()


def tree(seed: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Logits, each answer's probability and score, the gradient of its log-prob."""
    logits, scores = numbers(seed, 4, 3), numbers(seed + 1, 9)
    pushes = jacobian(answer_log_probs, logits)
    return logits, answer_log_probs(logits).exp(), scores, pushes


def gradient_of_mean_score(logits: Tensor, scores: Tensor) -> Tensor:
    return jacobian(lambda x: answer_log_probs(x).exp() @ scores, logits)


def mean(weights: Tensor, pushes: Tensor) -> Tensor:
    return (weights[:, None, None] * pushes).sum(0)


@given(SEEDS)
def test_course_log_trick(seed):
    r"""\nabla P_\theta(y) = P_\theta(y)\, \nabla \log P_\theta(y)"""
    logits, probs, _, pushes = tree(seed)
    direct = jacobian(lambda x: answer_log_probs(x).exp(), logits)
    assert_close(direct, probs[:, None, None] * pushes)


@given(SEEDS)
def test_course_policy_gradient(seed):
    r"""\nabla J = \sum_{y} P_\theta(y)\, \mathrm{score}(y)\, \nabla
    \log P_\theta(y) = \mathbb{E}_{y}\big[\, \mathrm{score}(y)\, \nabla
    \log P_\theta(y) \,\big]
    """
    logits, probs, scores, pushes = tree(seed)
    direct = gradient_of_mean_score(logits, scores)
    assert_close(direct, mean(probs * scores, pushes))


@given(SEEDS)
def test_course_token_gradient(seed):
    r"""\nabla J = \mathbb{E}\Big[\, \mathrm{score}(y) \sum_{t}
    \nabla \log \pi_\theta(a_t \mid s_t) \,\Big]
    """
    # The log-prob of a token moves the logits of its own prefix alone, by e_a - p.
    logits, probs, scores, _ = tree(seed)
    one_hot, pi = torch.eye(3).double(), logits.softmax(1)
    expected = torch.zeros_like(logits)
    for y, weight in enumerate(probs * scores):
        a, b = divmod(y, 3)
        expected[0] += weight * (one_hot[a] - pi[0])
        expected[1 + a] += weight * (one_hot[b] - pi[1 + a])
    assert_close(gradient_of_mean_score(logits, scores), expected)


@given(SEEDS)
def test_course_objective(seed):
    r"""J(\theta) = \sum_{y} P_\theta(y)\, \mathrm{score}(y),
    \qquad P_\theta(y) = \prod_{t} \pi_\theta(a_t \mid s_t)
    """
    # The mean score is found from the last token backwards.
    logits, probs, scores, _ = tree(seed)
    pi = logits.softmax(1)
    assert_close(probs.sum().item(), 1.0)
    assert_close(probs @ scores, pi[0] @ (pi[1:] * scores.view(3, 3)).sum(1))


@given(SEEDS)
def test_course_nothing_on_average(seed):
    r"""\mathbb{E}_{y}\big[\, \nabla \log P_\theta(y) \,\big]
    = \sum_{y} \nabla P_\theta(y) = \nabla \sum_{y} P_\theta(y) = \nabla 1 = 0
    """
    logits, probs, _, pushes = tree(seed)
    assert_close(mean(probs, pushes), torch.zeros_like(logits))


@given(SEEDS, st.floats(-10, 10))
def test_course_baseline(seed, b):
    r"""\nabla J = \mathbb{E}_{y}\big[\, (\mathrm{score}(y) - b)\,
    \nabla \log P_\theta(y) \,\big]
    """
    logits, probs, scores, pushes = tree(seed)
    direct = gradient_of_mean_score(logits, scores)
    assert_close(direct, mean(probs * (scores - b), pushes))


@given(SEEDS)
def test_course_prefix_baseline(seed):
    r"""\mathbb{E}_{a_t}\big[\, V(s_t)\, \nabla \log \pi_\theta(a_t \mid s_t) \,\big]
    = V(s_t)\, \nabla \sum_{a_t} \pi_\theta(a_t \mid s_t) = 0
    """
    logits, value = numbers(seed, 5), numbers(seed + 1)
    pushes = jacobian(lambda x: x.log_softmax(0), logits)
    of_sum = jacobian(lambda x: x.softmax(0).sum(), logits)
    assert_close(value * logits.softmax(0) @ pushes, value * of_sum)
    assert_close(of_sum, torch.zeros_like(of_sum))


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
    errors = loops.counted(values - returns, mask)
    assert_close(found.item(), loops.mean([error**2 for error in errors]) / 2)


# Every answer of the course ends: nothing is bootstrapped.
ended = token_batches().map(lambda batch: batch._replace(bootstrap_values=None))


@given(ended)
def test_course_td_error(batch):
    r"""\delta_t = r_t + V(s_{t+1}) - V(s_t)"""
    assert_as_looped(batch)


def sums_ahead(batch, gae_lambda):
    """The delta of every token and all later ones, each step less by lambda."""

    def of_row(rewards, values, end):
        deltas = loops.td_residuals(rewards, values, end, gamma=1)
        return loops.monte_carlo_returns(deltas, 0.0, gamma=gae_lambda)

    given = batch.token_level_rewards, batch.values
    return loops.over_rows(of_row, batch.response_mask, *given)


@given(ended)
def test_course_telescope(batch):
    r"""\begin{aligned}
    \delta_0 + \delta_1 + \delta_2 ={}& r_0 + V(s_1) - V(s_0) \\
    &+ r_1 + V(s_2) - V(s_1) \\
    &+ r_2 + 0 - V(s_2) \\
    ={}& r_0 + r_1 + r_2 - V(s_0)
    \end{aligned}
    """
    inputs = batch._asdict()
    values = torch.where(batch.response_mask, inputs.pop("values"), 0)
    assert_close(sums_ahead(batch, 1), monte_carlo_returns(**inputs) - values)


@given(ended, unit_interval)
def test_course_gae_recursion(batch, gae_lambda):
    r"""\hat A_t = \delta_t + \lambda\, \hat A_{t+1}"""
    assert_as_looped(batch, gae_lambda=gae_lambda)


@given(ended, unit_interval)
def test_course_gae_weights(batch, gae_lambda):
    r"""\hat A_t = \delta_t + \lambda\,\delta_{t+1}
    + \lambda^2\,\delta_{t+2} + \cdots
    """
    found = gae(**batch._asdict(), gae_lambda=gae_lambda).advantages
    assert_close(found, sums_ahead(batch, gae_lambda))


@given(ended, unit_interval, unit_interval)
def test_course_gae(batch, gamma, gae_lambda):
    r"""\begin{aligned}
    \delta_t &= r_t + \gamma V(s_{t+1}) - V(s_t) \\
    \hat A_t &= \delta_t + \gamma\lambda\, \hat A_{t+1}
    \end{aligned}
    """
    assert_as_looped(batch, gamma, gae_lambda)


@given(SEEDS)
def test_course_ratio(seed):
    r"""\rho_t = \frac{\pi_\theta(a_t\mid s_t)}{\pi_{\mathrm{old}}(a_t\mid s_t)}
    = \exp\big(\log\pi_\theta(a_t\mid s_t) - \log\pi_{\mathrm{old}}(a_t\mid s_t)\big)
    """
    new, old = numbers(seed, 2, 5)
    difference = new.log_softmax(0) - old.log_softmax(0)
    assert_close(difference.exp(), new.softmax(0) / old.softmax(0))


@given(SEEDS)
def test_course_importance(seed):
    r"""\sum_a \pi_\theta(a\mid s)\, f(a) = \sum_a \pi_{\mathrm{old}}(a\mid s)\,
    \frac{\pi_\theta(a\mid s)}{\pi_{\mathrm{old}}(a\mid s)}\, f(a)
    """
    new, old, f = numbers(seed, 3, 5)
    ratio = (new.log_softmax(0) - old.log_softmax(0)).exp()
    assert_close(new.softmax(0) @ f, (old.softmax(0) * ratio * f).sum())


@given(SEEDS)
def test_course_ratio_gradient(seed):
    r"""\nabla \rho_t = \rho_t\, \nabla\log\pi_\theta(a_t\mid s_t)"""
    new, old = numbers(seed, 2, 5)
    direct = jacobian(lambda x: x.softmax(0) / old.softmax(0), new)
    # By the logits, the log-prob of token a has the gradient e_a - p.
    by_log = torch.eye(5).double() - new.softmax(0)
    assert_close(direct, (new.softmax(0) / old.softmax(0))[:, None] * by_log)


@given(token_tensors(3), st.floats(0.05, 0.5))
def test_course_clip(batch, eps):
    r"""L^{CLIP} = \mathbb{E}_t\big[\min\big(\rho_t \hat A_t,\
    \mathrm{clip}(\rho_t, 1-\varepsilon, 1+\varepsilon)\,\hat A_t\big)\big]
    """
    assert_clipped(batch, eps)


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
    white = loops.whitened(loops.counted(advantages, MASK), epsilon=1e-8)
    found = masked_whiten(advantages, MASK)
    assert loops.counted(found, MASK) == pytest.approx(white)


def one_group(seed: int, length: int = 3) -> dict[str, Tensor]:
    """Five answers to one prompt, scored at their ends."""
    rewards = torch.zeros(5, length).double()
    rewards[:, -1] = numbers(seed, 5)
    mask = torch.ones_like(rewards, dtype=torch.bool)
    groups = torch.zeros(5, dtype=torch.long)
    return {"token_level_rewards": rewards, "response_mask": mask, "groups": groups}


@given(SEEDS)
def test_course_grpo(seed):
    r"""\hat A_i = \frac{s_i - \bar s}{\mathrm{std}(s) + \epsilon}"""
    batch = one_group(seed)
    scores = batch["token_level_rewards"][:, -1].tolist()
    expected = [
        (s - statistics.mean(scores)) / (statistics.stdev(scores) + 1e-6)
        for s in scores
    ]
    found = grpo(**batch).advantages
    assert_close(found, torch.tensor(expected).double()[:, None].expand(5, 3))


@given(SEEDS)
def test_course_rloo(seed):
    r"""\hat A_i = s_i - \frac{1}{n-1}\sum_{j \ne i} s_j
    = \frac{n}{n-1}\,(s_i - \bar s)
    """
    batch = one_group(seed)
    scores = batch["token_level_rewards"][:, -1].tolist()
    for i, found in enumerate(rloo(**batch).advantages[:, 0].tolist()):
        others = scores[:i] + scores[i + 1 :]
        assert found == pytest.approx(scores[i] - sum(others) / 4)
        assert found == pytest.approx(5 / 4 * (scores[i] - sum(scores) / 5))


def test_all_of_ppo_is_a_hundred_lines_of_torch_alone():
    whole = section("whole", "one_file").rstrip()
    assert len(whole.splitlines()) == 100
    imports = [line for line in whole.splitlines() if "import " in line]
    assert imports == ["import copy", "import torch", "from torch import nn"]


def test_the_curve_of_the_one_file_is_drawn_as_its_page_computes_it():
    names: dict[str, list[float]] = {}
    whole = section("whole", "one_file").split("for _ in range(25)")[0]
    try:
        exec(whole + section("train", "one_file"), names)
    finally:
        torch.set_default_dtype(torch.float32)
    svg = (COURSE / "one_file.svg").read_text("utf-8")
    (zero,) = re.findall(r'<path d="M34 (\d+)H', svg)
    lines = re.findall(r'<polyline class="(\w+)" points="([^"]*)"', svg)
    drawn = {color: [p.split(",") for p in points.split()] for color, points in lines}
    for color, name in ("accent", "right"), ("second", "expected"):
        heights = [(int(zero) - float(y)) / 140 for _, y in drawn[color]]
        assert heights == pytest.approx(names[name], abs=0.1 / 140)


def section(name: str, page: str = "kl_term") -> str:
    """A part of the code of a step."""
    rest = (COURSE / f"{page}.py").read_text("utf-8")
    rest = rest.split(f"# --8<-- [start:{name}]\n")[1]
    return rest.split(f"# --8<-- [end:{name}]")[0]


def test_what_step_11_averages_over_can_all_be_written_at_one_place():
    names: dict[str, Tensor] = {"torch": torch}
    exec(section("kld") + section("mean"), names)
    batch = shared_batch()
    stored = {"actor": batch.old_log_probs, "reference": batch.ref_log_probs}
    for name, log_probs in stored.items():
        probs, first = names[name], log_probs[:, 0].exp()  # after the same prompt
        assert probs.sum().item() == pytest.approx(1)
        taken = torch.isclose(probs[:, None].double(), first).any()
        assert not taken or first.sum() <= 1, name


@given(SEEDS, st.floats(0.2, 5))
def test_course_temperature(seed, temperature):
    r"""q(a \mid s) = \frac{\pi(a \mid s)^{1/T}}{\sum_{b} \pi(b \mid s)^{1/T}}"""
    logits = numbers(seed, 5)
    powers = logits.softmax(0) ** (1 / temperature)
    assert_close((logits / temperature).softmax(0), powers / powers.sum())


@given(SEEDS, st.floats(0.05, 1), st.floats(0.2, 5))
def test_course_mean_weight(seed, top_p, temperature):
    r"""\sum_{a:\, q(a \mid s) > 0} q(a \mid s)\, \frac{\pi(a \mid s)}{q(a \mid s)}
    = \sum_{a:\, q(a \mid s) > 0} \pi(a \mid s)
    """
    logits = numbers(seed, 1, 1, 5)
    kept = kept_tokens(logits, top_p=top_p, temperature=temperature)[0, 0]
    pi = logits[0, 0].softmax(0)
    cut = (logits[0, 0] / temperature).softmax(0) * kept
    q = cut / cut.sum()
    weights = pi[kept] / q[kept]
    assert_close(q[kept] @ weights, pi[kept].sum())
    if kept.all():
        assert_close((q @ weights).item(), 1.0)
    if temperature == 1:
        assert (weights <= 1 + 1e-12).all()


@given(SEEDS)
def test_course_entropy(seed):
    r"""H(s) = -\sum_{a} \pi(a \mid s) \log \pi(a \mid s)"""
    logits = 3 * numbers(seed, 6)
    expected = -sum(p * math.log(p) for p in logits.softmax(0).tolist())
    found = token_entropy(logits[None, None]).item()
    assert_close(found, expected)
    assert 0 <= found <= math.log(6) + 1e-12


@given(SEEDS)
def test_course_entropy_gradient(seed):
    r"""\frac{\partial H(s)}{\partial z_a}
    = \pi(a \mid s)\, \big(-\log \pi(a \mid s) - H(s)\big)
    """
    logits = 3 * numbers(seed, 6)
    direct = jacobian(lambda z: token_entropy(z[None, None]).sum(), logits)
    surprise = -logits.log_softmax(0)
    pi = surprise.neg().exp()
    assert_close(direct, pi * (surprise - pi @ surprise))

"""The losses beside loops: their values, their gradients, and what they never read."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ppo_ref import loops
from ppo_ref.advantages import gae
from ppo_ref.clip_variants import cispo_loss, gmpo_loss, gspo_loss, sapo_loss
from ppo_ref.losses import policy_loss, surrogate_objective, value_loss
from tests.strategies import (
    numbers,
    poisoned,
    token_batches,
    token_tensors,
    unit_interval,
)

MASK = torch.tensor([[True, True, False], [True, False, True]])
clip_widths = st.sampled_from([0.1, 0.2, 0.28, 0.5])
reaches = st.sampled_from([0, 0.3, 1, math.inf])


def near(numbers):
    return pytest.approx(numbers, rel=1e-9, abs=1e-9)


def policy_inputs(tensors, mask):
    log_probs, old_log_probs, advantages = tensors
    return {
        "log_probs": log_probs,
        "old_log_probs": old_log_probs,
        "advantages": advantages,
        "response_mask": mask,
    }


def listed(tensors, mask):
    return list(zip(*(loops.counted(x, mask) for x in tensors), strict=True))


def ratios(batch):
    """The ratio and the advantage of each token that counts."""
    return [(math.exp(new - old), a) for new, old, a in listed(*batch)]


def gradient(objective, by, mask):
    (found,) = torch.autograd.grad(objective, by)
    assert not found[~mask].any()
    return found[mask].tolist()


@given(token_tensors(3))
def test_surrogate_cpi(batch):
    r"""L^{CPI}(\theta) = \hat{\mathbb{E}}_t\big[\rho_t \hat A_t\big]"""
    wanted = loops.mean([ratio * a for ratio, a in ratios(batch)])
    assert surrogate_objective(**policy_inputs(*batch)).item() == near(wanted)


def assert_clipped(batch, width):
    """The loss is the negative mean of the smaller terms."""
    terms = [
        min(ratio * a, min(max(ratio, 1 - width), 1 + width) * a)
        for ratio, a in ratios(batch)
    ]
    loss = policy_loss(**policy_inputs(*batch), clip_range=width).loss.item()
    assert -loss == pytest.approx(loops.mean(terms), rel=1e-9, abs=1e-12)
    assert -loss <= surrogate_objective(**policy_inputs(*batch)).item() + 1e-9


@given(token_tensors(3), clip_widths)
def test_surrogate_clip(batch, width):
    r"""
    \begin{aligned}
    L^{CLIP}(\theta) = \hat{\mathbb{E}}_t\big[\min\big(&\rho_t \hat A_t,\\
    &\mathrm{clip}(\rho_t, 1-\varepsilon, 1+\varepsilon)\,\hat A_t\big)\big]
    \end{aligned}

    The loss is its negative, and it is never above the unclipped objective.
    """
    assert_clipped(batch, width)


@given(token_tensors(2), clip_widths)
def test_first_gradient(batch, width):
    r"""
    \nabla L^{CPI} = \nabla L^{CLIP}
    = \hat{\mathbb{E}}_t\big[\hat A_t \nabla \log \pi_\theta(a_t \mid s_t)\big]

    At the old parameters, where all ratios are 1; the values are the mean advantage.
    """
    (log_probs, advantages), mask = batch
    log_probs.requires_grad_()
    inputs = policy_inputs((log_probs, log_probs.detach(), advantages), mask)
    counted = loops.counted(advantages, mask)
    wanted = [a / len(counted) for a in counted]
    clipped = -policy_loss(**inputs, clip_range=width).loss
    for objective in (surrogate_objective(**inputs), clipped):
        assert objective.item() == near(loops.mean(counted))
        assert gradient(objective, log_probs, mask) == near(wanted)


@given(token_tensors(3), clip_widths, st.sampled_from([None, 1.5, 3.0]))
def test_clipped_gradient(batch, width, dual_clip):
    r"""
    \frac{\partial \min(\cdot)}{\partial \log \pi_\theta} =
    \begin{cases}
    0 & (\rho_t - 1)\,\mathrm{sgn}\,\hat A_t > \varepsilon \\
    \rho_t \hat A_t & (\rho_t - 1)\,\mathrm{sgn}\,\hat A_t < \varepsilon
    \end{cases}

    Dual clip takes it too where the advantage is negative and the ratio above its
    bound.
    """
    wanted = []
    for ratio, a in ratios(batch):
        clipped = (ratio - 1) * math.copysign(1, a) > width
        bounded = dual_clip is not None and a < 0 and ratio > dual_clip
        wanted.append(0.0 if clipped or bounded else ratio * a / len(ratios(batch)))
    inputs = policy_inputs(*batch)
    log_probs = inputs["log_probs"].requires_grad_()
    found = policy_loss(**inputs, clip_range=width, dual_clip=dual_clip).loss
    assert gradient(-found, log_probs, batch[1]) == near(wanted)


@given(
    token_tensors(4),
    st.sampled_from([0.2, 0, (0.1, 0.3), (0.5, 0.0)]),
    st.sampled_from([None, 1.5, 3]),
)
def test_policy_loss_is_the_mean_of_the_token_losses(batch, clip_range, dual_clip):
    (*tensors, x), mask = batch
    low, high = clip_range if isinstance(clip_range, tuple) else (clip_range,) * 2
    bounds = (low, high, dual_clip)
    losses = [
        loops.policy_loss(ratio, a, *bounds) for ratio, a in ratios((tensors, mask))
    ]
    clipped = [
        (a > 0 and ratio > 1 + high) or (a < 0 and ratio < 1 - low)
        for ratio, a in ratios((tensors, mask))
    ]
    shifts = [old - new for new, old, _ in listed(tensors, mask)]
    options = {"clip_range": clip_range, "dual_clip": dual_clip}
    bare = policy_loss(**policy_inputs(tensors, mask), **options)
    assert bare.loss.item() == near(loops.mean(losses))
    assert bare.clip_fraction.item() == near(loops.mean(clipped))
    assert bare.approx_kl.item() == near(loops.mean(shifts))
    weights = loops.counted(x.exp(), mask)
    weighed = [w * loss for w, loss in zip(weights, losses, strict=True)]
    found = policy_loss(
        **policy_inputs(tensors, mask), **options, rollout_weights=x.exp()
    )
    assert found.loss.item() == near(loops.mean(weighed))
    assert found[1:] == bare[1:]


@pytest.mark.parametrize("sign", [1, -1])
def test_a_collapsed_actor_gives_finite_gradients(sign):
    log_probs = torch.tensor([[500.0, -500.0]], requires_grad=True)
    inputs = log_probs, torch.zeros(1, 2), torch.full((1, 2), float(sign))
    loss = policy_loss(**policy_inputs(inputs, torch.ones(1, 2).bool())).loss
    loss.backward()
    assert loss.isfinite() and log_probs.grad.isfinite().all()


def value_loss_of(values, old_values, returns, mask, reach):
    """The loss, its clip fraction, and its gradient by the values."""
    values = values.detach().requires_grad_()
    result = value_loss(
        values=values,
        old_values=old_values,
        returns=returns,
        response_mask=mask,
        value_clip_range=reach,
    )
    (slope,) = torch.autograd.grad(result.loss, values)
    return result.loss.item(), result.clip_fraction.item(), slope


@given(token_tensors(3), reaches)
def test_value_loss(batch, reach):
    r"""\begin{aligned}
    \bar V_t &= \mathrm{clip}(V_t,\ V^{\mathrm{old}}_t \pm c) \\
    L &= \frac{1}{2N} \sum_t \max\bigl((V_t - R_t)^2, (\bar V_t - R_t)^2\bigr)
    \end{aligned}

    Over the N tokens that count, whatever the padding holds.
    """
    losses, clipped = [], []
    for v, old, r in listed(*batch):
        pair = (v - r) ** 2, (min(max(v, old - reach), old + reach) - r) ** 2
        losses.append(max(pair))
        clipped.append(pair[1] > pair[0])
    loss, clip_fraction, _ = value_loss_of(*batch[0], batch[1], reach)
    assert loss == near(math.fsum(losses) / (2 * len(losses)))
    assert clip_fraction == near(loops.mean(clipped))


@given(token_tensors(3), reaches)
def test_value_clip_gradient(batch, reach):
    r"""N \frac{\partial L}{\partial V_t} = \begin{cases}
    0 & |V_t - R_t| < |\bar V_t - R_t| \\
    V_t - R_t & |V_t - R_t| \ge |\bar V_t - R_t|
    \end{cases}

    Only a value outside the range, on the side of its target, has none: the clip
    never pulls back, and no loss falls below the plain one.
    """
    *_, slope = value_loss_of(*batch[0], batch[1], reach)
    tokens = listed((*batch[0], slope), batch[1])
    for v, old, r, pull in tokens:
        clipped = min(max(v, old - reach), old + reach)
        stopped = abs(v - r) < abs(clipped - r)
        if stopped:
            assert abs(v - old) > reach and (v - old) * (r - old) > 0
        assert pull * len(tokens) == near(0 if stopped else v - r)
    assert (slope[~batch[1]] == 0).all()


@given(token_batches(), unit_interval, unit_interval, st.integers(0, 999))
def test_value_gradient(batch, gamma, gae_lambda, seed):
    r"""\begin{aligned}
    \nabla_\phi L &= -\frac{1}{N} \sum_t d_t\, \nabla_\phi V_\phi(s_t) \\
    d_t &= \hat A_t - \bigl(V_\phi(s_t) - V_{\mathrm{old}}(s_t)\bigr)
    \end{aligned}

    For a critic linear in three parameters, before and after it has moved.
    """
    mask = batch.response_mask
    if not mask.any():
        return
    features = numbers(seed, *mask.shape, 3)
    old_weights, moved = numbers(seed + 1, 2, 3)
    old = features @ old_weights
    inputs = batch._asdict() | {"values": old}
    advantages, returns = gae(**inputs, gamma=gamma, gae_lambda=gae_lambda)
    for weights in (old_weights, moved):
        now = weights.clone().requires_grad_()
        loss = value_loss(
            values=features @ now,
            old_values=old,
            returns=returns,
            response_mask=mask,
            value_clip_range=math.inf,
        ).loss
        (found,) = torch.autograd.grad(loss, now)
        pulls = advantages - features @ (weights - old_weights)
        wanted = -(pulls[..., None] * features)[mask].mean(0)
        assert found.tolist() == near(wanted.tolist())


def test_gradient_reaches_the_trained_model_alone_and_no_padding():
    seven = numbers(3, 7, 2, 3).exp()  # a weight is never below 0
    tensors = [poisoned(x, MASK).requires_grad_() for x in seven]
    values, old_values, returns, weights = tensors[3:]
    given = policy_inputs(tensors[:3], MASK)
    loss = policy_loss(**given, rollout_weights=weights).loss
    loss += surrogate_objective(**given)
    loss += value_loss(
        values=values,
        old_values=old_values,
        returns=returns,
        response_mask=MASK,
        value_clip_range=10.0,
    ).loss
    loss.backward()
    for trained in (tensors[0], values):
        assert trained.grad.isfinite().all()
        assert not trained.grad[~MASK].any()
        assert trained.grad[MASK].any()
    for constant in (tensors[1], tensors[2], old_values, returns, weights):
        assert constant.grad is None


def rows(tensors, mask):
    """The tokens of each row that has one: log-prob, log-ratio, advantage."""
    for kept, *row in zip(mask, *tensors, strict=True):
        if kept.any():
            yield [
                (new, new - old, a)
                for new, old, a in zip(*(x[kept].tolist() for x in row), strict=True)
            ]


def slopes(loss, tensors, mask, **options):
    """The loss, its clip fraction, and its gradient on each token, 0 off the mask."""
    tensors[0].requires_grad_()
    found = loss(**policy_inputs(tensors, mask), **options)
    (slope,) = torch.autograd.grad(found.loss, tensors[0])
    tensors[0].requires_grad_(False)
    assert not slope[~mask].any()
    return found.loss.item(), found.clip_fraction.item(), slope[mask].tolist()


def by_row(tensors, mask, of_row):
    """Loss, clipped share and gradient, if each response weighs the same."""
    lists = [*rows(tensors, mask)]
    found = [of_row(row) for row in lists]
    losses = [loops.mean([loss for loss, *_ in row]) for row in found]
    clipped = [token[1] for row in found for token in row]
    slope = [token[2] / len(row) / len(lists) for row in found for token in row]
    return near(loops.mean(losses)), near(loops.mean(clipped)), near(slope)


@given(token_tensors(3))
def test_gspo_has_one_ratio_for_a_response(batch):
    def of_row(row):
        ratio = math.exp(loops.mean([d for _, d, _ in row]))
        for _, _, a in row:
            out = (ratio > 1.3 and a > 0) or (ratio < 0.8 and a < 0)
            loss = loops.policy_loss(ratio, a, 0.2, 0.3, None)
            yield loss, out, 0 if out else -ratio * a

    found = slopes(gspo_loss, *batch, clip_range=(0.2, 0.3))
    assert found == by_row(*batch, lambda row: [*of_row(row)])


@given(token_tensors(3))
def test_gmpo_clips_within_the_mean(batch):
    """A token whose advantage is exactly 0 has no sign, and moves no ratio."""
    (log_probs, old_log_probs, advantages), mask = batch
    advantages = torch.where(advantages.abs() < 0.5, 0, advantages)

    def of_row(row):
        outs = [(d > 0.3 and a > 0) or (d < -0.2 and a < 0) for _, d, a in row]
        signs = [(a > 0) - (a < 0) for *_, a in row]
        within = [
            min(s * d, s * min(max(d, -0.2), 0.3)) * s
            for s, (_, d, _) in zip(signs, row, strict=True)
        ]
        loss = -loops.mean([a for *_, a in row]) * math.exp(loops.mean(within))
        pairs = zip(outs, signs, strict=True)
        return [(loss, out, 0 if out or not sign else loss) for out, sign in pairs]

    given = (log_probs, old_log_probs, advantages), mask
    found = slopes(gmpo_loss, *given, clip_range=(0.2, 0.3))
    assert found == by_row(*given, of_row)


@given(token_tensors(3))
def test_cispo_keeps_every_gradient(batch):
    tokens = [token for row in rows(*batch) for token in row]
    weights = [min(max(math.exp(d), 0.7), 1.3) for _, d, _ in tokens]
    pairs = [*zip(tokens, weights, strict=True)]
    loss, clipped, slope = slopes(cispo_loss, *batch, bounds=(0.7, 1.3))
    assert loss == near(loops.mean([-w * a * new for (new, _, a), w in pairs]))
    assert clipped == near(loops.mean([math.exp(d) != w for (_, d, _), w in pairs]))
    assert slope == near([-w * a / len(pairs) for (_, _, a), w in pairs])


@given(token_tensors(3))
def test_sapo_lets_the_gradient_fade(batch):
    def of_row(row):
        for _, d, a in row:
            tau = 1.5 if a > 0 else 2.5
            gate = 1 / (1 + math.exp(-tau * (math.exp(d) - 1)))
            yield -a * gate * 4 / tau, 0, -a * 4 * gate * (1 - gate) * math.exp(d)

    found = slopes(sapo_loss, *batch, temperatures=(1.5, 2.5))
    assert found == by_row(*batch, lambda row: [*of_row(row)])

"""The two surrogate objectives: their values, and where they have a gradient."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ppo_ref.losses import policy_loss, surrogate_objective
from tests import oracles
from tests.strategies import token_tensors

clip_widths = st.sampled_from([0.1, 0.2, 0.28, 0.5])


def inputs(batch):
    (log_probs, old_log_probs, advantages), mask = batch
    return {
        "log_probs": log_probs.clone().requires_grad_(),
        "old_log_probs": old_log_probs,
        "advantages": advantages,
        "response_mask": mask,
    }


def tokens(batch):
    """The ratio and the advantage of each token that counts."""
    (log_probs, old_log_probs, advantages), mask = batch
    rows = (oracles.counted(x, mask) for x in (log_probs, old_log_probs, advantages))
    return [(math.exp(new - old), a) for new, old, a in zip(*rows, strict=True)]


def gradient(objective, log_probs, mask):
    (found,) = torch.autograd.grad(objective, log_probs)
    assert not found[~mask].any()
    return found[mask].tolist()


@given(token_tensors(3))
def test_surrogate_cpi(batch):
    r"""L^{CPI}(\theta) = \hat{\mathbb{E}}_t\big[\rho_t \hat A_t\big]"""
    wanted = oracles.mean([ratio * a for ratio, a in tokens(batch)])
    found = surrogate_objective(**inputs(batch)).item()
    assert found == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@given(token_tensors(3), clip_widths)
def test_surrogate_clip(batch, width):
    r"""
    \begin{aligned}
    L^{CLIP}(\theta) = \hat{\mathbb{E}}_t\big[\min\big(&\rho_t \hat A_t,\\
    &\mathrm{clip}(\rho_t, 1-\varepsilon, 1+\varepsilon)\,\hat A_t\big)\big]
    \end{aligned}

    The loss is its negative, and it is never above the unclipped objective.
    """
    terms = [
        min(ratio * a, min(max(ratio, 1 - width), 1 + width) * a)
        for ratio, a in tokens(batch)
    ]
    found = -policy_loss(**inputs(batch), clip_range=width).loss.item()
    assert found == pytest.approx(oracles.mean(terms), rel=1e-9, abs=1e-9)
    assert found <= surrogate_objective(**inputs(batch)).item() + 1e-9


@given(token_tensors(2), clip_widths)
def test_first_gradient(batch, width):
    r"""
    \nabla L^{CPI} = \nabla L^{CLIP}
    = \hat{\mathbb{E}}_t\big[\hat A_t \nabla \log \pi_\theta(a_t \mid s_t)\big]

    At the old parameters, where all ratios are 1; the values are the mean advantage.
    """
    (old_log_probs, advantages), mask = batch
    at_old = ((old_log_probs, old_log_probs, advantages), mask)
    counted = oracles.counted(advantages, mask)
    wanted = [a / len(counted) for a in counted]
    for objective in (
        lambda given: surrogate_objective(**given),
        lambda given: -policy_loss(**given, clip_range=width).loss,
    ):
        given_ = inputs(at_old)
        value = objective(given_)
        assert value.item() == pytest.approx(oracles.mean(counted), abs=1e-12)
        found = gradient(value, given_["log_probs"], mask)
        assert found == pytest.approx(wanted, abs=1e-12)


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
    for ratio, a in tokens(batch):
        clipped = (ratio - 1) * math.copysign(1, a) > width
        bounded = dual_clip is not None and a < 0 and ratio > dual_clip
        wanted.append(0.0 if clipped or bounded else ratio * a / len(tokens(batch)))
    given_ = inputs(batch)
    found = policy_loss(**given_, clip_range=width, dual_clip=dual_clip).loss
    slopes = gradient(-found, given_["log_probs"], batch[1])
    assert slopes == pytest.approx(wanted, rel=1e-9, abs=1e-9)

"""The losses after PPO's clip beside loops: values and gradients."""

import math

import pytest
import torch
from hypothesis import given

from ppo_ref.clip_variants import cispo_loss, gmpo_loss, gspo_loss, sapo_loss
from tests import oracles
from tests.strategies import token_tensors


def near(numbers):
    return pytest.approx(numbers, rel=1e-9, abs=1e-9)


def inputs(tensors, mask):
    names = "log_probs", "old_log_probs", "advantages"
    return {**dict(zip(names, tensors, strict=True)), "response_mask": mask}


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
    found = loss(**inputs(tensors, mask), **options)
    (slope,) = torch.autograd.grad(found.loss, tensors[0])
    tensors[0].requires_grad_(False)
    assert not slope[~mask].any()
    return found.loss.item(), found.clip_fraction.item(), slope[mask].tolist()


def by_row(tensors, mask, of_row):
    """Loss, clipped share and gradient, if each response weighs the same."""
    lists = [*rows(tensors, mask)]
    found = [of_row(row) for row in lists]
    losses = [oracles.mean([loss for loss, *_ in row]) for row in found]
    clipped = [token[1] for row in found for token in row]
    slope = [token[2] / len(row) / len(lists) for row in found for token in row]
    return near(oracles.mean(losses)), near(oracles.mean(clipped)), near(slope)


@given(token_tensors(3))
def test_gspo_has_one_ratio_for_a_response(batch):
    def of_row(row):
        ratio = math.exp(oracles.mean([d for _, d, _ in row]))
        for _, _, a in row:
            out = (ratio > 1.3 and a > 0) or (ratio < 0.8 and a < 0)
            loss = oracles.policy_token_loss(ratio, a, 0.2, 0.3, None)
            yield loss, out, 0 if out else -ratio * a

    found = slopes(gspo_loss, *batch, clip_range=(0.2, 0.3))
    assert found == by_row(*batch, lambda row: [*of_row(row)])


@given(token_tensors(3))
def test_gmpo_clips_within_the_mean(batch):
    def of_row(row):
        outs = [(d > 0.3 and a > 0) or (d < -0.2 and a < 0) for _, d, a in row]
        near_ = [min(max(d, -0.2), 0.3) for _, d, _ in row]
        pairs = zip(row, outs, near_, strict=True)
        within = [limit if out else d for (_, d, _), out, limit in pairs]
        loss = -oracles.mean([a for *_, a in row]) * math.exp(oracles.mean(within))
        return [(loss, out, 0 if out else loss) for out in outs]

    found = slopes(gmpo_loss, *batch, clip_range=(0.2, 0.3))
    assert found == by_row(*batch, of_row)


@given(token_tensors(3))
def test_cispo_keeps_every_gradient(batch):
    tokens = [token for row in rows(*batch) for token in row]
    weights = [min(max(math.exp(d), 0.7), 1.3) for _, d, _ in tokens]
    pairs = [*zip(tokens, weights, strict=True)]
    loss, clipped, slope = slopes(cispo_loss, *batch, bounds=(0.7, 1.3))
    assert loss == near(oracles.mean([-w * a * new for (new, _, a), w in pairs]))
    assert clipped == near(oracles.mean([math.exp(d) != w for (_, d, _), w in pairs]))
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

"""The losses after PPO's clip beside loops: values, gradients, and what they share."""

import math
import xml.etree.ElementTree as ET
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from hypothesis import given

from ppo_ref.aggregation import sequence_mean_token_mean, token_mean, token_sum
from ppo_ref.clip_variants import cispo_loss, gmpo_loss, gspo_loss, sapo_loss
from ppo_ref.losses import policy_loss
from tests import oracles
from tests.strategies import token_tensors

PICTURE = Path(__file__).parents[2] / "snippets" / "on_policy" / "clip_variants.svg"
SVG = "{http://www.w3.org/2000/svg}"
LOSSES = [gspo_loss, gmpo_loss, cispo_loss, sapo_loss]


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


@pytest.mark.parametrize("aggregate", [token_mean, sequence_mean_token_mean])
@pytest.mark.parametrize("loss", LOSSES)
@given(batch=token_tensors(2))
def test_at_ratio_one_the_gradient_is_that_of_ppo(loss, aggregate, batch):
    (log_probs, advantages), mask = batch
    # One advantage for a response: GMPO knows no other.
    shared = torch.where(mask, advantages.nanmean(1, keepdim=True), torch.nan)
    same = log_probs, log_probs.clone(), shared
    _, _, found = slopes(loss, same, mask, aggregate=aggregate)
    _, _, wanted = slopes(policy_loss, same, mask, aggregate=aggregate)
    assert found == near(wanted)


@given(token_tensors(3))
def test_gmpo_without_a_clip_is_gspo_without_one(batch):
    tensors, mask = batch
    shared = torch.where(mask, tensors[2].nanmean(1, keepdim=True), torch.nan)
    same = *tensors[:2], shared
    free = slopes(gmpo_loss, same, mask, clip_range=math.inf)
    wanted = slopes(gspo_loss, same, mask, clip_range=(0.999999, math.inf))
    for ours, theirs in zip(free, wanted, strict=True):
        assert ours == near(theirs)


@pytest.mark.pages
def test_the_picture_is_drawn_to_scale():
    """At each point of each line, where it does not jump: a token's slope over A."""
    up, down, gspo = ET.parse(PICTURE).getroot().findall(f"{SVG}g")
    drawn = {
        (up, 1, 112): {
            "ppo": policy_loss,
            "higher": partial(policy_loss, clip_range=(0.2, 0.28)),
            "cispo": partial(cispo_loss, bounds=(0.8, 1.2)),
            "sapo": sapo_loss,
        },
        (down, -1, 312): {
            "ppo": policy_loss,
            "dual": partial(policy_loss, dual_clip=3.0),
            "cispo": partial(cispo_loss, bounds=(0.8, 1.2)),
            "sapo": sapo_loss,
        },
        (gspo, 1, 436): {
            "paper": gspo_loss,
            "wide": partial(gspo_loss, clip_range=0.2),
        },
    }
    for (panel, sign, zero), losses in drawn.items():
        lines = {line.get("id"): line.get("points") for line in panel}
        assert lines.keys() == losses.keys()
        for name, loss in losses.items():
            points = [[*map(float, p.split(","))] for p in lines[name].split()]
            steps = [x for (x, _), (other, _) in pairwise(points) if x == other]
            for x, y in points:
                ratio = torch.ones(1, 8 if panel is gspo else 1).double()
                ratio[0, 0] = (x - 34) / 90
                if x not in steps and x > 34:
                    tensors = ratio.log(), torch.zeros_like(ratio), 0 * ratio + sign
                    *_, slope = slopes(loss, tensors, ratio > 0, aggregate=token_sum)
                    assert zero - y == pytest.approx(-40 * sign * slope[0], abs=0.3)

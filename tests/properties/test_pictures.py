"""Pictures whose lines are computed are drawn to scale."""

import math
import xml.etree.ElementTree as ET
from collections import Counter
from functools import partial
from itertools import pairwise, product

import pytest
import torch

from ppo_ref import loops
from ppo_ref.aggregation import token_sum
from ppo_ref.clip_variants import cispo_loss, gspo_loss, sapo_loss
from ppo_ref.examples import four_token_tree
from ppo_ref.losses import policy_loss
from tests.layout import ROOT

pytestmark = pytest.mark.pages
SVG = "{http://www.w3.org/2000/svg}"


def picture(name: str) -> ET.Element:
    return ET.parse(ROOT / f"snippets/{name}.svg").getroot()


def total_error(critic, gae_lambda):
    """Squared bias and variance of the first advantage after a 1, by loops."""
    tree = four_token_tree()
    rows = zip(tree.token_level_rewards.tolist(), critic.tolist(), strict=True)
    of_row = partial(loops.gae, gamma=1, gae_lambda=gae_lambda)
    begun = tree.responses[:, 0].tolist()
    found = [of_row(*row, 0.0)[0] for row, one in zip(rows, begun, strict=True) if one]
    mean = loops.mean(found)
    variance = loops.mean([(x - mean) ** 2 for x in found])
    return (mean - (4 / 8 - 5 / 16)) ** 2, variance


def test_errors_of_a_critic_by_lambda():
    """Per panel: the sum, the variance, the squared bias; 0.5 is 100 pixels up."""
    tree = four_token_tree()
    sway = tree.wrong_values - tree.values
    panels = picture("gae/variance").findall(f"{SVG}g")
    for panel, scale in zip(panels, (0, 1, 16), strict=True):
        paths = [path.get("d") for path in panel.findall(f"{SVG}path")]
        curves = [d for d in paths if "L" in d]
        for which, d in zip(("sum", "variance", "bias"), curves, strict=True):
            points = [
                tuple(map(float, point.split()))
                for piece in d.split("M")[1:]
                for point in piece.split("L")
            ]
            assert points[-1][0] == 88
            for x, y in points:
                bias, variance = total_error(tree.values + scale * sway, x / 88)
                shown = {"sum": bias + variance, "variance": variance, "bias": bias}
                assert y == pytest.approx(100 - 200 * shown[which], abs=0.6)


def corners(path):
    """Of a path, as step and value: 40 pixels a step, 160 a unit up."""
    pairs = (map(float, p.split()) for p in path.get("d").removeprefix("M").split("L"))
    return [((x - 40) / 40, (190 - y) / 160) for x, y in pairs]


def test_the_fan_of_seven_tokens():
    """Grey lines by how many answers take them; then the means by score."""
    answers = [*product((0, 1), repeat=7)]
    values = {
        answer: [
            sum(math.comb(7 - t, k) for k in range(max(0, 4 - sum(answer[:t])), 8 - t))
            / 2 ** (7 - t)
            for t in range(8)
        ]
        for answer in answers
    }
    flow = Counter(
        (t, *pair) for row in values.values() for t, pair in enumerate(pairwise(row))
    )
    root = picture("critic/value_along_the_answer")
    lines = root.find(f"{SVG}g").findall(f"{SVG}path")
    assert len(lines) == len(flow)
    for line in lines:
        (t, before), (_, after) = corners(line)
        taken = [
            count
            for (step, *height), count in flow.items()
            if step == t and height == pytest.approx([before, after], abs=0.001)
        ]
        width = max(0.6, 8 * taken.pop() / 128)
        assert float(line.get("stroke-width")) == pytest.approx(width, abs=0.06)
    whole, *curves = root.findall(f"{SVG}path")
    assert whole.get("d") == "M40 110H320"
    for curve, right in zip(curves, (True, False), strict=True):
        ends = [row for answer, row in values.items() if (sum(answer) > 3) == right]
        means = [sum(column) / 64 for column in zip(*ends, strict=True)]
        for t, height in corners(curve):
            assert height == pytest.approx(means[round(t)], abs=0.001)


def slope(loss, log_ratio, sign):
    """Of the first token's part in the loss, each with an advantage of this sign."""
    log_ratio.requires_grad_()
    found = loss(
        log_probs=log_ratio,
        old_log_probs=torch.zeros_like(log_ratio),
        advantages=torch.full_like(log_ratio, sign),
        response_mask=torch.ones_like(log_ratio, dtype=torch.bool),
        aggregate=token_sum,
    )
    return torch.autograd.grad(found.loss, log_ratio)[0][0, 0].item()


def test_slopes_of_the_clip_variants():
    """At each point of each line, where it does not jump: a token's slope over A."""
    up, down, gspo = picture("on_policy/clip_variants").findall(f"{SVG}g")
    both = {
        "ppo": policy_loss,
        "cispo": partial(cispo_loss, bounds=(0.8, 1.2)),
        "sapo": sapo_loss,
    }
    wide = partial(gspo_loss, clip_range=0.2)
    higher = partial(policy_loss, clip_range=(0.2, 0.28))
    for panel, sign, zero, losses in (
        (up, 1, 112, {**both, "higher": higher}),
        (down, -1, 312, {**both, "dual": partial(policy_loss, dual_clip=3.0)}),
        (gspo, 1, 436, {"paper": gspo_loss, "wide": wide}),
    ):
        lines = {line.get("id"): line.get("points") for line in panel}
        assert lines.keys() == losses.keys()
        for name, loss in losses.items():
            points = [[*map(float, p.split(","))] for p in lines[name].split()]
            steps = [x for (x, _), (other, _) in pairwise(points) if x == other]
            for x, y in points:
                ratio = torch.ones(1, 8 if panel is gspo else 1).double()
                ratio[0, 0] = (x - 34) / 90
                if x not in steps and x > 34:
                    found = slope(loss, ratio.log(), sign)
                    assert zero - y == pytest.approx(-40 * sign * found, abs=0.3)

"""Rollout correction and its figures beside verl's helper of that name."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from ppo_ref.diagnostics import effective_sample_size, rollout_mismatch
from ppo_ref.losses import policy_loss
from ppo_ref.rollout_correction import accepted_tokens, token_weights
from tests.differential import others, peers
from tests.differential.batches import gapped_mask, normal, row, seeds, zero_outside
from tests.differential.peers import NOW
from tests.differential.wheels import requires
from tests.snippets import defined

pytestmark = [requires(NOW), pytest.mark.pages]
OF_ROWS = defined("off_policy/rollout_correction", "levels", "filter")


def by_product(
    *,
    old_log_probs: Tensor,
    rollout_log_probs: Tensor,
    response_mask: Tensor,
    cap: float,
) -> Tensor:
    """The page's weight of an answer, capped, on each of its tokens."""
    old = zero_outside(response_mask, old_log_probs)
    rollout = zero_outside(response_mask, rollout_log_probs)
    weights = OF_ROWS["product_weights"](old, rollout).clamp(max=cap)
    return zero_outside(response_mask, weights.expand(response_mask.shape))


def by_geometric_mean(
    *,
    old_log_probs: Tensor,
    rollout_log_probs: Tensor,
    response_mask: Tensor,
    bounds: tuple[float, float],
) -> Tensor:
    """The answers that the page's filter keeps, as a mask of their tokens."""
    kept = response_mask.clone()
    for number, counts in enumerate(response_mask):
        if counts.any():
            pair = old_log_probs[number][counts], rollout_log_probs[number][counts]
            answers = (x[None] for x in pair)
            kept[number] &= OF_ROWS["accepted"](*answers, *bounds)
    return kept


WEIGHTS: dict[str, Any] = {"token": token_weights, "sequence": by_product}
ACCEPTED: dict[str, Any] = {
    "token_k1": accepted_tokens,
    "seq_mean_k1": by_geometric_mean,
}
weights = pytest.mark.parametrize("level", WEIGHTS)
accepted = pytest.mark.parametrize("option", ACCEPTED)


def batch(seed: int, scale: float = 0.7) -> dict[str, Tensor]:
    mask = gapped_mask(seed)
    old_log_probs = -normal(seed, mask).abs()
    noise = normal(seed + 1, mask, scale=scale)
    return {
        "old_log_probs": old_log_probs,
        "rollout_log_probs": old_log_probs - noise,
        "response_mask": mask,
    }


def pair(old: list[float], rollout: list[float]) -> dict[str, Tensor]:
    ones = torch.ones(1, len(old), dtype=torch.bool)
    log_probs = {"old_log_probs": row(*old), "rollout_log_probs": row(*rollout)}
    return {**log_probs, "response_mask": ones}


@seeds
@accepted
@pytest.mark.parametrize("bounds", [(0.5, 2.0), (0.8, 3.0), (0.1, 0.9)])
def test_acceptance_is_verls_with_the_bounds_inverted(seed, option, bounds):
    inputs, (low, high) = batch(seed), bounds
    ours = ACCEPTED[option](**inputs, bounds=bounds)
    inverse = f"{1 / high}_{1 / low}"
    assert torch.equal(ours, peers.accepted(option, inverse, **inputs))


@accepted
def test_verl_bounds_the_engine_over_the_trainer(option):
    inputs: Any = pair([math.log(0.8)], [math.log(0.4)])
    assert ACCEPTED[option](**inputs, bounds=(0.9, 3.0)).all()
    assert not peers.accepted(option, "0.9_3.0", **inputs).any()
    assert peers.accepted(option, "0.4_1.1", **inputs).all()


@seeds
def test_verls_icepop_is_both_together_with_the_tokens_still_counted(seed):
    inputs, bounds = batch(seed), (0.5, 5.0)
    theirs, _ = peers.rollout_weights("token", "0.5_5.0", **inputs)
    kept = accepted_tokens(**inputs, bounds=bounds)
    ours = token_weights(**inputs, cap=math.inf)
    assert_close(zero_outside(kept, ours), theirs)


@seeds
@weights
def test_weights_are_verls(seed, level):
    inputs = batch(seed)
    theirs, _ = peers.rollout_weights(level, 2.0, **inputs)
    assert_close(WEIGHTS[level](**inputs, cap=2.0), theirs)


@requires(others.GRPO)
@seeds
@pytest.mark.parametrize("level", WEIGHTS)
def test_trls_weights_truncate_or_mask_below_a_bound_too(seed, level):
    inputs, (low, high) = batch(seed), (0.6, 1.5)
    raw = WEIGHTS[level](**inputs, cap=math.inf)
    mask = inputs["response_mask"]
    for mode, bounds, ours in (
        ("truncate", (None, high), WEIGHTS[level](**inputs, cap=high)),
        ("truncate", (low, high), raw.clamp(low, high)),
        ("mask", (None, high), raw.masked_fill(raw > high, 0)),
        ("mask", (low, high), raw.masked_fill((raw < low) | (raw > high), 0)),
    ):
        theirs = others.trl_rollout_weights(f"{level}_{mode}", bounds, **inputs)
        assert_close(ours[mask], theirs.expand_as(ours)[mask])


def test_trls_default_leaves_a_long_answer_next_to_no_weight():
    """Its only bound is above, and no token of these is off by a fiftieth."""
    old, rollout = [math.log(0.5)] * 500, [math.log(0.51)] * 500
    inputs = pair(old, rollout)
    weight = others.trl_rollout_weights("sequence_mask", (None, 3.0), **inputs)
    assert weight.item() == pytest.approx((0.5 / 0.51) ** 500)
    assert weight.item() < 1e-4


@requires(others.OPEN)
@seeds
def test_openrlhf_corrects_by_token_and_filters_by_geometric_mean(seed):
    inputs, bounds = batch(seed), (0.7, 1.4)
    mask = inputs["response_mask"]
    new = normal(seed + 2, mask, scale=0.1) + inputs["old_log_probs"]
    given = {"log_probs": new, "advantages": normal(seed + 3, mask)}
    token = token_weights(**inputs, cap=math.inf)
    meant = by_geometric_mean(**inputs, bounds=bounds)
    for correction, weights in (
        (("token", "clip"), token.clamp(*bounds)),
        (("token", "mask"), token * accepted_tokens(**inputs, bounds=bounds)),
        (("seq", "mask"), token * meant),
    ):
        theirs, *_ = others.open_policy_loss(
            (0.2, 0.2), correction=(*correction, bounds), **inputs, **given
        )
        ours = policy_loss(
            old_log_probs=inputs["old_log_probs"],
            response_mask=mask,
            rollout_weights=weights,
            **given,
        )
        assert_close(ours.loss, theirs, check_dtype=False)


@seeds
@weights
def test_effective_sample_size_is_verls(seed, level):
    inputs = batch(seed)
    theirs, metrics = peers.rollout_weights(level, 2.0, **inputs)
    share = effective_sample_size(theirs, inputs["response_mask"]).item()
    assert share == pytest.approx(metrics["rollout_is_eff_sample_size"], rel=1e-6)


@seeds
def test_mismatch_is_verls(seed):
    inputs = batch(seed)
    ours, theirs = rollout_mismatch(**inputs), peers.mismatch(**inputs)
    assert ours.kl_k1.item() == pytest.approx(theirs["kl"])
    assert ours.kl_k3.item() == pytest.approx(theirs["k3_kl"])
    chi2 = ours.mean.square() / ours.effective_sample_size - 1
    assert chi2.item() == pytest.approx(theirs["chi2_token"])


def test_the_mismatch_is_clamped_at_twenty_here_alone():
    inputs = pair([-1.0], [-101.0])
    ours, theirs = rollout_mismatch(**inputs), peers.mismatch(**inputs)
    assert ours.kl_k1.item() == -20
    assert ours.kl_k3.item() == pytest.approx(math.exp(20) - 21)
    assert theirs["kl"] == pytest.approx(-100)
    assert theirs["k3_kl"] == pytest.approx(math.exp(100) - 101)

"""``ppo_ref.losses`` beside verl's policy and value losses: values and gradients."""

import math

import pytest
import torch
import yaml
from torch import Tensor
from torch.testing import assert_close

from ppo_ref.losses import policy_loss, value_loss
from tests.differential import peers
from tests.differential.batches import gapped_mask, normal, row, seeds
from tests.differential.peers import NOW, OLD, RELEASES
from tests.differential.test_stages import MODES
from tests.differential.wheels import requires, source

pytestmark = requires(*RELEASES)
releases = pytest.mark.parametrize("release", RELEASES)
OFF = math.inf


def policy_batch(seed: int) -> dict[str, Tensor]:
    mask = gapped_mask(seed)
    old_log_probs = -normal(seed, mask).abs()
    return {
        "log_probs": (old_log_probs + normal(seed + 1, mask)).requires_grad_(),
        "old_log_probs": old_log_probs,
        "advantages": normal(seed + 2, mask),
        "response_mask": mask,
    }


def value_batch(seed: int) -> dict[str, Tensor]:
    mask = gapped_mask(seed)
    names = "values", "old_values", "returns"
    batch = {name: normal(seed + at, mask) for at, name in enumerate(names)}
    batch["values"].requires_grad_()
    return {**batch, "response_mask": mask}


def assert_same(ours: Tensor, theirs: Tensor, leaf: Tensor) -> None:
    assert_close(ours, theirs)
    gradients = (torch.autograd.grad(loss, leaf)[0] for loss in (ours, theirs))
    assert_close(*gradients)


@seeds
@pytest.mark.parametrize("clip_range", [(0.2, 0.2), (0.2, 0.28), (0.0, 5.0)])
@pytest.mark.parametrize("dual_clip", [None, 1.5, 3.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_clipped_loss_is_verls_with_every_clip_and_weight(
    seed, clip_range, dual_clip, weighted
):
    batch = policy_batch(seed)
    weights = normal(seed + 3, batch["response_mask"]).exp() if weighted else None
    shared = {**batch, "clip_range": clip_range, "rollout_weights": weights}
    ours = policy_loss(**shared, dual_clip=dual_clip)
    loss, clipped, shift = peers.policy_loss(
        NOW, **shared, clip_ratio_c=dual_clip or OFF
    )
    assert_same(ours.loss, loss, batch["log_probs"])
    assert ours.clip_fraction.item() == pytest.approx(clipped)
    assert ours.approx_kl.item() == pytest.approx(shift)


@seeds
@pytest.mark.parametrize("mode", MODES)
def test_the_clipped_loss_is_verls_in_every_aggregation(seed, mode):
    batch = policy_batch(seed)
    ours = policy_loss(**batch, aggregate=MODES[mode])
    loss, *_ = peers.policy_loss(NOW, **batch, mode=mode, clip_ratio_c=OFF)
    assert_same(ours.loss, loss, batch["log_probs"])


@seeds
@releases
def test_the_value_loss_is_verls(seed, release):
    batch = value_batch(seed)
    ours = value_loss(**batch, value_clip_range=0.5)
    loss, clipped = peers.value_loss(release, 0.5, **batch)
    assert_same(ours.loss, loss, batch["values"])
    assert ours.clip_fraction.item() == pytest.approx(clipped.item())


def one_token(log_ratio: float, advantage: float) -> dict[str, Tensor]:
    return {
        "log_probs": row(log_ratio - 30).requires_grad_(),
        "old_log_probs": row(-30),
        "advantages": row(advantage),
        "response_mask": row(1).bool(),
    }


def test_dual_clip_is_on_in_verl_and_off_here_and_in_old_verl():
    batch = one_token(math.log(5), -1)
    assert policy_loss(**batch).loss.item() == pytest.approx(5)
    assert peers.policy_loss(OLD, **batch)[0].item() == pytest.approx(5)
    loss, *_ = peers.policy_loss(NOW, **batch)
    assert loss.item() == pytest.approx(3)
    assert_same(policy_loss(**batch, dual_clip=3.0).loss, loss, batch["log_probs"])
    config = yaml.safe_load(source(NOW, "verl/trainer/config/actor/actor.yaml"))
    assert config["clip_ratio_c"] == 3


def test_the_log_ratio_is_clamped_at_twenty_except_in_old_verl():
    batch = one_token(25, -1)
    ours = policy_loss(**batch).loss
    assert ours.item() == pytest.approx(math.exp(20))
    loss, *_ = peers.policy_loss(NOW, **batch, clip_ratio_c=OFF)
    assert_same(ours, loss, batch["log_probs"])
    assert peers.policy_loss(OLD, **batch)[0].item() == pytest.approx(math.exp(25))

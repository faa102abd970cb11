"""``ppo_ref.kl`` beside verl's ``kl_penalty``."""

import math

import pytest
import torch
from torch.testing import assert_close

from ppo_ref.kl import kl_k1, kl_k2, kl_k3
from tests.differential.batches import gapped_mask, normal, row, seeds
from tests.differential.peers import NOW, RELEASES, kl
from tests.differential.wheels import requires

pytestmark = requires(*RELEASES)
releases = pytest.mark.parametrize("release", RELEASES)


@seeds
@releases
def test_all_estimators_are_verls_while_the_log_ratio_is_below_two(
    seed: int, release: str
) -> None:
    mask = gapped_mask(seed)
    log_probs = -normal(seed, mask).abs()
    shift = 2 * normal(seed + 100, mask).tanh()
    both = {"log_probs": log_probs, "ref_log_probs": log_probs + shift}
    assert_close(kl_k1(**both), kl(release, "kl", **both))
    assert_close(kl_k1(**both).abs(), kl(release, "abs", **both))
    assert_close(kl_k2(**both), kl(release, "mse", **both))
    assert_close(kl_k3(**both), kl(release, "low_var_kl", **both))


@releases
def test_k3_is_clamped_at_ten_by_verl_and_its_gradient_dies_there(release: str) -> None:
    ref_log_probs = row(0)
    for shift, theirs, slope in [(2.5, None, 1 - math.exp(2.5)), (5.0, 10.0, 0.0)]:
        log_probs = row(-shift).requires_grad_()
        both = {"log_probs": log_probs, "ref_log_probs": ref_log_probs}
        exact = math.exp(shift) - 1 - shift
        (ours,) = torch.autograd.grad(kl_k3(**both).sum(), log_probs)
        clamped = kl(release, "low_var_kl", **both)
        (gradient,) = torch.autograd.grad(clamped.sum(), log_probs)
        assert kl_k3(**both).item() == pytest.approx(exact)
        assert clamped.item() == pytest.approx(theirs or exact)
        assert ours.item() == pytest.approx(1 - math.exp(shift))
        assert gradient.item() == pytest.approx(slope)


def test_a_small_difference_cancels_in_verls_k3_and_not_in_ours() -> None:
    log_probs = torch.tensor([[-1.0]])
    both = {"log_probs": log_probs, "ref_log_probs": log_probs + 2.0**-12}
    exact = math.expm1(2.0**-12) - 2.0**-12
    assert kl_k3(**both).item() == pytest.approx(exact, rel=0.01)
    assert kl(NOW, "low_var_kl", **both).item() != pytest.approx(exact, rel=0.01)

"""``ppo_ref.log_probs`` beside verl's log-probs and entropy."""

import math

import pytest
import torch
from torch.testing import assert_close

from ppo_ref.log_probs import log_probs_and_entropy, token_entropy, token_log_probs
from tests.differential.batches import gapped_mask, generator, normal, seeds
from tests.differential.peers import NOW, RELEASES, tensors
from tests.differential.wheels import requires

pytestmark = requires(*RELEASES)
releases = pytest.mark.parametrize("release", RELEASES)


@seeds
@releases
def test_log_probs_and_entropy_are_verls(seed: int, release: str) -> None:
    mask = gapped_mask(seed)
    logits = normal(seed, mask, 7, scale=3)
    responses = torch.randint(0, 7, mask.shape, generator=generator(seed))
    verl, ours = tensors(release), log_probs_and_entropy(logits, responses)
    assert_close(ours.log_probs, verl.logprobs_from_logits_naive(logits, responses))
    assert_close(ours.log_probs, verl.logprobs_from_logits_v2(logits, responses))
    assert_close(ours.entropy, verl.entropy_from_logits(logits))


@seeds
def test_their_gradients_are_verls(seed: int) -> None:
    mask = gapped_mask(seed)
    logits = normal(seed, mask, 7, scale=3).requires_grad_()
    responses = torch.randint(0, 7, mask.shape, generator=generator(seed))
    ours = token_log_probs(logits, responses) + token_entropy(logits)
    verl = tensors(NOW)
    theirs = verl.logprobs_from_logits_v2(logits, responses)
    theirs = theirs + verl.entropy_from_logits(logits)
    weights = normal(seed + 100, mask)
    (gradient,) = torch.autograd.grad((weights * ours).sum(), logits)
    (expected,) = torch.autograd.grad((weights * theirs).sum(), logits)
    assert_close(gradient, expected)


def test_bfloat16_logits_are_widened_here_and_rounded_again_by_verl() -> None:
    logits = torch.tensor([[[3.0, 1.0, 0.0]]], dtype=torch.bfloat16)
    responses = torch.tensor([[0]])
    exact = -math.log1p(math.exp(-2) + math.exp(-3))
    assert token_log_probs(logits, responses).item() == pytest.approx(exact, rel=1e-6)
    theirs = tensors(NOW).logprobs_from_logits_v2(logits, responses)
    assert theirs.dtype == torch.bfloat16
    assert theirs.item() != pytest.approx(exact, rel=1e-4)


def test_a_forbidden_token_makes_verls_entropy_nan_and_not_ours() -> None:
    logits = torch.tensor([[[0.0, 0.0, -math.inf]]])
    assert token_entropy(logits).item() == pytest.approx(math.log(2))
    assert tensors(NOW).entropy_from_logits(logits).isnan().all()

"""The stages beside verl's functions: where they agree, and every disagreement."""

import math

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from ppo_ref import aggregation, alignment
from ppo_ref.alignment import response_mask, response_values, slot_after_end
from ppo_ref.kl import adaptive_kl_coef, kl_k1, kl_k2, kl_k3
from ppo_ref.log_probs import log_probs_and_entropy, token_entropy, token_log_probs
from ppo_ref.masking import masked_whiten
from ppo_ref.rewards import token_level_rewards, token_level_scores
from tests.differential import others, peers
from tests.differential.batches import (
    contiguous_mask,
    gapped_mask,
    generator,
    normal,
    row,
    seeds,
)
from tests.differential.others import GRPO, OPEN, TRL, controllers
from tests.differential.peers import NOW, RELEASES, critic_values, kl, tensors
from tests.differential.wheels import requires
from tests.snippets import defined

pytestmark = [requires(*RELEASES), pytest.mark.pages]
k3_times_ratio = defined("rewards/kl_estimators", "ratio")["k3_times_ratio"]
releases = pytest.mark.parametrize("release", RELEASES)


@seeds
@releases
def test_the_mask_up_to_the_first_end_is_verls(seed, release):
    responses = torch.randint(0, 5, (6, 9), generator=generator(seed))
    theirs = peers.response_mask(release, responses, 2)
    assert_close(response_mask(responses, 2), theirs.bool())


def with_prompt(mask: Tensor, seed: int) -> Tensor:
    """The attention mask of left-padded prompts before the responses."""
    prompt = torch.randint(1, 5, (len(mask), 1), generator=generator(seed))
    return torch.cat([torch.arange(4) >= 4 - prompt, mask], 1)


@seeds
def test_the_slice_is_the_one_of_both_trainers_of_verl_now(seed):
    mask = contiguous_mask(seed)
    attention_mask = with_prompt(mask, seed)
    outputs = normal(seed, attention_mask)
    ours = alignment.response_outputs(outputs, mask.shape[1])
    padded = peers.padded_outputs(outputs, attention_mask, mask.shape[1])
    assert_close(torch.where(mask, ours, 0.0), padded)
    nested = peers.nested_outputs(outputs, attention_mask, mask.shape[1])
    assert_close(ours[mask], torch.cat(nested))


@seeds
def test_values_are_old_verls_but_for_the_slot_after_the_end(seed):
    mask = contiguous_mask(seed)
    attention_mask = with_prompt(mask, seed)
    outputs = normal(seed, attention_mask)
    ours = response_values(outputs, mask)
    theirs = critic_values(outputs, attention_mask, mask.shape[1])
    extra = slot_after_end(mask)
    assert_close(ours[~extra], theirs[~extra])
    assert (ours[extra] == 0).all() and (theirs[extra] != 0).all()


@seeds
@releases
def test_log_probs_entropy_and_their_gradients_are_verls(seed, release):
    mask = gapped_mask(seed)
    logits = normal(seed, mask, 7, scale=3).requires_grad_()
    responses = torch.randint(0, 7, mask.shape, generator=generator(seed))
    verl, ours = tensors(release), log_probs_and_entropy(logits, responses)
    assert_close(ours.log_probs, verl.logprobs_from_logits_naive(logits, responses))
    log_probs = verl.logprobs_from_logits_v2(logits, responses)
    entropy, weights = verl.entropy_from_logits(logits), normal(seed + 100, mask)
    assert_close(ours.log_probs, log_probs)
    assert_close(ours.entropy, entropy)
    gradients = (
        torch.autograd.grad((weights * sum(pair)).sum(), logits)[0]
        for pair in (ours, (log_probs, entropy))
    )
    assert_close(*gradients)


def test_verl_rounds_bfloat16_logits_again_and_makes_nan_of_a_forbidden_token():
    logits = torch.tensor([[[3.0, 1.0, 0.0]]], dtype=torch.bfloat16)
    responses = torch.tensor([[0]])
    exact = -math.log1p(math.exp(-2) + math.exp(-3))
    assert token_log_probs(logits, responses).item() == pytest.approx(exact, rel=1e-6)
    theirs = tensors(NOW).logprobs_from_logits_v2(logits, responses)
    assert theirs.dtype == torch.bfloat16
    assert theirs.item() != pytest.approx(exact, rel=1e-4)
    logits = torch.tensor([[[0.0, 0.0, -math.inf]]])
    assert token_entropy(logits).item() == pytest.approx(math.log(2))
    assert tensors(NOW).entropy_from_logits(logits).isnan().all()


@releases
def test_k3_is_clamped_at_ten_by_verl_and_its_gradient_dies_there(release):
    log_probs = row(-5).requires_grad_()
    both = {"log_probs": log_probs, "ref_log_probs": row(0)}
    ours, theirs = kl_k3(**both), kl(release, "low_var_kl", **both)
    assert ours.item() == pytest.approx(math.exp(5) - 6)
    assert theirs.item() == 10
    slopes = (torch.autograd.grad(x.sum(), log_probs)[0] for x in (ours, theirs))
    assert [x.item() for x in slopes] == pytest.approx([1 - math.exp(5), 0])


@requires(OPEN)
@seeds
def test_a_run_of_batches_gives_the_same_kl_coefficients(seed):
    kls = 0.2 * torch.randn(50, generator=generator(seed), dtype=torch.float64)
    kl_coef, peers_of = 0.5, controllers(0.5, 0.1, 10000)
    given = {"target": 0.1, "horizon": 10000, "steps": 256}
    for mean in kls.tolist():
        kl_coef = adaptive_kl_coef(kl_coef=kl_coef, kl=mean, **given)
        for release, peer in peers_of.items():
            peer.update(mean, 256)
            assert kl_coef == pytest.approx(float(peer.value), rel=1e-12), release


@requires(OPEN)
def test_a_batch_too_large_for_the_horizon_is_refused_and_turns_theirs_negative():
    for peer in controllers(0.5, 0.1, 1000).values():
        peer.update(0.0, 6000)
        assert float(peer.value) == pytest.approx(-0.1)
    with pytest.raises(ValueError, match="steps must be below 5 times the horizon"):
        adaptive_kl_coef(kl_coef=0.5, kl=0.0, target=0.1, horizon=1000, steps=6000)


@seeds
@releases
def test_scores_less_kl_are_verls(seed, release):
    mask = contiguous_mask(seed)
    scores = token_level_scores(normal(seed + 200, mask)[:, 0], mask)
    log_probs, ref_log_probs = normal(seed, mask), normal(seed + 100, mask)
    given = {"token_level_scores": scores, "response_mask": mask, "kl_coef": 0.1}
    ours = token_level_rewards(
        **given, kl=kl_k1(log_probs=log_probs, ref_log_probs=ref_log_probs)
    )
    theirs = peers.token_level_rewards(
        release, **given, old_log_probs=log_probs, ref_log_probs=ref_log_probs
    )
    assert_close(ours, theirs)


@releases
def test_masked_slots_are_zero_here_and_not_in_verl(release):
    """A score there stays, and they are whitened too."""
    scores, zero = row(0, 1, 5), row(0, 0, 0)
    given = {"response_mask": row(1, 1, 0).bool(), "kl_coef": 0.1}
    ours = token_level_rewards(token_level_scores=scores, kl=zero, **given)
    given |= {"old_log_probs": zero, "ref_log_probs": zero}
    theirs = peers.token_level_rewards(release, token_level_scores=scores, **given)
    assert_close((ours, theirs), (row(0, 1, 0), row(0, 1, 5)))
    x, mask = row(1, 2, 3, 9), row(1, 1, 1, 0).bool()
    assert_close(masked_whiten(x, mask), row(-1, 0, 1, 0))
    assert_close(tensors(release).masked_whiten(x, mask.double()), row(-1, 0, 1, 7))


MODES = {
    "token-mean": aggregation.token_mean,
    "token-sum": aggregation.token_sum,
    "seq-mean-token-mean": aggregation.sequence_mean_token_mean,
    "seq-mean-token-sum": aggregation.sequence_mean_token_sum,
}


@seeds
@pytest.mark.parametrize("mode", MODES)
def test_every_mode_is_verls_rows_without_a_token_included(seed, mode):
    mask = gapped_mask(seed)
    mask[-1] &= mask.shape[0] <= 2
    losses = normal(seed, mask)
    assert_close(MODES[mode](losses, mask), peers.aggregate(mode, losses, mask))


TO_FLOAT32 = {"atol": 1e-6, "rtol": 1e-6}


@requires(OPEN, TRL)
@seeds
def test_estimates_are_openrlhfs_below_ten_and_trls(seed):
    mask = gapped_mask(seed)
    log_probs = -normal(seed, mask).abs()
    shift = 2 * normal(seed + 1, mask).tanh()
    both = {"log_probs": log_probs, "ref_log_probs": log_probs + shift}
    for name, ours in {"k1": kl_k1, "k2": kl_k2, "k3": kl_k3}.items():
        theirs = others.open_kl(name, **both)
        assert_close(ours(**both).float(), theirs, **TO_FLOAT32)
        if ours is not kl_k2:  # which TRL has not
            assert_close(ours(**both), others.trl_kl(name, **both))


def three_rows(seed: int) -> dict[str, torch.Tensor]:
    """Log-probs of the actor, of the one that sampled, and of the reference."""
    mask = gapped_mask(seed)
    new = -normal(seed, mask).abs()
    old, ref = (new + normal(seed + n, mask).tanh() for n in (1, 2))
    return {
        "log_probs": new.requires_grad_(),
        "old_log_probs": old.detach(),
        "ref_log_probs": ref.detach(),
    }


@requires(GRPO)
@seeds
def test_k3_times_the_ratio_is_that_of_trls_grpo(seed):
    rows = three_rows(seed)
    ours, theirs = k3_times_ratio(*rows.values()), others.grpo_kl(**rows)
    assert_close(ours, theirs)
    slopes = [
        torch.autograd.grad(x.sum(), rows["log_probs"])[0] for x in (ours, theirs)
    ]
    assert_close(*slopes)


@requires(OPEN)
@seeds
def test_openrlhf_has_its_gradient_up_to_a_ratio_of_ten(seed):
    rows = three_rows(seed)
    new = rows["log_probs"]

    def slopes(tokens):
        return torch.autograd.grad(tokens.sum(), new)[0]

    theirs = others.open_kl("k3", **rows)
    assert_close(slopes(k3_times_ratio(*rows.values())), slopes(theirs), **TO_FLOAT32)
    assert_close(theirs, others.open_kl("k3", **rows | {"old_log_probs": None}))
    rows["old_log_probs"] = new.detach() - 3  # a ratio of 20
    k1 = (new - rows["ref_log_probs"]).detach()
    assert_close(slopes(others.open_kl("k3", **rows)) / 10, k1, **TO_FLOAT32)

"""``ppo_ref.rewards`` beside verl's ``apply_kl_penalty``."""

import pytest
import torch
from torch.testing import assert_close

from ppo_ref.kl import kl_k1
from ppo_ref.rewards import token_level_rewards, token_level_scores
from tests.differential import peers
from tests.differential.batches import contiguous_mask, normal, row, seeds
from tests.differential.peers import RELEASES
from tests.differential.wheels import requires

pytestmark = requires(*RELEASES)
releases = pytest.mark.parametrize("release", RELEASES)


@seeds
@releases
def test_scores_less_kl_are_verls(seed: int, release: str) -> None:
    mask = contiguous_mask(seed)
    log_probs, ref_log_probs = normal(seed, mask), normal(seed + 100, mask)
    scores = token_level_scores(normal(seed + 200, mask)[:, 0], mask)
    ours = token_level_rewards(
        token_level_scores=scores,
        kl=kl_k1(log_probs=log_probs, ref_log_probs=ref_log_probs),
        response_mask=mask,
        kl_coef=0.1,
    )
    theirs = peers.token_level_rewards(
        release,
        token_level_scores=scores,
        old_log_probs=log_probs,
        ref_log_probs=ref_log_probs,
        response_mask=mask,
        kl_coef=0.1,
    )
    assert_close(ours, theirs)


@releases
def test_a_score_on_a_masked_slot_stays_in_verl_and_is_dropped_here(
    release: str,
) -> None:
    scores, mask = row(0, 1, 5), row(1, 1, 0).bool()
    zero = torch.zeros_like(scores)
    ours = token_level_rewards(
        token_level_scores=scores, kl=zero, response_mask=mask, kl_coef=0.1
    )
    theirs = peers.token_level_rewards(
        release,
        token_level_scores=scores,
        old_log_probs=zero,
        ref_log_probs=zero,
        response_mask=mask,
        kl_coef=0.1,
    )
    assert_close(ours, row(0, 1, 0))
    assert_close(theirs, row(0, 1, 5))

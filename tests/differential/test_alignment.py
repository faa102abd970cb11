"""``ppo_ref.alignment`` beside the slices verl's critics and trainers make."""

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from ppo_ref.alignment import (
    response_mask,
    response_outputs,
    response_values,
    slot_after_end,
)
from tests.differential import peers
from tests.differential.batches import contiguous_mask, generator, normal, seeds
from tests.differential.peers import (
    RELEASES,
    critic_values,
    nested_outputs,
    padded_outputs,
)
from tests.differential.wheels import requires

pytestmark = requires(*RELEASES)


def with_prompt(mask: Tensor, seed: int) -> Tensor:
    """The attention mask of left-padded prompts before the responses."""
    prompt = torch.randint(1, 5, (len(mask), 1), generator=generator(seed))
    return torch.cat([torch.arange(4) >= 4 - prompt, mask], 1)


@seeds
@pytest.mark.parametrize("release", RELEASES)
def test_the_mask_up_to_the_first_end_is_verls(seed: int, release: str) -> None:
    responses = torch.randint(0, 5, (6, 9), generator=generator(seed))
    theirs = peers.response_mask(release, responses, 2)
    assert_close(response_mask(responses, 2), theirs.bool())


@seeds
def test_the_slice_is_the_one_of_both_trainers_of_verl_now(seed: int) -> None:
    mask = contiguous_mask(seed)
    attention_mask = with_prompt(mask, seed)
    outputs = normal(seed, attention_mask)
    ours = response_outputs(outputs, mask.shape[1])
    padded = padded_outputs(outputs, attention_mask, mask.shape[1])
    assert_close(torch.where(mask, ours, 0.0), padded)
    nested = nested_outputs(outputs, attention_mask, mask.shape[1])
    assert_close(ours[mask], torch.cat(nested))


@seeds
def test_old_verl_keeps_exactly_the_slot_after_the_end_too_many(seed: int) -> None:
    mask = contiguous_mask(seed)
    attention_mask = with_prompt(mask, seed)
    kept = critic_values(
        torch.ones(attention_mask.shape), attention_mask, mask.shape[1]
    )
    assert_close(kept.bool(), mask | slot_after_end(mask))
    assert (kept.bool() & ~mask).sum() == (mask.sum(1) < mask.shape[1]).sum()


@seeds
def test_values_are_old_verls_but_for_the_slot_after_the_end(seed: int) -> None:
    mask = contiguous_mask(seed)
    attention_mask = torch.cat([torch.ones(len(mask), 3).bool(), mask], 1)
    outputs = normal(seed, attention_mask)
    ours = response_values(outputs, mask)
    theirs = critic_values(outputs, attention_mask, mask.shape[1])
    extra = slot_after_end(mask)
    assert_close(ours[~extra], theirs[~extra])
    assert (ours[extra] == 0).all() and (theirs[extra] != 0).all()

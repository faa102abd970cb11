"""``ppo_ref.alignment`` beside the values verl's critics hand on."""

import torch
from torch.testing import assert_close

from ppo_ref.alignment import response_values, slot_after_end
from tests.differential.batches import contiguous_mask, normal, seeds
from tests.differential.peers import NOW, OLD
from tests.differential.slices import critic_values, padded_outputs
from tests.differential.wheels import requires

pytestmark = requires(NOW, OLD)


@seeds
def test_values_are_verls(seed: int) -> None:
    mask = contiguous_mask(seed)
    attention_mask = torch.cat([torch.ones(len(mask), 3).bool(), mask], 1)
    outputs = normal(seed, attention_mask)
    ours = response_values(outputs, mask)
    assert_close(ours, padded_outputs(outputs, attention_mask, mask.shape[1]))


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

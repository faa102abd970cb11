"""``ppo_ref.masking`` beside verl's masked statistics."""

import pytest
from torch.testing import assert_close

from ppo_ref.masking import masked_mean, masked_sum, masked_variance, masked_whiten
from tests.differential.batches import gapped_mask, normal, row, seeds
from tests.differential.peers import RELEASES, tensors
from tests.differential.wheels import requires

pytestmark = requires(*RELEASES)
releases = pytest.mark.parametrize("release", RELEASES)


@seeds
@releases
def test_statistics_are_verls_up_to_its_epsilon(seed: int, release: str) -> None:
    mask = gapped_mask(seed)
    x, floats, verl = 3 + normal(seed, mask), mask.double(), tensors(release)
    assert_close(masked_sum(x, mask), verl.masked_sum(x, floats))
    assert_close(masked_mean(x, mask), verl.masked_mean(x, floats))
    assert_close(masked_variance(x, mask), verl.masked_var(x, floats))
    whitened = verl.masked_whiten(x, floats)
    assert_close(masked_whiten(x, mask)[mask], whitened[mask])


@releases
def test_masked_slots_are_whitened_by_verl_and_zero_here(release: str) -> None:
    x, mask = row(1, 2, 3, 9), row(1, 1, 1, 0).bool()
    assert_close(masked_whiten(x, mask), row(-1, 0, 1, 0))
    assert_close(tensors(release).masked_whiten(x, mask.double()), row(-1, 0, 1, 7))

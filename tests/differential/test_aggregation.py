"""``ppo_ref.aggregation`` beside the modes of verl's ``agg_loss``."""

import pytest
from torch.testing import assert_close

from ppo_ref.aggregation import (
    Aggregate,
    sequence_mean_token_mean,
    sequence_mean_token_sum,
    token_mean,
    token_sum,
)
from tests.differential.batches import gapped_mask, normal, row, seeds
from tests.differential.peers import NOW, aggregate
from tests.differential.wheels import requires

pytestmark = requires(NOW)
MODES = {
    "token-mean": token_mean,
    "token-sum": token_sum,
    "seq-mean-token-mean": sequence_mean_token_mean,
    "seq-mean-token-sum": sequence_mean_token_sum,
}
modes = pytest.mark.parametrize(("mode", "ours"), MODES.items())
means = pytest.mark.parametrize("mode", sorted(set(MODES) - {"token-sum"}))


@seeds
@modes
def test_every_mode_is_verls_rows_without_a_token_included(
    seed: int, mode: str, ours: Aggregate
) -> None:
    mask = gapped_mask(seed)
    mask[-1] &= mask.shape[0] <= 2
    losses = normal(seed, mask)
    assert_close(ours(losses, mask), aggregate(mode, losses, mask))


@pytest.mark.parametrize(
    ("mode", "value"),
    [
        ("token-mean", 0.6),
        ("seq-mean-token-mean", 0.0),
        ("seq-mean-token-sum", 3.0),
        ("token-sum", 6.0),
    ],
)
def test_two_good_tokens_beside_eight_bad_ones(mode: str, value: float) -> None:
    mask = row(*[1] * 2, *[0] * 6, *[1] * 8).bool().view(2, 8)
    losses = row(*[-1] * 8, *[1] * 8).view(2, 8)
    assert MODES[mode](losses, mask).item() == pytest.approx(value)
    # verl divides a row by its tokens + 1e-8
    theirs = aggregate(mode, losses, mask).item()
    assert theirs == pytest.approx(value, abs=1e-8)


@means
def test_a_mean_over_no_token_is_nan_in_verl_and_an_error_here(mode: str) -> None:
    losses, mask = row(1, 2), row(0, 0).bool()
    assert aggregate(mode, losses, mask).isnan()
    with pytest.raises(ValueError, match="must count at least 1 token, got 0"):
        MODES[mode](losses, mask)

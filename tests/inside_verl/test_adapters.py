"""Our functions behind verl's signatures, against verl's own from its wheel."""

import re
from types import SimpleNamespace

import pytest
import torch
from torch.testing import assert_close

from ppo_ref.inside_verl.aggregations import (
    SEQUENCE_MODES,
    TOKEN_MODES,
    GlobalBatch,
    aggregation,
    counted,
)
from ppo_ref.inside_verl.losses import compute_policy_loss, compute_value_loss
from tests.differential.batches import gapped_mask, normal, seeds
from tests.differential.peers import core
from tests.differential.wheels import requires

VERL = "verl 0.9.1"
MODES = TOKEN_MODES + SEQUENCE_MODES
ALONE, SHARED = GlobalBatch(), GlobalBatch(4, 77, 24, 100)
ONE, MASK = torch.ones(1, 2), torch.tensor([[1, 0]])


def actor(**settings: object) -> SimpleNamespace:
    defaults = {
        "clip_ratio": 0.2,
        "clip_ratio_low": None,
        "clip_ratio_high": None,
        "clip_ratio_c": 3.0,
        "global_batch_info": {},
    }
    return SimpleNamespace(**defaults | settings)


@requires(VERL)
@seeds
@pytest.mark.parametrize("batch", [ALONE, SHARED], ids=["alone", "shared"])
@pytest.mark.parametrize("mode", MODES)
def test_aggregation(seed, mode, batch):
    mask = gapped_mask(seed)
    losses = normal(seed, mask).requires_grad_()
    wanted = core(VERL).agg_loss(losses, mask.double(), mode, **batch._asdict())
    found = aggregation(mode, batch)(losses, mask)
    assert_close(found, wanted, rtol=1e-7, atol=0)
    gradients = [torch.autograd.grad(loss, losses)[0] for loss in (found, wanted)]
    assert_close(*gradients, rtol=1e-7, atol=0)


NONE = 0 * MASK
NOTHING = "aggregation: batch_num_tokens must be above 0, got 0"
REFUSED = [
    (
        lambda: counted(torch.tensor([[1, 0], [1, 2]])),
        "counted: response_mask must be 0 or 1, got 2 at [1, 1]",
    ),
    (
        lambda: aggregation("token-mean", GlobalBatch(2)),
        "aggregation: batch_num_tokens must be given for several ranks, got None with "
        "dp_size 2",
    ),
    (
        lambda: compute_policy_loss(ONE, ONE, ONE, MASK),
        "compute_policy_loss: config must be verl's, got None",
    ),
    (lambda: aggregation("token-mean", ALONE)(ONE, NONE.bool()), NOTHING),
    (lambda: compute_value_loss(ONE, ONE, ONE, NONE, 0.5), NOTHING),
    (lambda: compute_policy_loss(ONE, ONE, ONE, NONE, config=actor()), NOTHING),
]


@pytest.mark.parametrize(("call", "text"), REFUSED)
def test_what_is_refused(call, text):
    with pytest.raises((ValueError, TypeError), match=f"^{re.escape(text)}$"):
        call()


def test_nothing_is_read_where_no_token_counts():
    """A micro-batch that rejection has emptied, full of nan."""
    bad = torch.full((1, 2), torch.nan, requires_grad=True)
    told = actor(global_batch_info=GlobalBatch(1, 8, 4)._asdict())
    policy, figures = compute_policy_loss(ONE, bad, ONE, NONE, config=told)
    value, clipped = compute_value_loss(bad, ONE, ONE, NONE, 0.5, "token-mean", 1, 8)
    (policy + value).backward()
    assert policy == value == clipped == 0 and not any(figures.values())
    assert bad.grad is not None and not bad.grad.any()

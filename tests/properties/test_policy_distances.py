"""Actor, old row, reference: what the ratio measures and what kld does."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from ppo_ref.kl import kl_k1
from ppo_ref.losses import surrogate_objective

log_prob = st.floats(min_value=-9, max_value=0)


def one(x: float) -> torch.Tensor:
    return torch.tensor([[x]], dtype=torch.float64)


def ratio(new: float, old: float) -> float:
    """As the loss of one token with advantage 1 has it."""
    return surrogate_objective(
        log_probs=one(new),
        old_log_probs=one(old),
        advantages=one(1.0),
        response_mask=torch.tensor([[True]]),
    ).item()


def kld(p: float, q: float) -> float:
    return kl_k1(log_probs=one(p), ref_log_probs=one(q)).item()


@given(log_prob, log_prob, log_prob)
def test_two_distances(new, old, ref):
    r"""\log\frac{\pi_\theta}{\pi_{\mathrm{ref}}}
    = \underbrace{\log\frac{\pi_\theta}{\pi_{\mathrm{old}}}}_{\log\rho_t}
    + \underbrace{\log\frac{\pi_{\mathrm{old}}}{\pi_{\mathrm{ref}}}}_{\mathrm{kld}_t}

    The ratio of the loss and k1 of the old row add up to the log-quotient, by ``math``.
    With the actor for its own reference the second is 0; with the reference for the
    old row the first is all of it.
    """
    whole = math.log(math.exp(new) / math.exp(ref))
    assert_close(math.log(ratio(new, old)) + kld(old, ref), whole)
    assert kld(old, old) == 0
    assert_close(math.log(ratio(new, ref)), whole)

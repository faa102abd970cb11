"""The rows of one iteration, each from the rows above it, at gamma = lambda = 1."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from ppo_ref.advantages import gae
from ppo_ref.kl import kl_k1
from ppo_ref.rewards import token_level_rewards, token_level_scores
from tests.strategies import full_row_masks, numbers, poisoned


@given(full_row_masks(), st.integers(0, 999), st.floats(0, 1))
def test_ledger_rows(mask, seed, kl_coef):
    r"""\begin{aligned}
    r_t &= \mathrm{score}_t - \beta(\ell_t^{\mathrm{old}} - \ell_t^{\mathrm{ref}}) \\
    \hat A_t &= r_t + r_{t+1} + \dots - V(s_t) \\
    R_t &= \hat A_t + V(s_t)
    \end{aligned}"""
    old, ref, values = (poisoned(x, mask) for x in numbers(seed, 3, *mask.shape))
    scores = numbers(seed + 1, len(mask))
    rewards = token_level_rewards(
        token_level_scores=token_level_scores(scores, mask),
        kl=kl_k1(log_probs=old, ref_log_probs=ref),
        response_mask=mask,
        kl_coef=kl_coef,
    )
    found = gae(token_level_rewards=rewards, values=values, response_mask=mask)

    for row, kept in enumerate(mask):
        given_rows = (old, ref, values)
        old_row, ref_row, value_row = (x[row][kept].tolist() for x in given_rows)
        earned = [-kl_coef * (a - b) for a, b in zip(old_row, ref_row, strict=True)]
        earned[-1] += scores[row].item()
        after = [math.fsum(earned[t:]) for t in range(len(earned))]
        better = [g - v for g, v in zip(after, value_row, strict=True)]
        found_rows = (rewards, found.advantages, found.returns)
        for came, wanted in zip(found_rows, (earned, better, after), strict=True):
            assert_close(came[row][kept], torch.tensor(wanted, dtype=torch.float64))

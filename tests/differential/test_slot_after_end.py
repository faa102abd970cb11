"""The slot after the end: old verl's mask lets its value into the advantages.

The slice ``attention_mask[:, -T-1:-1]`` is the response mask moved one slot late. With
L tokens and V_L in the slot after them, the advantage of token t is off by
gamma * (1 - lambda) * (gamma * lambda)^(L-1-t) * V_L, nothing at lambda 1.
"""

import pytest
import torch
from torch.testing import assert_close

from ppo_ref.advantages import gae
from ppo_ref.alignment import response_values
from tests.differential import peers
from tests.differential.batches import row
from tests.differential.peers import NOW, OLD, critic_values
from tests.differential.wheels import requires

pytestmark = requires(NOW, OLD)


@pytest.mark.parametrize("gamma", [1.0, 0.9])
@pytest.mark.parametrize("gae_lambda", [1.0, 0.95, 0.5, 0.0])
def test_the_slot_biases_old_verl_unless_lambda_is_one(
    gamma: float, gae_lambda: float
) -> None:
    raw = row(9.0, 9.0, 0.3, 0.4, 0.6, 0.7, 0.25, 0.8, 0.5)  # 3 prompt, 6 response
    attention_mask = row(1, 1, 1, 1, 1, 1, 1, 0, 0).bool()
    after_end = 0.25
    batch = {
        "token_level_rewards": row(0, 0, 0, 1, 0, 0),
        "response_mask": row(1, 1, 1, 1, 0, 0).bool(),
        "gamma": gamma,
        "gae_lambda": gae_lambda,
    }
    unclean = critic_values(raw, attention_mask, 6)
    mask = batch["response_mask"]
    assert_close(unclean, row(0.3, 0.4, 0.6, 0.7, after_end, 0))
    values = response_values(raw, mask)
    assert_close(values, row(0.3, 0.4, 0.6, 0.7, 0, 0))
    ours = gae(**batch, values=values).advantages
    assert_close(ours[:, :4], peers.gae(NOW, **batch, values=unclean)[0][:, :4])
    bias = (peers.gae(OLD, **batch, values=unclean)[0] - ours)[:, :4]
    distance = torch.tensor([[3.0, 2.0, 1.0, 0.0]], dtype=torch.float64)
    decay = (gamma * gae_lambda) ** distance
    assert_close(bias, gamma * (1 - gae_lambda) * decay * after_end)

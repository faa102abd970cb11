"""What actor and critic say of a token is what they said before reading it."""

import pytest
import torch
from torch.testing import assert_close

from ppo_ref.training.networks import actor_statistics, critic_values
from tests import networks, oracles
from tests.networks import ragged_rollout

ROLLOUT = ragged_rollout(1, 3, 5, 9)


def rows():
    """Each row's tokens without padding, and how many belong to its prompt."""
    for row, mask in enumerate(ROLLOUT.attention_mask):
        ids = ROLLOUT.sequences[row][mask]
        yield row, ids[None], len(ids) - int(ROLLOUT.response_mask[row].sum())


@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_log_probs_and_entropy_are_those_of_a_loop(temperature):
    actor = networks.actor()
    found = actor_statistics(actor, ROLLOUT, temperature)
    for row, ids, prompt in rows():
        logits = actor(ids, torch.ones_like(ids).bool())[0]
        for t in range(prompt, ids.shape[1]):
            before = [x / temperature for x in logits[t - 1].tolist()]
            chosen = oracles.log_softmax(before)[ids[0, t]]
            assert found.log_probs[row, t - prompt].item() == pytest.approx(chosen)
            entropy = oracles.entropy(before)
            assert found.entropy[row, t - prompt].item() == pytest.approx(entropy)


def test_values_are_read_before_each_token():
    critic = networks.critic()
    found = critic_values(critic, ROLLOUT)
    for row, ids, prompt in rows():
        outputs = critic(ids, torch.ones_like(ids).bool())[0]
        for t in range(prompt, ids.shape[1]):
            assert_close(found[row, t - prompt], outputs[t - 1])


def test_gradient_flows_into_every_weight():
    actor, critic = networks.actor(), networks.critic()
    actor_statistics(actor, ROLLOUT).log_probs.square().sum().backward()
    critic_values(critic, ROLLOUT).square().sum().backward()
    for network in (actor, critic):
        assert all(weight.grad.any() for weight in network.parameters())


def test_bfloat16_outputs_are_widened():
    actor = networks.actor().bfloat16()
    assert actor_statistics(actor, ROLLOUT).log_probs.dtype == torch.float32
    critic = networks.critic().bfloat16()
    assert critic_values(critic, ROLLOUT).dtype == torch.float32

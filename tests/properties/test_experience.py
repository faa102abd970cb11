"""The river is the composition of its stages, written out by hand in float64.

And what each broken estimate does to its advantages.
"""

import math
import re
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from ppo_ref import loops
from ppo_ref.batch import Rollout
from ppo_ref.train import experience
from ppo_ref.train.config import PPOConfig
from ppo_ref.train.estimates import (
    flipped_sign,
    shifted_values,
    whitened_gae,
    whitened_over_padding,
)
from ppo_ref.train.experience import collect_experience
from ppo_ref.train.rollout import sample_responses
from ppo_ref.train.tasks import Question
from tests import networks
from tests.networks import prompts, seeded
from tests.strategies import numbers

CONFIG = PPOConfig(
    response_length=6, temperature=0.8, kl_coef=0.3, gamma=0.9, gae_lambda=0.7
)
MODELS, PROMPTS = networks.models(), prompts(3, 1, 4, 2, 4)
QUESTIONS = [Question("1+1=", "1+1=2")] * 5
SCORES = torch.tensor([1.0, 0.0, -1.0, 0.5, 2.0], dtype=torch.float64)


def collected(reward=lambda questions, rollout: SCORES, **options):
    given = {
        "models": MODELS,
        "questions": QUESTIONS,
        "prompts": PROMPTS,
        "reward": reward,
        "estimate": whitened_gae,
        "config": CONFIG,
        "generator": seeded(4),
    }
    return collect_experience(**{**given, **options})


EXPERIENCE = collected()


def said_of(network: torch.nn.Module, rollout: Rollout, row: int):
    """Outputs before each token of a response, without padding, and its tokens."""
    ids = rollout.sequences[row][rollout.attention_mask[row]]
    length = int(rollout.response_mask[row].sum())
    outputs = network(ids[None], torch.ones(1, len(ids)).bool())[0]
    return outputs[-length - 1 : -1].tolist(), ids[-length:].tolist()


def test_the_river_is_its_composition_by_hand():
    rollout, lengths = EXPERIENCE.rollout, EXPERIENCE.rollout.response_mask.sum(1)
    advantages = []
    for row, length in enumerate(lengths.tolist()):
        old, ref = (
            [
                loops.log_softmax([x / 0.8 for x in logits])[t]
                for logits, t in zip(*said_of(network, rollout, row), strict=True)
            ]
            for network in (MODELS.actor, MODELS.reference)
        )
        values, _ = said_of(MODELS.critic, rollout, row)
        rewards = [-0.3 * (p - q) for p, q in zip(old, ref, strict=True)]
        rewards[-1] += SCORES[row].item()
        advantages.append(loops.gae(rewards, values, 0.0, gamma=0.9, gae_lambda=0.7))
        returns = [a + v for a, v in zip(advantages[-1], values, strict=True)]
        expected = {
            "old_log_probs": old,
            "ref_log_probs": ref,
            "values": values,
            "token_level_rewards": rewards,
            "returns": returns,
        }
        for name, wanted in expected.items():
            found = getattr(EXPERIENCE, name)[row, :length].tolist()
            assert found == pytest.approx(wanted, abs=1e-9), name
    mask = rollout.response_mask
    whitened = loops.whitened([x for row in advantages for x in row], 1e-8)
    assert EXPERIENCE.advantages[mask].tolist() == pytest.approx(whitened, abs=1e-9)
    assert len({*lengths.tolist()}) > 1 and rollout.truncated.any()
    assert torch.equal(EXPERIENCE.scores, SCORES)
    for name in ("token_level_rewards", "advantages", "returns", "rollout_weights"):
        assert not getattr(EXPERIENCE, name)[~mask].any(), name
    _, *tensors = EXPERIENCE
    assert not any(x.requires_grad for x in (*rollout, *tensors))


def test_without_a_critic_all_values_are_0():
    assert not collected(models=MODELS._replace(critic=None)).values.any()
    assert EXPERIENCE.values.any()


def test_no_network_remembers_what_it_computed():
    kept, networks = [], (MODELS.actor, MODELS.critic, MODELS.reference)
    hooks = [
        network.register_forward_hook(lambda *_: kept.append(torch.is_grad_enabled()))
        for network in networks
    ]
    collected(config=replace(CONFIG, micro_batch_size=1))
    for hook in hooks:
        hook.remove()
    assert len(kept) > 3 * len(QUESTIONS) and not any(kept)


def test_a_token_weighs_what_the_trainer_gives_it_over_the_sampler(monkeypatch):
    def other_engine(*given, **options):
        rollout = sample_responses(*given, **options)
        return rollout._replace(rollout_log_probs=rollout.rollout_log_probs - 0.1)

    monkeypatch.setattr(experience, "sample_responses", other_engine)
    found = collected()
    expected = math.exp(0.1) * found.rollout.response_mask.double()
    assert_close(found.rollout_weights, expected, rtol=1e-9, atol=1e-9)
    assert torch.equal(found.kl, found.old_log_probs - found.ref_log_probs)
    capped = collected(config=replace(CONFIG, rollout_weight_cap=1.05))
    expected = 1.05 * found.rollout.response_mask.double()
    assert_close(capped.rollout_weights, expected, rtol=1e-9, atol=1e-9)


NO_TENSOR = "collect_experience: reward must give a floating-point tensor, got list"
REFUSED = {
    "collect_experience: questions must be one per prompt, 5, got 4": {
        "questions": QUESTIONS[:4]
    },
    "collect_experience: reward must give one score per response, [5], got [5, 1]": {
        "reward": lambda *_: torch.zeros(5, 1)
    },
    "collect_experience: reward must give finite scores, got nan for response 2": {
        "reward": lambda *_: torch.tensor([0, 1, torch.nan, 0, torch.inf])
    },
    NO_TENSOR: {"reward": lambda *_: [0.0] * 5},
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_a_batch_is_refused(text):
    with pytest.raises((ValueError, TypeError), match=re.escape(text)):
        collected(**REFUSED[text])


def advantages_of(estimate, rewards, values, mask):
    given = {"token_level_rewards": rewards, "values": values, "response_mask": mask}
    return estimate(**given, gamma=1.0, gae_lambda=0.95)


def raw(rewards, values, mask):
    return loops.over_rows(loops.gae, mask, rewards, values, gamma=1.0, gae_lambda=0.95)


MASK = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])


@given(st.integers(0, 99))
def test_a_broken_estimate_is_wrong_in_the_way_of_its_name(seed):
    """A sign; the values of the next token; whitening reads what padding holds."""
    rewards, values = numbers(seed, 2, 2, 5)
    inputs = rewards, values, MASK
    sound = advantages_of(whitened_gae, *inputs)
    flipped = advantages_of(flipped_sign, *inputs)
    shifted = advantages_of(shifted_values, *inputs)
    over_padding = advantages_of(whitened_over_padding, *inputs)
    assert torch.equal(flipped.advantages, -sound.advantages)
    for broken in flipped, over_padding:
        assert torch.equal(broken.returns, sound.returns)
    counted = raw(rewards, values, MASK)
    # Of the whitening.
    expected = loops.whitened(loops.counted(counted, MASK), 1e-8)
    assert_close(loops.counted(sound.advantages, MASK), expected)

    late = torch.where(MASK, values, 0)[:, 1:]
    late = torch.cat([late, torch.zeros(2, 1)], 1)
    expected = loops.counted(raw(rewards, late, MASK), MASK)
    expected = loops.whitened(expected, 1e-8)
    assert_close(loops.counted(shifted.advantages, MASK), expected)

    everything = torch.where(MASK, counted, -values)
    expected = loops.whitened(everything.flatten().tolist(), 1e-8)
    expected = torch.tensor(expected).double().view(2, 5)
    assert_close(over_padding.advantages, torch.where(MASK, expected, 0))
    assert (over_padding.advantages - sound.advantages)[MASK].abs().max() > 0.001

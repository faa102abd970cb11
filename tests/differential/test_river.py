"""Whole batches beside verl: the losses of workers, the rewards, what is logged."""

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from ppo_ref.training.config import PPOConfig
from ppo_ref.training.estimates import whitened_gae
from ppo_ref.training.experience import collect_experience
from ppo_ref.training.networks import actor_statistics, critic_values
from ppo_ref.training.rollout import sample_responses
from ppo_ref.training.statistics import experience_statistics
from ppo_ref.training.tasks import Question
from ppo_ref.training.tokenizer import EOS_TOKEN_ID
from ppo_ref.training.update import update_actor, update_critic
from tests import networks
from tests.differential import peers, river_peers
from tests.differential.peers import NOW, RELEASES
from tests.differential.wheels import requires
from tests.networks import seeded

pytestmark = requires(*RELEASES)

CONFIG = PPOConfig(
    batch_size=8,
    mini_batch_size=8,
    micro_batch_size=2,
    critic_epochs=1,
    kl_loss_coef=0.3,
    entropy_coef=0.2,
    max_grad_norm=1e9,
)
LENGTHS = 1, 3, 5, 9, 2, 4, 5, 1
EXPERIENCE = networks.experience(networks.actor(), *LENGTHS)
MICRO_BATCHES = torch.arange(8).split(2)


def gradient(network: nn.Module) -> Tensor:
    return torch.cat([weight.grad.flatten() for weight in network.parameters()])


def stepped(update, network: nn.Module, config: PPOConfig = CONFIG) -> Tensor:
    """The gradient that an update left behind."""
    optimizer = torch.optim.SGD(network.parameters(), lr=0.0)
    list(update(network, optimizer, EXPERIENCE, config, seeded(0)))
    return gradient(network)


def test_the_actors_gradient_is_verls_over_micro_batches() -> None:
    actor = networks.actor()
    tokens = int(EXPERIENCE.rollout.response_mask.sum())
    for rows in MICRO_BATCHES:
        part = EXPERIENCE.rows(rows)
        data = river_peers.micro_batch(part, tokens)
        river_peers.actor_loss(
            *actor_statistics(actor, part.rollout), data, CONFIG
        ).backward()
    assert_close(stepped(update_actor, networks.actor()), gradient(actor))


def test_the_critics_gradient_is_verls_over_micro_batches() -> None:
    critic = networks.critic()
    tokens = int(EXPERIENCE.rollout.response_mask.sum())
    for rows in MICRO_BATCHES:
        part = EXPERIENCE.rows(rows)
        data = river_peers.micro_batch(part, tokens)
        values = critic_values(critic, part.rollout)
        river_peers.critic_loss(values, data, CONFIG).backward()
    assert_close(stepped(update_critic, networks.critic()), gradient(critic))


def test_the_rewards_of_the_river_are_verls() -> None:
    asked = networks.prompts(3, 1, 4, 2)
    experience = collect_experience(
        networks.models(),
        [Question("1+1=", 1, 1)] * 4,
        asked,
        lambda questions, rollout: torch.tensor([1.0, 0.0, -1.0, 0.5]).double(),
        whitened_gae,
        PPOConfig(response_length=6, kl_coef=0.3),
        seeded(4),
    )
    mask = experience.rollout.response_mask
    theirs = river_peers.rewards(experience, kl_coef=0.3)
    assert_close(experience.token_level_rewards, torch.where(mask, theirs, 0))
    advantages, returns = peers.gae(
        NOW,
        token_level_rewards=theirs,
        values=experience.values,
        response_mask=mask,
        gae_lambda=0.95,
        whitening="verl",
    )
    # verl leaves numbers in padding.
    assert_close(experience.advantages[mask], advantages[mask])
    assert_close(experience.returns[mask], returns[mask])


def test_the_figures_of_a_batch_are_those_that_verl_logs() -> None:
    ours = experience_statistics(EXPERIENCE)
    theirs = river_peers.data_metrics(EXPERIENCE)
    names = {
        "score": "critic/score/mean",
        "value": "critic/values/mean",
        "return": "critic/returns/mean",
        "response_length": "response_length/mean",
    }
    assert {name: ours[name] for name in names} == pytest.approx(
        {name: theirs[their] for name, their in names.items()}
    )
    variance = EXPERIENCE.returns[EXPERIENCE.rollout.response_mask].var().item()
    left = (1 - theirs["critic/vf_explained_var"]) * (variance + 1e-5) / variance
    assert 1 - ours["explained_variance"] == pytest.approx(left)


def test_an_end_in_the_last_slot_is_clipped_in_verl_and_not_truncated_here() -> None:
    """Of eight responses two end in the last slot, and one is cut off there."""
    assert river_peers.data_metrics(EXPERIENCE)["response_length/clip_ratio"] == 3 / 8
    assert experience_statistics(EXPERIENCE)["truncated"] == 1 / 8


@pytest.mark.parametrize("release", RELEASES)
def test_the_mask_of_a_rollout_is_verls(release: str) -> None:
    rollout = sample_responses(
        networks.actor(),
        networks.prompts(3, 1, 4, 2),
        response_length=6,
        generator=seeded(4),
    )
    theirs = peers.response_mask(release, rollout.responses, EOS_TOKEN_ID)
    assert rollout.response_mask.tolist() == theirs.bool().tolist()
    assert not rollout.response_mask.all()

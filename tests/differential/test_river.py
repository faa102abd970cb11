"""Whole batches beside verl: the losses of workers, the rewards, what is logged."""

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from ppo_ref.batch import Experience
from ppo_ref.training.config import PPOConfig
from ppo_ref.training.estimates import whitened_gae
from ppo_ref.training.experience import collect_experience
from ppo_ref.training.networks import actor_statistics, critic_values
from ppo_ref.training.statistics import experience_statistics
from ppo_ref.training.tasks import Question
from ppo_ref.training.update import update_actor, update_critic
from tests import networks
from tests.differential import peers, river_peers
from tests.differential.peers import NOW, RELEASES
from tests.differential.river_peers import MicroBatch
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


def gradient(network: nn.Module) -> Tensor:
    return torch.cat([weight.grad.flatten() for weight in network.parameters()])


def actor_loss(actor: nn.Module, part: Experience, data: MicroBatch) -> Tensor:
    return river_peers.actor_loss(*actor_statistics(actor, part.rollout), data, CONFIG)


def critic_loss(critic: nn.Module, part: Experience, data: MicroBatch) -> Tensor:
    return river_peers.critic_loss(critic_values(critic, part.rollout), data, CONFIG)


@pytest.mark.parametrize(
    ("update", "network", "loss"),
    [
        (update_actor, networks.actor, actor_loss),
        (update_critic, networks.critic, critic_loss),
    ],
)
def test_the_gradient_is_verls_over_micro_batches(update, network, loss) -> None:
    theirs, ours = network(), network()
    tokens = int(EXPERIENCE.rollout.response_mask.sum())
    for rows in torch.arange(8).split(2):
        part = EXPERIENCE.rows(rows)
        loss(theirs, part, river_peers.micro_batch(part, tokens)).backward()
    optimizer = torch.optim.SGD(ours.parameters(), lr=0.0)
    list(update(ours, optimizer, EXPERIENCE, CONFIG, seeded(0)))
    assert_close(gradient(ours), gradient(theirs))


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

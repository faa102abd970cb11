"""From an experience to better weights: epochs, mini-batches, micro-batches."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from ppo_ref.aggregation import Aggregate, token_mean, token_sum
from ppo_ref.batch import Experience
from ppo_ref.config import PPOConfig
from ppo_ref.diagnostics import ratio_statistics
from ppo_ref.kl import kl_k3
from ppo_ref.losses import PolicyLoss, ValueLoss, policy_loss, value_loss
from ppo_ref.models import Actor, Critic
from ppo_ref.outputs import actor_statistics, critic_values

Statistics = dict[str, float]
# The loss of some responses, and what the network said of their tokens.
Loss = Callable[[Experience, Aggregate], tuple[Tensor, Tensor]]


def update_actor(
    actor: Actor,
    optimizer: Optimizer,
    experience: Experience,
    config: PPOConfig,
    generator: torch.Generator,
) -> Iterator[Statistics]:
    """One optimizer step per mini-batch, until the actor is too far from the old one.

    Args:
        actor: Is trained.
        optimizer: Of the actor's weights.
        experience: Is not changed.
        config: Settings of the run.
        generator: Draws the order of the responses, on the CPU.

    Returns:
        Statistics of each mini-batch, read just before its step. Where ``approx_kl``
        is above ``config.max_kl`` there was no step, and no mini-batch after it.
    """

    def loss(part: Experience, aggregate: Aggregate) -> tuple[Tensor, Tensor]:
        now = actor_statistics(actor, part.rollout, config.temperature)
        mask = part.rollout.response_mask
        total = _policy_loss(part, now.log_probs, config, aggregate).loss
        # A term without weight is left out: 0 * inf would be nan.
        if config.kl_loss_coef:
            kl = kl_k3(log_probs=now.log_probs, ref_log_probs=part.ref_log_probs)
            total = total + config.kl_loss_coef * aggregate(kl, mask)
        if config.entropy_coef:
            total = total - config.entropy_coef * aggregate(now.entropy, mask)
        return total, now.log_probs

    for mini in _mini_batches(experience, config.actor_epochs, config, generator):
        optimizer.zero_grad()
        log_probs = _accumulate(mini, config.micro_batch_size, loss)
        moved = _actor_statistics(mini, log_probs, config)
        if moved["approx_kl"] > config.max_kl:
            optimizer.zero_grad()
            yield {**moved, "actor_steps": 0}
            return
        yield {**moved, **_step("actor", actor, optimizer, config.max_grad_norm)}


def update_critic(
    critic: Critic,
    optimizer: Optimizer,
    experience: Experience,
    config: PPOConfig,
    generator: torch.Generator,
) -> Iterator[Statistics]:
    """One optimizer step per mini-batch towards returns that stay as they were.

    Args:
        critic: Is trained.
        optimizer: Of the critic's weights.
        experience: Is not changed.
        config: Settings of the run.
        generator: Draws the order of the responses, on the CPU.

    Returns:
        Statistics of each mini-batch, read just before its step.
    """

    def loss(part: Experience, aggregate: Aggregate) -> tuple[Tensor, Tensor]:
        values = critic_values(critic, part.rollout)
        return _value_loss(part, values, config, aggregate).loss, values

    for mini in _mini_batches(experience, config.critic_epochs, config, generator):
        optimizer.zero_grad()
        values = _accumulate(mini, config.micro_batch_size, loss)
        found = _value_loss(mini, values, config)
        yield {
            "value_loss": found.loss.item(),
            "value_clip_fraction": found.clip_fraction.item(),
            **_step("critic", critic, optimizer, config.max_grad_norm),
        }


def _mini_batches(
    experience: Experience, epochs: int, config: PPOConfig, generator: torch.Generator
) -> Iterator[Experience]:
    for _ in range(epochs):
        order = torch.randperm(len(experience.scores), generator=generator)
        for rows in torch.split(order, config.mini_batch_size):
            yield experience.rows(rows)


def _accumulate(mini: Experience, micro_batch_size: int, loss: Loss) -> Tensor:
    """Add up gradients over micro-batches; return what was said of every token.

    Every loss is divided by the tokens of the whole mini-batch: a mean over each
    micro-batch would weigh tokens by the company they happen to be in.
    """
    tokens = mini.rollout.response_mask.sum()

    def share(losses: Tensor, response_mask: Tensor) -> Tensor:
        return token_sum(losses, response_mask) / tokens

    said = []
    for rows in torch.split(torch.arange(len(mini.scores)), micro_batch_size):
        part, outputs = loss(mini.rows(rows), share)
        torch.autograd.backward(part)
        said.append(outputs.detach())
    return torch.cat(said)


def _step(
    name: str, network: nn.Module, optimizer: Optimizer, max_grad_norm: float
) -> Statistics:
    norm = nn.utils.clip_grad_norm_(network.parameters(), max_grad_norm)
    optimizer.step()
    return {f"{name}_grad_norm": norm.item(), f"{name}_steps": 1}


def _actor_statistics(
    mini: Experience, log_probs: Tensor, config: PPOConfig
) -> Statistics:
    mask = mini.rollout.response_mask
    found = _policy_loss(mini, log_probs, config)
    moved = ratio_statistics(
        log_probs=log_probs, old_log_probs=mini.old_log_probs, response_mask=mask
    )
    return {
        "policy_loss": found.loss.item(),
        "clip_fraction": found.clip_fraction.item(),
        "approx_kl": moved.kl_k3.item(),
        "ratio_min": moved.min.item(),
        "ratio_mean": moved.mean.item(),
        "ratio_max": moved.max.item(),
        "effective_sample_size": moved.effective_sample_size.item(),
    }


def _policy_loss(
    part: Experience,
    log_probs: Tensor,
    config: PPOConfig,
    aggregate: Aggregate = token_mean,
) -> PolicyLoss:
    return policy_loss(
        log_probs=log_probs,
        old_log_probs=part.old_log_probs,
        advantages=part.advantages,
        response_mask=part.rollout.response_mask,
        rollout_weights=part.rollout_weights,
        clip_range=config.clip_range,
        aggregate=aggregate,
    )


def _value_loss(
    part: Experience,
    values: Tensor,
    config: PPOConfig,
    aggregate: Aggregate = token_mean,
) -> ValueLoss:
    return value_loss(
        values=values,
        old_values=part.values,
        returns=part.returns,
        response_mask=part.rollout.response_mask,
        value_clip_range=config.value_clip_range,
        aggregate=aggregate,
    )

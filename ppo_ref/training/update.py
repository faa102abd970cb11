"""From an experience to better weights: epochs, mini-batches, micro-batches."""

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from ppo_ref.aggregation import Aggregate, token_mean, token_sum
from ppo_ref.batch import Experience
from ppo_ref.contracts.shapes import checked
from ppo_ref.diagnostics import ratio_statistics
from ppo_ref.kl import kl_k3
from ppo_ref.losses import PolicyLoss, ValueLoss, policy_loss, value_loss
from ppo_ref.processes.group import ALONE, Processes
from ppo_ref.processes.sharding import gathered
from ppo_ref.training.config import PPOConfig
from ppo_ref.training.networks import Actor, Critic, actor_statistics, critic_values
from ppo_ref.training.statistics import Statistics

# The loss of some responses, and what the network said of their tokens.
Loss = Callable[[Experience, Aggregate], tuple[Tensor, Tensor]]


def mini_batches(
    experience: Experience,
    epochs: int,
    mini_batch_size: int,
    generator: torch.Generator,
) -> Iterator[Experience]:
    """Every response once per epoch, in an order drawn anew.

    Args:
        experience: Is not changed.
        epochs: How often each response comes.
        mini_batch_size: Responses in each part.
        generator: Draws the orders, on the CPU.

    Returns:
        The parts, ``epochs`` times the number of responses by ``mini_batch_size``.

    Raises:
        ValueError: when the first is asked for, if the parts cannot be of one size: in
            a smaller one every token would weigh more.

    Example:
        >>> from ppo_ref.training.trainer import tiny_trainer
        >>> experience = next(tiny_trainer().train()).experience
        >>> parts = mini_batches(experience, 3, 2, torch.Generator())
        >>> [len(part.scores) for part in parts]
        [2, 2, 2, 2, 2, 2]
    """
    count = len(experience.scores)
    if count % mini_batch_size:
        raise ValueError(
            f"mini_batches: experience must hold a multiple of {mini_batch_size} "
            f"responses, got {count}"
        )
    for _ in range(epochs):
        order = torch.randperm(count, generator=generator)
        for rows in torch.split(order, mini_batch_size):
            yield experience.rows(rows)


def accumulate_gradients(
    mini: Experience,
    micro_batch_size: int,
    loss: Loss,
    processes: Processes = ALONE,
) -> Tensor:
    """Add up gradients over micro-batches and processes, as if there had been none.

    Every loss is divided by the tokens of the whole mini-batch: a mean over each
    micro-batch would weigh tokens by the company they happen to be in.

    Args:
        mini: The mini-batch, the same on every process.
        micro_batch_size: Responses per backward pass; the last part may be smaller.
        loss: Of some responses, by the aggregation that it is handed.
        processes: Share the responses evenly, and average their gradients.

    Returns:
        What ``loss`` said of every token, in the order of ``mini``, without gradient.
        The gradients are added to those that the weights have.

    Raises:
        ValueError: if a loss that counts is not finite.

    Source:
        verl v0.9.1, verl/workers/utils/losses.py, ppo_loss, ``batch_num_tokens``.

    Example:
        >>> from ppo_ref.training.networks import critic_values
        >>> from ppo_ref.training.trainer import tiny_trainer
        >>> trainer = tiny_trainer()
        >>> experience, critic = next(trainer.train()).experience, trainer.models.critic
        >>> def loss(part: Experience, aggregate: Aggregate) -> tuple[Tensor, Tensor]:
        ...     values = critic_values(critic, part.rollout)
        ...     return aggregate(values, part.rollout.response_mask), values
        >>> gradients = []
        >>> for micro_batch_size in (1, 3, 4):
        ...     critic.zero_grad()
        ...     _ = accumulate_gradients(experience, micro_batch_size, loss)
        ...     gradients.append(critic.head.bias.grad.item())
        >>> [f"{gradient:.4f}" for gradient in gradients]  # the mean of 1 over tokens
        ['1.0000', '1.0000', '1.0000']
    """
    tokens = mini.rollout.response_mask.sum()

    def share(losses: Tensor, response_mask: Tensor) -> Tensor:
        # The mean over the processes is to be the sum of what they found.
        return token_sum(losses, response_mask) * processes.size / tokens

    said = []
    for rows in torch.split(processes.rows(len(mini.scores)), micro_batch_size):
        part, outputs = loss(mini.rows(rows), share)
        torch.autograd.backward(part)
        said.append(outputs.detach())
    return processes.gather(torch.cat(said))


def clipped_step(
    network: nn.Module, optimizer: Optimizer, max_grad_norm: float
) -> float:
    """One step of the optimizer along a gradient that is not too long.

    Args:
        network: Has gradients.
        optimizer: Of its weights.
        max_grad_norm: Longer gradients are scaled down to it.

    Returns:
        The norm before it was scaled, over all weights together.

    Raises:
        ValueError: if the gradient is not finite; then no weight has changed.

    Example:
        >>> from torch.optim import SGD
        >>> network = nn.Linear(2, 1, bias=False)
        >>> before = network.weight.detach().clone()
        >>> network.weight.grad = torch.tensor([[3., 4.]])
        >>> clipped_step(network, SGD(network.parameters(), lr=1), max_grad_norm=1)
        5.0
        >>> before - network.weight.detach()
        tensor([[0.6000, 0.8000]])
    """
    found = nn.utils.clip_grad_norm_(network.parameters(), max_grad_norm)
    norm: float = gathered(found).item()
    if not math.isfinite(norm):
        raise ValueError(
            f"clipped_step: the gradient of {type(network).__name__} must be finite, "
            f"got a norm of {norm}; no weight was changed"
        )
    optimizer.step()
    return norm


@checked
def update_actor(
    actor: Actor,
    optimizer: Optimizer,
    experience: Experience,
    config: PPOConfig,
    generator: torch.Generator,
    processes: Processes = ALONE,
) -> Iterator[Statistics]:
    """One optimizer step per mini-batch, until the actor is too far from the old one.

    Args:
        actor: Is trained.
        optimizer: Of the actor's weights.
        experience: Is not changed.
        config: Settings of the run.
        generator: Draws the order of the responses, on the CPU.
        processes: Have the same experience, and share each mini-batch evenly.

    Returns:
        Statistics of each mini-batch, read just before its step; the step is made when
        they are asked for. Where ``approx_kl`` is above ``config.max_kl`` there was no
        step, and no mini-batch after it.

    Raises:
        ValueError: at a mini-batch, if a number of the experience is not finite where
            it counts, the gradient is not, or its responses are no multiple of the
            mini-batch. No step is made then.

    Source:
        Schulman et al. (2017), arXiv:1707.06347v2, algorithm 1; verl v0.9.1,
        verl/workers/utils/losses.py, ppo_loss.

    Example:
        >>> from ppo_ref.training.trainer import tiny_trainer
        >>> trainer = tiny_trainer()
        >>> experience, actor = next(trainer.train()).experience, trainer.models.actor
        >>> bias = actor.head.bias.detach().clone()
        >>> optimizer = torch.optim.SGD(actor.parameters(), lr=0.1)
        >>> draws = torch.Generator().manual_seed(0)
        >>> steps = update_actor(actor, optimizer, experience, trainer.config, draws)
        >>> [step["actor_steps"] for step in steps]
        [1, 1]
        >>> torch.equal(bias, actor.head.bias)
        False
    """
    return _actor_steps(actor, optimizer, experience, config, generator, processes)


@checked
def update_critic(
    critic: Critic,
    optimizer: Optimizer,
    experience: Experience,
    config: PPOConfig,
    generator: torch.Generator,
    processes: Processes = ALONE,
) -> Iterator[Statistics]:
    """One optimizer step per mini-batch towards returns that stay as they were.

    Args:
        critic: Is trained.
        optimizer: Of the critic's weights.
        experience: Is not changed.
        config: Settings of the run.
        generator: Draws the order of the responses, on the CPU.
        processes: Have the same experience, and share each mini-batch evenly.

    Returns:
        Statistics of each mini-batch, read just before its step; the step is made when
        they are asked for.

    Raises:
        ValueError: as in ``update_actor``.

    Source:
        verl v0.9.1, verl/workers/utils/losses.py, value_loss.

    Example:
        >>> from ppo_ref.training.trainer import tiny_trainer
        >>> trainer = tiny_trainer()
        >>> experience, critic = next(trainer.train()).experience, trainer.models.critic
        >>> optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
        >>> draws = torch.Generator().manual_seed(0)
        >>> steps = update_critic(critic, optimizer, experience, trainer.config, draws)
        >>> losses = [step["value_loss"] for step in steps]  # two epochs of two
        >>> sum(losses[2:]) < sum(losses[:2])
        True
    """
    return _critic_steps(critic, optimizer, experience, config, generator, processes)


def _actor_steps(
    actor: Actor,
    optimizer: Optimizer,
    experience: Experience,
    config: PPOConfig,
    generator: torch.Generator,
    processes: Processes = ALONE,
) -> Iterator[Statistics]:
    loss = processes.averaging(actor, _actor_loss(actor, config))
    sizes = config.actor_epochs, config.mini_batch_size
    for mini in mini_batches(experience, *sizes, generator):
        optimizer.zero_grad()
        log_probs = accumulate_gradients(mini, config.micro_batch_size, loss, processes)
        moved = _actor_statistics(mini, log_probs, config)
        if processes.any(moved["approx_kl"] > config.max_kl):
            optimizer.zero_grad()
            yield {**moved, "actor_steps": 0}
            return
        norm = clipped_step(actor, optimizer, config.max_grad_norm)
        yield {**moved, "actor_grad_norm": norm, "actor_steps": 1}


def _critic_steps(
    critic: Critic,
    optimizer: Optimizer,
    experience: Experience,
    config: PPOConfig,
    generator: torch.Generator,
    processes: Processes = ALONE,
) -> Iterator[Statistics]:
    def loss(part: Experience, aggregate: Aggregate) -> tuple[Tensor, Tensor]:
        values = critic_values(critic, part.rollout)
        return _value_loss(part, values, config, aggregate).loss, values

    shared = processes.averaging(critic, loss)
    sizes = config.critic_epochs, config.mini_batch_size
    for mini in mini_batches(experience, *sizes, generator):
        optimizer.zero_grad()
        values = accumulate_gradients(mini, config.micro_batch_size, shared, processes)
        found = _value_loss(mini, values, config)
        norm = clipped_step(critic, optimizer, config.max_grad_norm)
        yield {
            "value_loss": found.loss.item(),
            "value_clip_fraction": found.clip_fraction.item(),
            "critic_grad_norm": norm,
            "critic_steps": 1,
        }


def _actor_loss(actor: Actor, config: PPOConfig) -> Loss:
    def loss(part: Experience, aggregate: Aggregate) -> tuple[Tensor, Tensor]:
        now = actor_statistics(actor, part.rollout, config.temperature)
        mask = part.rollout.response_mask
        total = _policy_loss(part, now.log_probs, config, aggregate).loss
        # A term without weight is left out: 0 * inf would be nan.
        if config.kl_loss_coef:
            # What padding says may overflow, and 0 * inf is nan in a gradient.
            pair = (now.log_probs, part.ref_log_probs)
            new, ref = (torch.where(mask, x, 0) for x in pair)
            kl = kl_k3(log_probs=new, ref_log_probs=ref)
            total = total + config.kl_loss_coef * aggregate(kl, mask)
        if config.entropy_coef:
            total = total - config.entropy_coef * aggregate(now.entropy, mask)
        return total, now.log_probs

    return loss


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

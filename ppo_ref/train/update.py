"""Steps to better weights: imitation, then PPO by epochs, mini- and micro-batches."""

import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from ppo_ref.aggregation import Aggregate, token_sum
from ppo_ref.batch import Experience
from ppo_ref.diagnostics import ratio_statistics
from ppo_ref.kl import kl_k3
from ppo_ref.losses import policy_loss, value_loss
from ppo_ref.masking import masked_mean
from ppo_ref.require import require_index
from ppo_ref.train.config import PPOConfig
from ppo_ref.train.learners import set_learning_rate
from ppo_ref.train.networks import Actor, Critic, actor_statistics, critic_values
from ppo_ref.train.rollout import as_rollout
from ppo_ref.train.statistics import Statistics
from ppo_ref.train.sums import demonstrations
from ppo_ref.train.tasks import Question, draw
from ppo_ref.train.tokenizer import Tokenizer

IMITATION_WARM_UP = 0.1  # share of the steps in which its learning rate rises


class NetworkLoss(NamedTuple):
    """The loss of a network on some responses.

    ``total`` goes backward; ``loss`` is that part of it which the log shows, with the
    share of tokens clipped; ``outputs`` are the network's, one for each token.
    """

    total: Tensor
    loss: Tensor
    clip_fraction: Tensor
    outputs: Tensor


# From some responses, and the aggregation to use.
Loss = Callable[[Experience, Aggregate], NetworkLoss]


class MiniBatchLoss(NamedTuple):
    """The mean loss of a mini-batch, the share of its tokens clipped, its outputs."""

    loss: Tensor
    clip_fraction: Tensor
    outputs: Tensor


def mini_batches(
    experience: Experience,
    epochs: int,
    mini_batch_size: int,
    generator: torch.Generator,
) -> Iterator[Experience]:
    """Every response once per epoch, in orders that are drawn when this is called.

    The generator is of the CPU. A number of responses that ``mini_batch_size`` does not
    divide is a ValueError: in a smaller part every token would weigh more.
    """
    count = len(experience.scores)
    if count % mini_batch_size:
        raise ValueError(
            f"mini_batches: experience must hold a multiple of {mini_batch_size} "
            f"responses, got {count}"
        )
    parts: list[Tensor] = []
    for _ in range(epochs):
        order = torch.randperm(count, generator=generator)
        parts += torch.split(order, mini_batch_size)
    return map(experience.rows, parts)


def accumulate_gradients(
    mini: Experience,
    micro_batch_size: int,
    loss: Loss,
) -> MiniBatchLoss:
    """Add up gradients over micro-batches, as if there had been none.

    Every loss is divided by the tokens of the whole mini-batch, as by verl's
    ``batch_num_tokens``: a mean over each micro-batch would weigh tokens by the company
    they happen to be in. The loss is handed some responses and the aggregation to use.
    """
    tokens = mini.rollout.response_mask.sum()

    def share_of_mini_batch(losses: Tensor, response_mask: Tensor) -> Tensor:
        return token_sum(losses, response_mask) / tokens

    losses, clip_fractions, outputs = [], [], []
    for rows in torch.split(torch.arange(len(mini.scores)), micro_batch_size):
        part = mini.rows(rows)
        found = loss(part, share_of_mini_batch)
        torch.autograd.backward(found.total)
        losses.append(found.loss.detach())
        weight = part.rollout.response_mask.sum() / tokens
        clip_fractions.append(found.clip_fraction * weight)
        outputs.append(found.outputs.detach())
    return MiniBatchLoss(
        loss=torch.stack(losses).sum(),
        clip_fraction=torch.stack(clip_fractions).sum(),
        outputs=torch.cat(outputs),
    )


def clipped_step(
    network: nn.Module, optimizer: Optimizer, max_grad_norm: float
) -> float:
    """One step along the gradient, scaled down to the greatest norm; returns its norm.

    A gradient that is not finite is refused, and then no weight has changed.
    """
    norm = nn.utils.clip_grad_norm_(network.parameters(), max_grad_norm).item()
    if not math.isfinite(norm):
        raise ValueError(
            f"clipped_step: the gradient of {type(network).__name__} must be finite, "
            f"got a norm of {norm}; no weight was changed"
        )
    optimizer.step()
    return norm


def imitation_step(
    actor: Actor,
    optimizer: Optimizer,
    tokenizer: Tokenizer,
    questions: list[Question],
    config: PPOConfig,
    step: int,
    generator: torch.Generator,
) -> float:
    """Raise the probability of one batch of demonstrations, as if they were sampled."""
    require_index("imitation_step", config.warm_start_steps, step=step)
    drawn = draw(questions, config.warm_start_batch_size, generator)
    device = actor.head.weight.device
    prompts = tokenizer.prompts([question.text for question in drawn], device)
    texts = demonstrations(drawn, config.error_rate, generator)
    responses = tokenizer.responses(texts, config.response_length, device)
    unknown = torch.zeros(responses.shape, device=device)
    rollout = as_rollout(prompts, responses, rollout_log_probs=unknown)
    done = step / config.warm_start_steps
    # It begins above 0, and reaches 0 at the end.
    share_of_peak = min((done + 0.01) / IMITATION_WARM_UP, 1 - done)
    set_learning_rate(optimizer, config.warm_start_lr * share_of_peak)
    optimizer.zero_grad()
    log_probs = actor_statistics(actor, rollout).log_probs
    loss = -masked_mean(log_probs, rollout.response_mask)
    torch.autograd.backward(loss)
    clipped_step(actor, optimizer, config.max_grad_norm)
    return loss.item()


def update_actor(
    actor: Actor,
    optimizer: Optimizer,
    minis: Iterable[Experience],
    config: PPOConfig,
) -> Iterator[Statistics]:
    """One optimizer step per mini-batch, until the actor is too far from the old one.

    Args:
        actor: Is trained.
        optimizer: Of the actor's weights.
        minis: Of ``mini_batches``; they are not changed.
        config: Settings of the run.

    Returns:
        Statistics of each mini-batch, read just before its step; the step is made when
        they are asked for. Where ``approx_kl`` is above ``config.max_kl`` there was no
        step, and no mini-batch after it.

    Raises:
        ValueError: at a mini-batch, if a number of it is not finite where it counts, or
            the gradient is not. No step is made then.

    Source:
        Schulman et al. (2017), arXiv:1707.06347v2, algorithm 1; verl v0.9.1,
        verl/workers/utils/losses.py, ppo_loss.

    Example:
        >>> from ppo_ref.train.trainer import tiny_trainer
        >>> trainer = tiny_trainer()
        >>> experience, actor = next(trainer.train()).experience, trainer.models.actor
        >>> bias = actor.head.bias.detach().clone()
        >>> optimizer = torch.optim.SGD(actor.parameters(), lr=0.1)
        >>> draws = torch.Generator().manual_seed(0)
        >>> minis = mini_batches(experience, 1, 2, draws)
        >>> steps = update_actor(actor, optimizer, minis, trainer.config)
        >>> [step["actor_steps"] for step in steps]
        [1, 1]
        >>> torch.equal(bias, actor.head.bias)
        False
    """
    loss = partial(_actor_loss, actor, config)
    for mini in minis:
        optimizer.zero_grad()
        policy = accumulate_gradients(mini, config.micro_batch_size, loss)
        ratio = ratio_statistics(
            log_probs=policy.outputs,
            old_log_probs=mini.old_log_probs,
            response_mask=mini.rollout.response_mask,
        )
        statistics = {
            "policy_loss": policy.loss.item(),
            "clip_fraction": policy.clip_fraction.item(),
            "approx_kl": ratio.kl_k3.item(),
            "ratio_min": ratio.min.item(),
            "ratio_mean": ratio.mean.item(),
            "ratio_max": ratio.max.item(),
            "effective_sample_size": ratio.effective_sample_size.item(),
        }
        if statistics["approx_kl"] > config.max_kl:
            optimizer.zero_grad()
            yield {**statistics, "actor_steps": 0}
            return
        norm = clipped_step(actor, optimizer, config.max_grad_norm)
        yield {**statistics, "actor_grad_norm": norm, "actor_steps": 1}


def update_critic(
    critic: Critic,
    optimizer: Optimizer,
    minis: Iterable[Experience],
    config: PPOConfig,
) -> Iterator[Statistics]:
    """One optimizer step per mini-batch towards returns that stay as they were.

    As ``update_actor``, but it stops at nothing.
    """
    loss = partial(_critic_loss, critic, config)
    for mini in minis:
        optimizer.zero_grad()
        value = accumulate_gradients(mini, config.micro_batch_size, loss)
        norm = clipped_step(critic, optimizer, config.max_grad_norm)
        yield {
            "value_loss": value.loss.item(),
            "value_clip_fraction": value.clip_fraction.item(),
            "critic_grad_norm": norm,
            "critic_steps": 1,
        }


def _actor_loss(
    actor: Actor, config: PPOConfig, part: Experience, aggregate: Aggregate
) -> NetworkLoss:
    temperature = config.log_prob_temperature
    log_probs, entropy = actor_statistics(actor, part.rollout, temperature)
    mask = part.rollout.response_mask
    policy = policy_loss(
        log_probs=log_probs,
        old_log_probs=part.old_log_probs,
        advantages=part.advantages,
        response_mask=mask,
        rollout_weights=part.rollout_weights,
        clip_range=config.clip_range,
        aggregate=aggregate,
    )
    total = policy.loss
    # A term without weight is left out: 0 * inf would be nan.
    if config.kl_loss_coef:
        # In padding KL may overflow, and 0 * inf is nan in a gradient.
        kl = kl_k3(
            log_probs=torch.where(mask, log_probs, 0),
            ref_log_probs=torch.where(mask, part.ref_log_probs, 0),
        )
        total = total + config.kl_loss_coef * aggregate(kl, mask)
    if config.entropy_coef:
        total = total - config.entropy_coef * aggregate(entropy, mask)
    return NetworkLoss(total, policy.loss, policy.clip_fraction, log_probs)


def _critic_loss(
    critic: Critic, config: PPOConfig, part: Experience, aggregate: Aggregate
) -> NetworkLoss:
    values = critic_values(critic, part.rollout)
    value = value_loss(
        values=values,
        old_values=part.values,
        returns=part.returns,
        response_mask=part.rollout.response_mask,
        value_clip_range=config.value_clip_range,
        aggregate=aggregate,
    )
    return NetworkLoss(value.loss, value.loss, value.clip_fraction, values)

"""The supervised warm start: the actor learns to answer as a teacher does."""

import torch
from torch.optim import Adam

from ppo_ref.batch import Rollout
from ppo_ref.contracts.checks import require_index
from ppo_ref.masking import masked_mean
from ppo_ref.training.config import PPOConfig
from ppo_ref.training.networks import Actor, actor_statistics
from ppo_ref.training.rollout import as_rollout
from ppo_ref.training.tasks import Question, demonstrations, draw
from ppo_ref.training.tokenizer import Tokenizer
from ppo_ref.training.update import clipped_step

WARM_UP = 0.1  # share of the steps in which the learning rate rises


def imitation_step(
    actor: Actor,
    optimizer: Adam,
    tokenizer: Tokenizer,
    questions: list[Question],
    config: PPOConfig,
    step: int,
    generator: torch.Generator,
) -> float:
    """Raise the probability of one batch of demonstrations."""
    require_index("imitation_step", config.warm_start_steps, step=step)
    drawn = draw(questions, config.warm_start_batch_size, generator)
    rollout = _as_rollout(tokenizer, drawn, config, generator, _device(actor))
    done = step / config.warm_start_steps
    for group in optimizer.param_groups:
        group["lr"] = config.warm_start_lr * min((done + 0.01) / WARM_UP, 1 - done)
    optimizer.zero_grad()
    log_probs = actor_statistics(actor, rollout).log_probs
    loss = -masked_mean(log_probs, rollout.response_mask)
    torch.autograd.backward(loss)
    clipped_step(actor, optimizer, config.max_grad_norm)
    return loss.item()


def _as_rollout(
    tokenizer: Tokenizer,
    questions: list[Question],
    config: PPOConfig,
    generator: torch.Generator,
    device: torch.device,
) -> Rollout:
    """Demonstrations in the form of responses that the actor might have sampled."""
    prompts = tokenizer.prompts([question.text for question in questions], device)
    texts = demonstrations(questions, config.error_rate, generator)
    responses = tokenizer.responses(texts, config.response_length, device)
    unknown = torch.zeros(responses.shape, device=device)
    return as_rollout(prompts, responses, rollout_log_probs=unknown)


def _device(actor: Actor) -> torch.device:
    return actor.head.weight.device

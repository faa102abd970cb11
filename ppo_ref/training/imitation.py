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
    """Raise the probability of one batch of demonstrations.

    Args:
        actor: Is trained.
        optimizer: Of the actor's weights; its learning rate is set.
        tokenizer: For prompts and demonstrations.
        questions: To draw from.
        config: Settings of the run.
        step: From 0, below ``config.warm_start_steps``; the learning rate rises, then
            falls to 0 after the last.
        generator: Draws questions and the teacher's mistakes, on the CPU.

    Returns:
        The loss before the step: minus the mean log-prob per token, in nats.

    Raises:
        ValueError: if there is no question or no such step, a demonstration does not
            fit ``config.response_length``, or the gradient is not finite.

    Example:
        >>> from ppo_ref.training.trainer import tiny_trainer
        >>> trainer = tiny_trainer()
        >>> actor, draws = trainer.models.actor, torch.Generator().manual_seed(0)
        >>> loss = imitation_step(
        ...     actor,
        ...     Adam(actor.parameters()),
        ...     trainer.tokenizer,
        ...     trainer.questions.train,
        ...     trainer.config,
        ...     0,
        ...     draws,
        ... )
        >>> guessing = torch.tensor(trainer.tokenizer.vocab).log().item()
        >>> abs(loss - guessing) < 1
        True
    """
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

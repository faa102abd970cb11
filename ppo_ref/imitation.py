"""The supervised warm start: the actor learns to answer as a teacher does."""

import torch
from torch.optim import Adam

from ppo_ref.alignment import response_mask
from ppo_ref.batch import Rollout
from ppo_ref.config import PPOConfig
from ppo_ref.masking import masked_mean
from ppo_ref.models import Actor
from ppo_ref.outputs import actor_statistics
from ppo_ref.tasks import Question, demonstrations, draw
from ppo_ref.tokenizer import EOS_TOKEN_ID, CharacterTokenizer

WARM_UP = 0.1  # share of the steps in which the learning rate rises


def imitation_step(
    actor: Actor,
    optimizer: Adam,
    tokenizer: CharacterTokenizer,
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
        step: From 0; the learning rate rises, then falls to 0 at the last step.
        generator: Draws questions and the teacher's mistakes, on the CPU.

    Returns:
        The loss before the step: minus the mean log-prob per token, in nats.
    """
    drawn = draw(questions, config.warm_start_batch_size, generator)
    rollout = _as_rollout(tokenizer, drawn, config, generator, _device(actor))
    done = step / config.warm_start_steps
    for group in optimizer.param_groups:
        group["lr"] = config.warm_start_lr * min((done + 0.01) / WARM_UP, 1 - done)
    optimizer.zero_grad()
    log_probs = actor_statistics(actor, rollout).log_probs
    loss = -masked_mean(log_probs, rollout.response_mask)
    torch.autograd.backward(loss)
    torch.nn.utils.clip_grad_norm_(actor.parameters(), config.max_grad_norm)
    optimizer.step()
    return loss.item()


def _as_rollout(
    tokenizer: CharacterTokenizer,
    questions: list[Question],
    config: PPOConfig,
    generator: torch.Generator,
    device: torch.device,
) -> Rollout:
    """Demonstrations in the form of responses that the actor might have sampled."""
    prompts = tokenizer.prompts([question.text for question in questions], device)
    texts = demonstrations(questions, config.error_rate, generator)
    responses = tokenizer.responses(texts, config.response_length, device)
    mask = response_mask(responses, EOS_TOKEN_ID)
    return Rollout(
        sequences=torch.cat([prompts.token_ids, responses], 1),
        attention_mask=torch.cat([prompts.attention_mask, mask], 1),
        response_mask=mask,
        rollout_log_probs=torch.zeros(mask.shape, device=device),
        truncated=torch.zeros(len(mask), dtype=torch.bool, device=device),
    )


def _device(actor: Actor) -> torch.device:
    return actor.head.weight.device

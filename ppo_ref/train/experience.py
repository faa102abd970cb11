"""One batch from prompts to advantages: collect, judge, estimate."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ppo_ref.batch import Experience, Rollout
from ppo_ref.kl import kl_k1
from ppo_ref.require import RowValues, Tokens
from ppo_ref.rewards import token_level_rewards, token_level_scores
from ppo_ref.rollout_correction import token_weights
from ppo_ref.train.config import PPOConfig
from ppo_ref.train.estimates import Estimate
from ppo_ref.train.networks import Models, actor_statistics, critic_values
from ppo_ref.train.reward import Reward
from ppo_ref.train.rollout import sample_responses
from ppo_ref.train.tasks import Question
from ppo_ref.train.tokenizer import Prompts


@torch.no_grad()
def collect_experience(
    models: Models,
    questions: Sequence[Question],
    prompts: Prompts,
    reward: Reward,
    estimate: Estimate,
    config: PPOConfig,
    generator: torch.Generator,
) -> Experience:
    """Sample, judge and estimate one batch; afterwards nothing in it changes.

    Args:
        models: Actor, critic and reference are read.
        questions: What the prompts ask, one each, for the reward.
        prompts: The same questions as token ids.
        reward: One score per response.
        estimate: From rewards and values to advantages and returns, by keyword.
        config: Settings of the run; without a critic values are 0.
        generator: Of the sampling, on the models' device.

    Returns:
        The rollout, and all that the update needs. Nothing has gradient; what is
        outside the mask means nothing, but for rewards, advantages, returns and
        weights, which are 0 there.

    Raises:
        ValueError: as in ``sample_responses``; if there is not one question per prompt;
            if the reward gives another number of scores than there are responses, or
            one that is not finite; if the batch has fewer than two tokens.
        TypeError: if the reward gives no tensor of floats.

    Source:
        verl v0.9.1, verl/trainer/ppo/ray_trainer.py, RayPPOTrainer.fit.

    Example:
        >>> from ppo_ref.train.estimates import whitened_gae
        >>> from ppo_ref.train.reward import rule
        >>> from ppo_ref.train.trainer import tiny_trainer
        >>> trainer = tiny_trainer()
        >>> questions = trainer.task.train[:2]
        >>> experience = collect_experience(
        ...     trainer.models,
        ...     questions,
        ...     trainer.tokenizer.prompts([question.text for question in questions]),
        ...     rule(trainer.tokenizer, trainer.task.score, wrong=-1),
        ...     whitened_gae,
        ...     trainer.config,
        ...     torch.Generator().manual_seed(0),
        ... )
        >>> experience.token_level_rewards.sum(1)  # the actor is still the reference
        tensor([-1., -1.])
    """
    if len(questions) != len(prompts.token_ids):
        raise ValueError(
            "collect_experience: questions must be one per prompt, "
            f"{len(prompts.token_ids)}, got {len(questions)}"
        )
    rollout = sample_responses(
        models.actor,
        prompts,
        response_length=config.response_length,
        temperature=config.temperature,
        generator=generator,
    )
    judged = judge(models, questions, rollout, reward, config)
    return estimate_advantages(rollout, judged, estimate, config)


class Judged(NamedTuple):
    """Scores of some responses, and what three networks say of their tokens.

    The fields are those of ``Experience``.
    """

    scores: RowValues
    old_log_probs: Tokens
    entropy: Tokens
    ref_log_probs: Tokens
    values: Tokens


@torch.no_grad()
def judge(
    models: Models,
    questions: Sequence[Question],
    rollout: Rollout,
    reward: Reward,
    config: PPOConfig,
) -> Judged:
    """Ask reward, actor, reference and critic; no response depends on another."""
    scores = reward(questions, rollout)
    _require_scores(scores, len(questions))
    parts = []
    for rows in torch.split(torch.arange(len(questions)), config.micro_batch_size):
        part = rollout.rows(rows)
        old = actor_statistics(models.actor, part, config.log_prob_temperature)
        ref = actor_statistics(models.reference, part, config.log_prob_temperature)
        values = torch.zeros_like(old.log_probs)
        if models.critic is not None:
            values = critic_values(models.critic, part)
        parts.append(
            Judged(
                scores=scores[rows],
                old_log_probs=old.log_probs,
                entropy=old.entropy,
                ref_log_probs=ref.log_probs,
                values=values,
            )
        )
    return Judged(*map(torch.cat, zip(*parts, strict=True)))


@torch.no_grad()
def estimate_advantages(
    rollout: Rollout, judged: Judged, estimate: Estimate, config: PPOConfig
) -> Experience:
    """Rewards, advantages and returns: the one step that needs the whole batch."""
    mask = rollout.response_mask
    kl = kl_k1(log_probs=judged.old_log_probs, ref_log_probs=judged.ref_log_probs)
    rewards = token_level_rewards(
        token_level_scores=token_level_scores(judged.scores, mask),
        kl=kl,
        response_mask=mask,
        kl_coef=config.kl_coef,
    )
    advantages, returns = estimate(
        token_level_rewards=rewards,
        values=judged.values,
        response_mask=mask,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
    )
    weights = token_weights(
        old_log_probs=judged.old_log_probs,
        rollout_log_probs=rollout.rollout_log_probs,
        response_mask=mask,
        cap=config.rollout_weight_cap,
    )
    return Experience(
        rollout=rollout,
        kl=kl,
        token_level_rewards=rewards,
        advantages=advantages,
        returns=returns,
        rollout_weights=weights,
        **judged._asdict(),
    )


def _require_scores(scores: Any, batch: int) -> None:
    if not (isinstance(scores, Tensor) and scores.is_floating_point()):
        kind = getattr(scores, "dtype", type(scores).__name__)
        raise TypeError(
            "collect_experience: reward must give a floating-point tensor, "
            f"got {str(kind).removeprefix('torch.')}"
        )
    if scores.shape != (batch,):
        raise ValueError(
            f"collect_experience: reward must give one score per response, [{batch}], "
            f"got {list(scores.shape)}"
        )
    unfit = ~scores.isfinite()
    if unfit.any():
        row = int(unfit.nonzero()[0])
        raise ValueError(
            "collect_experience: reward must give finite scores, "
            f"got {scores[row].item()} for response {row}"
        )

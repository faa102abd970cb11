"""One batch from prompts to advantages: the river."""

from collections.abc import Sequence
from typing import NamedTuple

import torch

from ppo_ref.batch import Experience
from ppo_ref.config import PPOConfig
from ppo_ref.estimate import Estimate
from ppo_ref.kl import kl_k1
from ppo_ref.models import Actor, Critic
from ppo_ref.outputs import actor_statistics, critic_values
from ppo_ref.reward import Reward
from ppo_ref.rewards import token_level_rewards, token_level_scores
from ppo_ref.rollout import sample_responses
from ppo_ref.rollout_correction import token_weights
from ppo_ref.tasks import Question
from ppo_ref.tokenizer import Prompts


class Models(NamedTuple):
    """The four modules; a rule may score in place of the reward."""

    actor: Actor
    critic: Critic
    reference: Actor
    reward: Critic


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
    """Sample, score and judge one batch; afterwards nothing in it changes.

    Args:
        models: Actor, critic, reference.
        questions: What the prompts ask, for the reward.
        prompts: The same questions as token ids.
        reward: One score per response.
        estimate: From rewards and values to advantages and returns.
        config: Settings of the run.
        generator: Of the sampling, on the models' device.

    Raises:
        ValueError: if the reward gives another number of scores than there are
            responses, or one that is not finite.
    """
    rollout = sample_responses(
        models.actor,
        prompts,
        response_length=config.response_length,
        temperature=config.temperature,
        generator=generator,
    )
    mask = rollout.response_mask
    scores = reward(questions, rollout)
    _require_scores(scores, len(mask))
    old = actor_statistics(models.actor, rollout, config.temperature)
    ref = actor_statistics(models.reference, rollout, config.temperature)
    values = critic_values(models.critic, rollout)
    rewards = token_level_rewards(
        token_level_scores=token_level_scores(scores, mask),
        kl=kl_k1(log_probs=old.log_probs, ref_log_probs=ref.log_probs),
        response_mask=mask,
        kl_coef=config.kl_coef,
    )
    advantages, returns = estimate(
        token_level_rewards=rewards,
        values=values,
        response_mask=mask,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
    )
    return Experience(
        rollout=rollout,
        old_log_probs=old.log_probs,
        ref_log_probs=ref.log_probs,
        entropy=old.entropy,
        values=values,
        scores=scores,
        token_level_rewards=rewards,
        advantages=advantages,
        returns=returns,
        rollout_weights=token_weights(
            old_log_probs=old.log_probs,
            rollout_log_probs=rollout.rollout_log_probs,
            response_mask=mask,
            cap=config.rollout_weight_cap,
        ),
    )


def _require_scores(scores: torch.Tensor, batch: int) -> None:
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

"""What verl does with a whole batch, under our names: losses, figures, KL, the rule."""

import logging
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from ppo_ref.batch import Experience
from ppo_ref.rewards import token_level_scores
from ppo_ref.training.config import PPOConfig
from tests.differential import peers
from tests.differential.peers import NOW, ActorConfig, core, tensors
from tests.differential.wheels import cut

METRICS = "verl/trainer/ppo/metric_utils.py"
LOSSES = "verl/workers/utils/losses.py"


class MicroBatch(dict[str, Any]):
    """As much of a TensorDict as verl's losses touch."""

    def select(self, *names: str) -> "MicroBatch":
        return MicroBatch({name: self[name] for name in names})

    def to_padded_tensor(self) -> "MicroBatch":
        return self


class Metric:
    """What verl wraps the figures of a micro-batch in; not read here."""

    def __init__(self, value: Any, aggregation: str) -> None: ...

    @staticmethod
    def from_dict(metrics: dict[str, Any], aggregation: str) -> dict[str, Any]:
        return metrics


def worker_losses() -> SimpleNamespace:
    now = core(NOW)
    return cut(
        NOW,
        LOSSES,
        "ppo_loss",
        "value_loss",
        agg_loss=now.agg_loss,
        kl_penalty=now.kl_penalty,
        compute_value_loss=now.compute_value_loss,
        get_policy_loss_fn={"vanilla": now.compute_policy_loss_vanilla}.__getitem__,
        masked_mean=tensors(NOW).masked_mean,
        no_padding_2_padding=lambda outputs, data: outputs,
        Metric=Metric,
        AggregationType=SimpleNamespace(SUM="sum", MEAN="mean"),
    )


def micro_batch(part: Experience, tokens: int) -> MicroBatch:
    """One of several that together have so many tokens."""
    return MicroBatch(
        dp_size=1,
        batch_num_tokens=tokens,
        global_batch_size=None,
        response_mask=part.rollout.response_mask,
        old_log_probs=part.old_log_probs,
        ref_log_prob=part.ref_log_probs,
        advantages=part.advantages,
        values=part.values,
        returns=part.returns,
        rollout_is_weights=part.rollout_weights,
    )


def actor_loss(
    log_probs: Tensor, entropy: Tensor, data: MicroBatch, config: PPOConfig
) -> Tensor:
    settings = ActorConfig(
        clip_ratio=config.clip_range,
        clip_ratio_low=config.clip_range,
        clip_ratio_high=config.clip_range,
        clip_ratio_c=torch.inf,
        loss_agg_mode="token-mean",
        policy_loss={},
        entropy_coeff=config.entropy_coef,
        use_kl_loss=True,
        kl_loss_type="k3",
        kl_loss_coef=config.kl_loss_coef,
        global_batch_info={},
    )
    said = {"log_probs": log_probs, "entropy": entropy}
    loss, _ = worker_losses().ppo_loss(settings, said, data)
    return loss


def critic_loss(values: Tensor, data: MicroBatch, config: PPOConfig) -> Tensor:
    settings = ActorConfig(
        cliprange_value=config.value_clip_range, loss_agg_mode="token-mean"
    )
    loss, _ = worker_losses().value_loss(settings, {"values": values}, data)
    return loss


def data_metrics(experience: Experience) -> dict[str, float]:
    """What compute_data_metrics logs of a batch."""
    names = "_compute_response_info", "compute_data_metrics"
    module = cut(NOW, METRICS, *names, logger=logging.getLogger(METRICS))
    rollout, mask = experience.rollout, experience.rollout.response_mask
    batch = {
        "token_level_scores": token_level_scores(experience.scores, mask),
        "token_level_rewards": experience.token_level_rewards,
        "advantages": experience.advantages,
        "returns": experience.returns,
        "values": experience.values,
        "prompts": rollout.sequences[:, : -mask.shape[1]],
        "responses": rollout.responses,
        "response_mask": mask,
        "attention_mask": rollout.attention_mask,
    }
    given = SimpleNamespace(batch=batch, non_tensor_batch={})
    return module.compute_data_metrics(given)


def rewards(experience: Experience, kl_coef: float) -> Tensor:
    mask = experience.rollout.response_mask
    return peers.token_level_rewards(
        NOW,
        token_level_scores=token_level_scores(experience.scores, mask),
        old_log_probs=experience.old_log_probs,
        ref_log_probs=experience.ref_log_probs,
        response_mask=mask,
        kl_coef=kl_coef,
    )

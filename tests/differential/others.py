"""OpenRLHF and TRL as published: pieces of their source, cut out and run.

Their advantages are made in the middle of a method; the piece is taken out by its first
and last line, and its names are given.
"""

import itertools
import math
from functools import cache, partial
from textwrap import dedent
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tests.differential.peers import CORE, NOW, OLD, floats
from tests.differential.wheels import cut, cut_class, source

OPEN, TRL, GRPO = "OpenRLHF 0.11.2", "TRL 1.12.0", "TRL 1.16.0"
MAKER = "openrlhf/trainer/ppo_utils/experience_maker.py"
TRAINER = "trl/experimental/ppo/ppo_trainer.py"


def piece(release: str, path: str, first: str, last: str, **given: Any):
    """Run the lines from the one with ``first`` to the one with ``last``."""
    lines = source(release, path).split("\n")
    start = next(n for n, line in enumerate(lines) if first in line)
    end = next(n for n, line in enumerate(lines) if n >= start and last in line)
    names = {"torch": torch, **given}
    exec(dedent("\n".join(lines[start : end + 1])), names)
    return SimpleNamespace(**names)


def open_gae(
    values: Tensor, rewards: Tensor, mask: Tensor, gamma: float, lambd: float
) -> tuple[Tensor, Tensor]:
    """Advantages and returns of OpenRLHF, before it whitens."""
    first, last = "lastgaelam = 0", "returns = advantages + values"
    given = {"values": values, "rewards": rewards, "action_mask": mask.float()}
    ran = piece(OPEN, MAKER, first, last, gamma=gamma, lambd=lambd, **given)
    return ran.advantages, ran.returns


def open_whitened(advantages: Tensor, mask: Tensor) -> Tensor:
    """OpenRLHF's advantages after whitening, of one batch of experiences."""
    experience = SimpleNamespace(advantages=advantages, action_mask=mask)
    options = SimpleNamespace(estimator="gae", no_std_norm=False)
    args = SimpleNamespace(algo=SimpleNamespace(advantage=options))
    first = "all_advantages = torch.cat("
    last = "exp.advantages = (exp.advantages - mean) * rstd"
    return piece(
        OPEN, MAKER, first, last, args=args, experiences=[experience]
    ).exp.advantages


def open_experiences(
    parts: list[dict[str, Any]], estimator: str, kl_coef: float, answers: int
) -> list[SimpleNamespace]:
    """OpenRLHF's experiences behind the method that computes their advantages."""
    experiences = [SimpleNamespace(**part, scores=None) for part in parts]
    for each in experiences:
        old, ref = each.action_log_probs, each.base_action_log_probs
        each.kl = (old - ref).float() * bool(kl_coef)
        each.info = {"kl": each.kl.sum(1) / each.action_mask.sum(1)}
        if kl_coef:
            each.base_action_log_probs = None
    path, maker = "openrlhf/models/utils.py", "RemoteExperienceMaker"
    options = SimpleNamespace(estimator=estimator, gamma=1.0, lambd=0.9, no_std_norm=0)
    args = SimpleNamespace(
        algo=SimpleNamespace(advantage=options),
        rollout=SimpleNamespace(n_samples_per_prompt=answers),
        reward=SimpleNamespace(clip_range=(-10, 10)),
    )
    methods = vars(
        cut(
            OPEN,
            MAKER,
            f"{maker}.compute_advantages_and_returns",
            f"{maker}.get_advantages_and_returns",
            f"{maker}.get_cumulative_returns",
            itertools=itertools,
            apply_length_penalties=lambda *_: None,
            compute_reward=cut(OPEN, path, "compute_reward").compute_reward,
        )
    )
    self = SimpleNamespace(
        strategy=SimpleNamespace(args=args),
        kl_ctl=SimpleNamespace(value=kl_coef),
        advantage_estimator=estimator,
    )
    for name, method in methods.items():
        setattr(self, name, partial(method, self))
    made: list[SimpleNamespace] = self.compute_advantages_and_returns(experiences)
    return made


def trl_advantages(rewards: Tensor, answers: int, scale: str) -> Tensor:
    """TRL's advantages of one reward function, by scale_rewards."""
    path = "trl/trainer/grpo_trainer.py"
    self = SimpleNamespace(
        multi_objective_aggregation="sum_then_normalize",
        reward_weights=torch.ones(1),
        scale_rewards=scale,
    )
    return piece(
        GRPO,
        path,
        "unscorable_mask = torch.isnan(rewards_per_func)",
        "advantages = torch.nan_to_num(advantages, nan=0.0)",
        self=self,
        rewards_per_func=rewards[:, None],
        num_generations=answers,
        device="cpu",
        nanstd=cut(GRPO, "trl/trainer/utils.py", "nanstd").nanstd,
    ).advantages


@cache
def open_rewards():
    path, limit = "openrlhf/models/utils.py", "KL_IS_WEIGHT_CLIP"
    given = {limit: getattr(piece(OPEN, path, f"{limit} =", f"{limit} ="), limit)}
    return cut(OPEN, path, "compute_approx_kl", Optional=None, **given)


def trl_mask(lengths: Tensor, width: int) -> SimpleNamespace:
    """TRL's masks over padding, from the index of each answer's last token."""
    first, last = "response_idxs = torch.arange", "values = torch.masked_fill"
    blank = torch.zeros(len(lengths), width)
    given = {"sequence_lengths": lengths, "INVALID_LOGPROB": 1.0, "values": blank}
    rows = dict.fromkeys(("responses", "logprobs", "ref_logprobs"), blank)
    return piece(TRL, TRAINER, first, last, **given, **rows)


def trl_gae(
    lengths: Tensor, scores: Tensor, values: Tensor, lam: float
) -> SimpleNamespace:
    """TRL's rewards and advantages before whitening, without a KL."""
    masks = trl_mask(lengths, values.shape[1])
    placed = piece(
        TRL,
        TRAINER,
        "actual_start = torch.arange",
        "rewards[actual_start, actual_end] += scores",
        rewards=torch.zeros_like(values),
        scores=scores,
        sequence_lengths=lengths,
        sequence_lengths_p1=masks.sequence_lengths_p1,
    )
    values = values.masked_fill(masks.padding_mask_p1, 0)
    advantages, _ = trl_recursion(values, placed.rewards, 1.0, lam)
    return SimpleNamespace(rewards=placed.rewards, advantages=advantages)


def trl_recursion(
    values: Tensor, rewards: Tensor, gamma: float, lam: float
) -> tuple[Tensor, Tensor]:
    """TRL's block of GAE alone: advantages and returns, before it whitens."""
    first, last = "lastgaelam = 0", "returns = advantages + values"
    given = {"values": values, "rewards": rewards, "responses": values}
    args = SimpleNamespace(gamma=gamma, lam=lam)
    ran = piece(TRL, TRAINER, first, last, args=args, **given)
    return ran.advantages, ran.returns


OPEN_LOSSES = "openrlhf/models/loss.py"


@cache
def open_loss(kind: str):
    """``forward`` of the class of that name, which wants its options as self."""
    given = vars(cut(OPEN, "openrlhf/models/utils.py", "masked_mean"))
    given |= vars(cut(OPEN, OPEN_LOSSES, "aggregate_loss", **given))
    return cut(OPEN, OPEN_LOSSES, f"{kind}.forward", **given).forward


def open_policy_loss(
    clip_range: tuple[float, float],
    dual_clip: float | None = None,
    token_level_loss: bool = True,
    correction: tuple[str, str, tuple[float, float]] = ("off", "mask", (0.5, 5.0)),
    kind: str = "ppo",
    **batch: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """Loss, clip fraction, and mean of old less new log-probs.

    ``correction`` is its level, its mode, its two bounds.
    """
    level, mode, bounds = correction
    options = SimpleNamespace(
        policy_loss_type=kind,
        is_correction_level=level,
        is_correction_mode=mode,
        is_correction_gating="ratio",
        is_correction_threshold=bounds,
        token_level_loss=token_level_loss,
        dual_clip=dual_clip,
        clip_eps_low=clip_range[0],
        clip_eps_high=clip_range[1],
    )
    rows = [batch[name] for name in ("log_probs", "old_log_probs", "advantages")]
    given = {"action_mask": floats(batch)}
    given["rollout_log_probs"] = batch.get("rollout_log_probs")
    return open_loss("PolicyLoss")(options, *rows, **given)[:3]


def trl_rollout_weights(
    mode: str, bounds: tuple[float | None, float | None], **batch: Tensor
) -> Tensor:
    """What TRL's GRPO multiplies the loss with; one column for a whole sequence."""
    options = SimpleNamespace(
        use_vllm=True,
        vllm_importance_sampling_correction=True,
        vllm_importance_sampling_mode=mode,
        vllm_importance_sampling_clip_min=bounds[0],
        vllm_importance_sampling_clip_max=bounds[1],
    )
    return piece(
        GRPO,
        "trl/trainer/grpo_trainer.py",
        "if self.use_vllm and self.vllm_importance_sampling_correction:",
        "# Compute the per-token log probabilities for the reference model",
        self=options,
        math=math,
        tool_mask=None,
        completion_mask=floats(batch),
        old_per_token_logps=batch["old_log_probs"],
        sampling_per_token_logps=batch["rollout_log_probs"],
    ).vllm_importance_sampling_ratio


def open_value_loss(value_clip_range: float, **batch: Tensor) -> Tensor:
    options = SimpleNamespace(clip_eps=value_clip_range, token_level_loss=True)
    rows = [batch[name] for name in ("values", "old_values", "returns")]
    return open_loss("ValueLoss")(options, *rows, action_mask=floats(batch))


def open_kl(
    kl_estimator: str,
    *,
    log_probs: Tensor,
    ref_log_probs: Tensor,
    old_log_probs: Tensor | None = None,
) -> Tensor:
    """In float32, whatever comes; with old log-probs, unbiased_gradient."""
    rows = {"log_probs": log_probs, "log_probs_base": ref_log_probs}
    unbiased = {"unbiased_gradient": old_log_probs is not None}
    return open_rewards().compute_approx_kl(
        **rows, **unbiased, log_probs_old=old_log_probs, kl_estimator=kl_estimator
    )


def trl_kl(kl_estimator: str, *, log_probs: Tensor, ref_log_probs: Tensor) -> Tensor:
    rows = {"logprobs": log_probs, "ref_logprobs": ref_log_probs}
    given = {"args": SimpleNamespace(kl_estimator=kl_estimator), **rows}
    return piece(
        TRL, TRAINER, "logr = ref_logprobs - logprobs", "kl = -logr", **given
    ).kl


def grpo_kl(
    *, log_probs: Tensor, old_log_probs: Tensor, ref_log_probs: Tensor
) -> Tensor:
    """The KL of TRL's GRPO with its default, use_bias_correction_kl."""
    return piece(
        GRPO,
        "trl/trainer/grpo_trainer.py",
        "coef_1 = torch.exp(log_importance_weights)",
        "per_token_kl = per_token_kl * coef_1",
        self=SimpleNamespace(
            beta=0.1, args=SimpleNamespace(use_bias_correction_kl=True)
        ),
        inputs={"ref_per_token_logps": ref_log_probs},
        per_token_logps=log_probs,
        log_importance_weights=log_probs - old_log_probs,
    ).per_token_kl


@cache
def trl_statistics() -> SimpleNamespace:
    return cut(TRL, TRAINER, "masked_mean", "masked_var", "masked_whiten")


def trl_policy_loss(clip_range: float, **batch: Tensor) -> tuple[Tensor, Tensor]:
    names = {
        "new_logprobs": batch["log_probs"],
        "mb_logprobs": batch["old_log_probs"],
        "mb_advantage": batch["advantages"],
        "padding_mask": ~batch["response_mask"],
        "micro_batch_inds": slice(None),
        "args": SimpleNamespace(cliprange=clip_range),
        **vars(trl_statistics()),
    }
    loss = piece(TRL, TRAINER, "logprobs_diff = new", "pg_loss = masked_mean", **names)
    given = vars(loss) | {"logits": torch.zeros(1)}  # the line behind wants them
    counted = piece(TRL, TRAINER, "pg_clipfrac = masked", "prob_dist = ", **given)
    return loss.pg_loss, counted.pg_clipfrac


def trl_value_loss(value_clip_range: float, **batch: Tensor) -> Tensor:
    names = {
        "vpred": batch["values"],
        "mb_values": batch["old_values"],
        "mb_return": batch["returns"],
        "padding_mask_p1": ~batch["response_mask"],
        "micro_batch_inds": slice(None),
        "args": SimpleNamespace(cliprange_value=value_clip_range),
        **vars(trl_statistics()),
    }
    first, last = "vpredclipped = torch.clamp(", "vf_loss = 0.5 * masked_mean"
    return piece(TRL, TRAINER, first, last, **names).vf_loss


def open_shaped(estimator: str, scores: Tensor, per_prompt: int) -> Tensor:
    """Scores less their baseline, as OpenRLHF makes them before KL comes in."""
    advantage = SimpleNamespace(estimator=estimator)
    args = SimpleNamespace(
        algo=SimpleNamespace(advantage=advantage),
        rollout=SimpleNamespace(n_samples_per_prompt=per_prompt),
    )
    first, last = 'if args.algo.advantage.estimator == "rloo"', "rewards.mean()"
    shaped = scores.reshape(-1, per_prompt)
    return piece(OPEN, MAKER, first, last, args=args, rewards=shaped).rewards.flatten()


def controllers(kl_coef: float, target: float, horizon: float) -> dict[str, Any]:
    """One controller of each release, as it begins."""
    controller = "openrlhf/trainer/ppo_utils/kl_controller.py"
    paths = {NOW: CORE, OLD: CORE, OPEN: controller}
    return {
        release: cut_class(release, path, "AdaptiveKLController", np=np)(
            kl_coef, target, horizon
        )
        for release, path in paths.items()
    }

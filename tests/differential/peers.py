"""verl as published, under our names: one adapter per function.

A function's source is cut out of the wheel and compiled in a namespace of its own, so
nothing is installed and sys.modules never hears of verl. Whitening inside verl's GAE
is replaced by the identity, which leaves the raw advantages.

A batch is a dict of what our function takes by these names.
"""

import ast
import math
from collections import defaultdict
from enum import Enum
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tests.differential.wheels import cut, cut_class, source

NOW = "verl 0.9.1"
OLD = "verl 0.3.0.post1"
RELEASES = (NOW, OLD)
CORE = "verl/trainer/ppo/core_algos.py"
TENSORS = "verl/utils/torch_functional.py"
TRAINER = "verl/trainer/ppo/ray_trainer.py"
OUTCOME = "compute_{}_outcome_advantage"
ESTIMATORS = (
    *("grpo", "rloo", "rloo_vectorized", "opo"),
    *("reinforce_plus_plus", "reinforce_plus_plus_baseline", "gdpo"),
)


@cache
def tensors(release: str) -> SimpleNamespace:
    masking = "masked_sum", "masked_mean", "masked_var", "masked_whiten"
    logits = "gather_from_labels", "logprobs_from_logits_naive", "entropy_from_logits"
    names = (*masking, *logits, "logprobs_from_logits_v2", "clip_by_value")
    return cut_known(release, TENSORS, *names, "get_response_mask", "get_eos_mask")


@cache
def core(release: str, whitening: str = "verl") -> SimpleNamespace:
    """The release's losses, its KL and its estimators, which it finds by name."""
    verl_F = SimpleNamespace(**vars(tensors(release)))
    if whitening == "identity":
        verl_F.masked_whiten = lambda values, mask: values
    names = ["compute_gae_advantage_return", "compute_value_loss", "agg_loss"]
    names += ["compute_policy_loss_vanilla", "compute_policy_loss"]
    names += ["kl_penalty", "kl_penalty_forward"]
    found = cut_known(
        release,
        CORE,
        *names,
        *map(OUTCOME.format, ESTIMATORS),
        verl_F=verl_F,
        AlgoConfig=type("AlgoConfig", (), {}),
        np=np,
        defaultdict=defaultdict,
        as_torch_index=lambda index, device: torch.as_tensor(index, device=device),
    )
    found.get_adv_estimator_fn = lambda name: getattr(found, OUTCOME.format(name.value))
    return found


class Rows(dict[str, Any]):
    """As much of a TensorDict as the trainers touch."""

    @property
    def batch_size(self) -> torch.Size:
        return torch.Size([len(next(iter(self.values())))])

    def to_padded_tensor(self, padding: float = 0.0) -> "Rows":
        return Rows(
            {
                name: x.to_padded_tensor(padding) if x.is_nested else x
                for name, x in self.items()
            }
        )


class Proto:
    """As much of a DataProto as they touch."""

    def __init__(self, batch: Rows) -> None:
        self.batch, self.non_tensor_batch = batch, {}

    def __len__(self) -> int:
        return self.batch.batch_size[0]

    def select_idxs(self, rows: list[int]) -> "Proto":
        found = Proto(Rows({name: x[rows] for name, x in self.batch.items()}))
        found.non_tensor_batch = {
            name: x[rows] for name, x in self.non_tensor_batch.items()
        }
        return found


class Config(dict[str, Any]):
    """OmegaConf's two ways to ask."""

    __getattr__ = dict.__getitem__


@cache
def trainer(release: str) -> SimpleNamespace:
    path = CORE if "class AdvantageEstimator" in source(release, CORE) else TRAINER
    given = {
        "core_algos": core(release),
        "masked_mean": tensors(release).masked_mean,
        "AdvantageEstimator": cut_class(release, path, "AdvantageEstimator", Enum=Enum),
        "DataProto": Proto,
    }
    names = "apply_kl_penalty", "compute_advantage", "compute_response_mask"
    return SimpleNamespace(**vars(cut(release, TRAINER, *names, **given)), **given)


def cut_known(release: str, path: str, *names: str, **given: Any) -> SimpleNamespace:
    """Those of the functions that the release has."""
    text = source(release, path)
    known = [name for name in names if f"def {name}(" in text]
    return cut(release, path, *known, **given)


def floats(batch: dict[str, Any]) -> Tensor:
    """The mask of a batch as verl has it."""
    return batch["response_mask"].double()


def gae(
    release: str,
    *,
    token_level_rewards: Tensor,
    values: Tensor,
    response_mask: Tensor,
    gamma: float = 1.0,
    gae_lambda: float = 1.0,
    whitening: str = "identity",
) -> tuple[Tensor, Tensor]:
    function = core(release, whitening).compute_gae_advantage_return
    mask = response_mask.to(values.dtype)
    return function(token_level_rewards, values, mask, gamma, gae_lambda)


def kl(release: str, mode: str, *, log_probs: Tensor, ref_log_probs: Tensor) -> Tensor:
    return core(release).kl_penalty(log_probs, ref_log_probs, kl_penalty=mode)


class ActorConfig(dict[str, Any]):
    __getattr__ = dict.get


def policy_loss(
    release: str,
    clip_range: tuple[float, float] = (0.2, 0.2),
    rollout_weights: Tensor | None = None,
    mode: str = "token-mean",
    clip_ratio_c: float | None = None,
    **batch: Tensor,
) -> tuple[Tensor, float, float]:
    """Loss, clip fraction, and mean of old less new log-probs."""
    names = "old_log_probs", "log_probs", "advantages"
    given = *(batch[name] for name in names), floats(batch)
    if release == OLD:
        loss, clipped, shift = core(OLD).compute_policy_loss(*given, clip_range[0])
        return loss, clipped.item(), shift.item()
    low, high = clip_range
    config = {"clip_ratio_low": low, "clip_ratio_high": high, "clip_ratio": low}
    if clip_ratio_c is not None:  # else verl's own
        config["clip_ratio_c"] = clip_ratio_c
    actor = ActorConfig(config, global_batch_info={})
    function = core(NOW).compute_policy_loss_vanilla
    loss, metrics = function(*given, mode, actor, rollout_weights)
    return loss, metrics["actor/pg_clipfrac"], metrics["actor/ppo_kl"]


def value_loss(
    release: str, value_clip_range: float, **batch: Tensor
) -> tuple[Tensor, Tensor]:
    given = (
        *(batch[name] for name in ("values", "returns", "old_values")),
        floats(batch),
    )
    return core(release).compute_value_loss(*given, value_clip_range)


def aggregate(mode: str, losses: Tensor, response_mask: Tensor) -> Tensor:
    return core(NOW).agg_loss(losses, response_mask.to(losses.dtype), mode)


def response_mask(release: str, responses: Tensor, eos_token_id: int) -> Tensor:
    cuts = tensors(release)
    function = getattr(cuts, "get_response_mask", None) or cuts.get_eos_mask
    return function(responses, eos_token_id)


def token_level_rewards(release: str, kl_coef: float, **batch: Tensor) -> Tensor:
    """Of token_level_scores, old_log_probs, ref_log_probs and response_mask."""
    mask = batch["response_mask"].long()
    masks = dict.fromkeys(("responses", "attention_mask", "response_mask"), mask)
    theirs = Rows(batch | masks | {"ref_log_prob": batch["ref_log_probs"]})
    fixed = SimpleNamespace(value=kl_coef, update=lambda **_: None)
    data, _ = trainer(release).apply_kl_penalty(Proto(theirs), fixed)
    return data.batch["token_level_rewards"]


CRITIC = "verl/workers/critic/dp_critic.py"
PADDING = "verl/workers/utils/padding.py"


def critic_values(
    outputs: Tensor, attention_mask: Tensor, response_length: int
) -> Tensor:
    """The two statements of the old critic, run as they stand in its file."""
    cut_out = "values = values[:, -response_length - 1:-1]"
    masked = "values = values * attention_mask[:, -response_length - 1:-1]"
    lines = [line.strip() for line in source(OLD, CRITIC).split("\n")]
    assert lines.index(cut_out) < lines.index(masked)
    space = {"values": outputs, "attention_mask": attention_mask}
    space["response_length"] = response_length
    exec(f"{cut_out}\n{masked}", space)
    return space["values"]


def padded_outputs(
    outputs: Tensor, attention_mask: Tensor, response_length: int
) -> Tensor:
    """What the trainer before v1 slices out of the unpadded outputs."""
    default = SimpleNamespace(get_non_tensor_data=lambda default, **_: default)
    function = cut(NOW, PADDING, "no_padding_2_padding", tu=default)
    ids = attention_mask.long()
    batch = {
        "prompts": ids[:, :-response_length],
        "responses": ids[:, -response_length:],
        "attention_mask": ids,
    }
    return function.no_padding_2_padding(outputs[attention_mask], batch)


def nested_outputs(
    outputs: Tensor, attention_mask: Tensor, response_length: int
) -> list[Tensor]:
    """What the v1 trainer slices out of the unpadded outputs, row by row."""
    rows = zip(outputs, attention_mask, strict=True)
    sequences = [row[mask] for row, mask in rows]
    responses = [mask[mask] for mask in attention_mask[:, -response_length:]]
    nested = (
        torch.nested.as_nested_tensor(x, layout=torch.jagged)
        for x in (sequences, responses)
    )
    function = cut(NOW, PADDING, "response_from_nested").response_from_nested
    return list(function(*nested).unbind())


def group_advantages(
    name: str,
    *,
    token_level_rewards: Tensor,
    response_mask: Tensor,
    groups: Tensor | None = None,
    gamma: float = 1.0,
    release: str = NOW,
    **options: Any,
) -> tuple[Tensor, Tensor]:
    """Advantages and returns; verl writes into what it is handed, so it gets copies."""
    if groups is not None:
        options["index"] = groups.numpy()
    return getattr(core(release), OUTCOME.format(name))(
        token_level_rewards=token_level_rewards.clone(),
        response_mask=response_mask.to(token_level_rewards.dtype),
        config=SimpleNamespace(gamma=gamma),
        **options,
    )


SESSIONS = "verl/trainer/ppo/v1/utils.py"


def session_advantages(
    name: str, *, rollouts: Tensor, divided: bool = True, **batch: Tensor
) -> Tensor:
    """What the v1 trainer makes of sessions that come in several rows."""

    def on_rows(data: Proto, adv_estimator: str, **_: Any) -> Proto:
        options = {"norm_adv_by_std_in_grpo": divided}
        given = data.batch | (options if adv_estimator == "grpo" else {})
        estimate = group_advantages(adv_estimator, **given)
        data.batch["advantages"], data.batch["returns"] = estimate
        return data

    estimators = SimpleNamespace(AdvantageEstimator=SimpleNamespace(GRPO="grpo"))
    cuts = cut(
        NOW,
        SESSIONS,
        "compute_advantage_for_multi_trajectories",
        core_algos=estimators,
        compute_advantage=on_rows,
        DataProto=Proto,
    )
    pairs = zip(batch["groups"].tolist(), rollouts.tolist(), strict=True)
    keys = [f"{group}_{rollout}_{row}" for row, (group, rollout) in enumerate(pairs)]
    batch["response_mask"] = batch["response_mask"].long()
    data = cuts.compute_advantage_for_multi_trajectories(Proto(Rows(batch)), keys, name)
    return data.batch["advantages"]


HELPER = "verl/trainer/ppo/rollout_corr_helper.py"
CORRECTIONS = (
    "_parse_rollout_is_threshold",
    "_parse_rollout_rs_thresholds",
    "compute_rollout_rejection_mask",
    "compute_rs_metrics",
    "compute_rollout_correction_weights",
    "compute_is_metrics",
    "compute_offpolicy_metrics",
)


def constants(path: str) -> dict[str, Any]:
    """What a file of verl assigns at its top in plain figures and names."""
    assigned = {}
    for node in ast.parse(source(NOW, path)).body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            assigned[ast.unparse(target)] = ast.literal_eval(node.value)
    return assigned


@cache
def corrections() -> SimpleNamespace:
    given = {"math": math, "verl_F": tensors(NOW), **constants(HELPER)}
    return cut(NOW, HELPER, *CORRECTIONS, **given)


def log_ratios(batch: dict[str, Tensor]) -> Tensor:
    return batch["old_log_probs"] - batch["rollout_log_probs"]


def rollout_weights(
    level: str, threshold: float | str, **batch: Tensor
) -> tuple[Tensor, dict[str, float]]:
    options = {"rollout_is": level, "rollout_is_threshold": threshold}
    function = corrections().compute_rollout_correction_weights
    return function(log_ratios(batch), floats(batch), **options)


def accepted(option: str, threshold: float | str, **batch: Tensor) -> Tensor:
    mask = batch["response_mask"].long()
    function = corrections().compute_rollout_rejection_mask
    return function(log_ratios(batch), mask, option, threshold)[0].bool()


def mismatch(**batch: Tensor) -> dict[str, float]:
    log_probs = batch["old_log_probs"], batch["rollout_log_probs"]
    return corrections().compute_offpolicy_metrics(*log_probs, floats(batch))

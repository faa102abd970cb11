"""The names of each trainer, put into those of verl, which the stages read.

A stage speaks of verl's names; what is printed has those of the trainer again.
"""

import re
from typing import NamedTuple

import torch
from torch import Tensor

from ppo_ref.alignment import last_token
from ppo_ref.check.dump.contents import require_dense


class Trainer(NamedTuple):
    """A trainer: its names by verl's, and what to do about a key that is missing."""

    name: str
    names: dict[str, str]
    sure: tuple[str, ...]  # names that no other trainer has
    how: dict[str, str]


VERL = Trainer(
    "verl",
    {},
    (),
    {
        "uid": 'add "uid": batch.non_tensor_batch["uid"].tolist()',
        "rollout_log_probs": "set actor_rollout_ref.rollout's calculate_log_probs",
        "ref_log_prob": "verl has it with use_kl_in_reward or use_kl_loss",
        "values": "is there a critic?",
    },
)
# TRL 1.9 to 1.16, what GRPOTrainer._generate_and_score_completions returns.
TRL = Trainer(
    "TRL",
    {
        "prompts": "prompt_ids",
        "responses": "completion_ids",
        "response_mask": "completion_mask",
        "old_log_probs": "old_per_token_logps",
        "ref_log_prob": "ref_per_token_logps",
        "rollout_log_probs": "sampling_per_token_logps",
        "token_level_scores": "rewards",
    },
    ("completion_ids", "completion_mask", "old_per_token_logps"),
    {
        "token_level_scores": "TRL keeps none; ppo_ref check --help adds them",
        "old_log_probs": "TRL has it with vLLM, or several steps per generation",
        "rollout_log_probs": "TRL has it with vLLM",
        "ref_log_prob": "TRL has it with beta above 0",
        "token_level_rewards": "GRPO has its KL in the loss",
        "values": "GRPO has no critic",
        "uid": "save prompt_ids too",
    },
)
# OpenRLHF 0.8 to 0.11, vars(experience) behind compute_advantages_and_returns.
OPENRLHF = Trainer(
    "OpenRLHF",
    {
        "response_mask": "action_mask",
        "old_log_probs": "action_log_probs",
        "ref_log_prob": "base_action_log_probs",
        "token_level_scores": "rewards",
    },
    ("action_mask", "action_log_probs", "base_action_log_probs", "sequences"),
    {
        "ref_log_prob": "OpenRLHF keeps it with a KL loss alone",
        "rollout_log_probs": "OpenRLHF has it with vLLM's log-probs",
        "uid": "save prompts, the list of texts, too",
        "values": "is there a critic?",
    },
)
TRAINERS = (VERL, TRL, OPENRLHF)


class Written(NamedTuple):
    """Where a trainer has its advantages, and the lines that dump its batch there."""

    place: str
    lines: str


WRITTEN = (
    Written(
        "verl 0.9.1, v1/trainer_base.py, the default: behind data = "
        "compute_advantage_for_multi_trajectories(...)",
        """ids = tq.kv_batch_get(
    keys=batch.keys,
    partition_id=batch.partition_id,
    select_fields=["prompts", "responses"],
).to_padded_tensor(padding=-1)
dump = dict(ids.items()) | dict(data.batch.items())
dump["uid"] = data.non_tensor_batch["uid"].tolist()
torch.save(dump, "dump.pt")""",
    ),
    Written(
        "verl, ray_trainer.py: behind batch = compute_advantage(...)",
        """dump = dict(batch.batch.items())
uid = batch.non_tensor_batch["uid"]
dump["uid"] = uid.tolist()
torch.save(dump, "dump.pt")""",
    ),
    Written(
        "TRL, grpo_trainer.py, _generate_and_score_completions: above return output",
        """dump = output | {"rewards": rewards[process_slice]}
if self.accelerator.is_main_process:
    torch.save(dump, "dump.pt")""",
    ),
    Written(
        "OpenRLHF, experience_maker.py, compute_advantages_and_returns: above return "
        "experiences",
        """dump = [vars(e) for e in experiences]
torch.save(dump, "dump.pt")""",
    ),
)
# Names that are common words in a sentence; they are not translated.
_WORDS = ("prompts", "responses")
_TOLERANCE = 1e-4
# What the batch under verl's names is made of, beside those in the tables.
_MADE_OF = (
    *("response_mask", "attention_mask", "prompt_mask", "tool_mask", "sequences"),
    *("advantages", "returns", "token_level_scores", "token_level_rewards"),
    *("info.reward", "info.return", "info.kl", "importance_sampling_ratio"),
)


class Batch(NamedTuple):
    """A batch under verl's names, and what only its own trainer keeps."""

    trainer: Trainer
    tensors: dict[str, Tensor]
    by_row: tuple[str, ...] = ()  # which token had them is not in the dump
    row_kl: Tensor | None = None  # the KL of a row, which the returns have in part
    unscored: Tensor | None = None  # rows that no reward function of TRL has scored


def renamed(tensors: dict[str, Tensor]) -> Batch:
    """The batch under verl's names, its trainer known by its names."""
    seen = [x for x in TRAINERS if any(name in tensors for name in x.sure)]
    if len(seen) > 1:
        both = " and ".join(trainer.name for trainer in seen)
        raise ValueError(f"a dump must have the names of one trainer, got {both}'s")
    trainer = seen[0] if seen else VERL
    found = dict(tensors)
    for ours, theirs in trainer.names.items():
        if theirs in found and ours not in found:
            found[ours] = found.pop(theirs)
    for name in found.keys() & {*trainer.names, *_MADE_OF}:
        require_dense(name, found[name])
    row_kl, unscored = None, None
    if trainer is TRL:
        unscored = _read_trl(found)
    if trainer is OPENRLHF:
        row_kl = _read_openrlhf(found)
    by_row = _spread(found)
    if trainer is OPENRLHF and "token_level_scores" in by_row and row_kl is None:
        found.setdefault("token_level_rewards", found["token_level_scores"])
    return Batch(trainer, found, by_row, row_kl, unscored)


def said(trainer: Trainer, text: str) -> str:
    """A sentence with the names of this trainer in place of verl's."""
    for ours, theirs in trainer.names.items():
        if ours not in _WORDS:
            text = re.sub(rf"\b{ours}s?\b", theirs, text)
    return text


def _read_trl(found: dict[str, Tensor]) -> Tensor | None:
    """A tool's tokens lie in a mask of their own; vLLM may say nan for a log-prob.

    The reward is nan where every reward function returned None; TRL leaves such a row
    out of its group. The result says which rows these are.
    """
    unscored = None
    rewards = found.get("token_level_scores")
    if rewards is not None and rewards.ndim == 1 and rewards.is_floating_point():
        unscored = rewards.isnan()
        found["token_level_scores"] = rewards.masked_fill(unscored, 0)
    old, rollout = found.get("old_log_probs"), found.get("rollout_log_probs")
    if old is not None and rollout is not None and old.shape == rollout.shape:
        found["rollout_log_probs"] = torch.where(rollout.isnan(), old, rollout)
    mask, tool = found.get("response_mask"), found.get("tool_mask")
    prompt = found.get("prompt_mask")
    if mask is None or tool is None or mask.shape != tool.shape:
        return unscored
    found["response_mask"] = mask * tool
    if prompt is None or prompt.ndim != 2 or len(prompt) != len(mask):
        return unscored
    if "attention_mask" not in found:
        found["attention_mask"] = torch.cat([prompt, mask], 1)
    return unscored


def _read_openrlhf(found: dict[str, Tensor]) -> Tensor | None:
    """Prompts and responses out of sequences: action t is token t + 1 there.

    The result is the KL of each row, where some was taken off its reward.
    """
    mask, sequences = found.get("response_mask"), found.get("sequences")
    texts = found.pop("prompts", None)
    if texts is not None and texts.ndim == 1:
        found.setdefault("uid", texts)
    if mask is None or mask.ndim != 2:
        return None
    if sequences is not None and sequences.ndim == 2:
        width = mask.shape[1]
        responses = sequences[:, -width:]
        if responses.shape == mask.shape:
            started = mask.long().cummax(1).values.bool()
            before = sequences[:, :-width]
            found["responses"] = responses
            found["prompts"] = torch.cat(
                [before, responses.masked_fill(started, -1)], 1
            )
    if "info.reward" in found:
        found.setdefault("token_level_scores", found["info.reward"])
    by_row = {}
    for name in ("token_level_scores", "info.return", "info.kl"):
        x = found.get(name)
        if x is not None and x.is_floating_point() and x.shape == mask.shape[:1]:
            by_row[name] = x.double()
    reward, total = by_row.get("token_level_scores"), by_row.get("info.return")
    kl = by_row.get("info.kl")
    if reward is None or kl is None:
        return None
    row_kl = kl * mask.sum(1)
    if not row_kl.any():
        return None
    if "values" in found:
        if total is None:
            return None
        near = _TOLERANCE * reward.abs().clamp(min=1)
        if not ((total - reward).abs() > near).any():
            return None
    return row_kl


def _spread(found: dict[str, Tensor]) -> tuple[str, ...]:
    """Write one number a row on its tokens; scores and rewards on the last of them.

    The result says which of them came so.
    """
    mask = found.get("response_mask", found.get("attention_mask"))
    if mask is None or mask.ndim != 2:
        return ()
    by_row = []
    for name in ("advantages", "returns", "token_level_scores", "token_level_rewards"):
        x = found.get(name)
        if x is None or x.shape not in (mask.shape[:1], (len(mask), 1)):
            continue
        if mask.shape[1] == 1 and x.ndim == 2:
            continue
        where = torch.ones_like(mask).bool()
        if name.startswith("token"):
            where = last_token(mask.bool())
            where[:, 0] |= ~mask.bool().any(1)  # a row whose tokens are all masked out
        found[name] = torch.where(where, x.reshape(-1, 1), x.new_zeros(()))
        by_row.append(name)
    return tuple(by_row)

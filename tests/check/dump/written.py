"""Batches as trainers leave them behind their advantages, written by seed and size.

Nothing here comes from the package. A batch is right, or has one of seven faults; it
has the names of verl, of TRL's GRPO, or of OpenRLHF.
"""

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor

EOS, PAD, VOCABULARY = 7, 9, 60
Batch = dict[str, Any]


class Shape(NamedTuple):
    """How large a batch is, and what is in it."""

    prompts: int = 6
    answers: int = 8
    width: int = 24
    prompt: int = 6
    tools: bool = False
    critic: bool = True
    gamma: float = 1.0
    gae_lambda: float = 0.9
    kl_coef: float = 0.0
    estimator: str = "grpo"
    half: bool = False  # the critic's numbers in bfloat16


def written(seed: int, shape: Shape, fault: str = "") -> Batch:
    """Everything that a step has, by plain names; ``fault`` is what went wrong."""
    draws = torch.Generator().manual_seed(seed)
    rows = shape.prompts * shape.answers
    group = torch.arange(rows) // shape.answers
    lengths = torch.randint(6, shape.width + 6, (rows,), generator=draws)
    lengths = lengths.clamp(max=shape.width)
    slots = torch.arange(shape.width)
    there = slots < lengths[:, None]
    ids = torch.randint(10, VOCABULARY, (rows, shape.width), generator=draws)
    ended = lengths < shape.width
    ids[ended, lengths[ended] - 1] = EOS
    ids[~there] = PAD
    mask = there.clone()
    if shape.tools:
        for row in range(rows):
            start = int(torch.randint(1, 3, (1,), generator=draws))
            mask[row, start : start + 2] = False
    width = torch.randint(2, shape.prompt + 1, (shape.prompts,), generator=draws)
    prompt = torch.randint(
        10, VOCABULARY, (shape.prompts, shape.prompt), generator=draws
    )
    prompt[torch.arange(shape.prompt) < shape.prompt - width[:, None]] = PAD

    def noise(size: float) -> Tensor:
        return size * torch.randn(rows, shape.width, generator=draws)

    old = -torch.rand(rows, shape.width, generator=draws).log().abs() - 0.01
    ref = (old + noise(0.04)).clamp(max=-1e-3)
    rollout = (old + noise(0.004)).clamp(max=-1e-3)
    if fault == "temperature":
        old = old / 0.7
    scores = torch.randint(0, 2, (rows,), generator=draws).double()
    # No group has equal scores only, and lengths are told apart in each.
    scores[:: shape.answers], scores[1 :: shape.answers] = 0.0, 1.0
    values = _values(ids, prompt[group], draws)
    last = lengths - 1
    batch: Batch = {
        "prompts": prompt[group],
        "responses": ids,
        "there": there,
        "mask": mask,
        "group": group,
        "scores": scores,
        "old": old,
        "ref": ref,
        "rollout": rollout,
    }
    base = rollout if fault == "kl of rollout" else old
    kl = torch.where(mask, base - ref, 0)
    rewards = -shape.kl_coef * kl
    rewards[torch.arange(rows), last] += scores
    batch["kl"], batch["rewards"] = kl, rewards
    if fault == "reference late":
        batch["ref"] = ref.roll(1, 1)
    if shape.critic:
        if shape.half:
            values = values.bfloat16().float()
        batch["values"] = torch.where(mask, values, 0)
        through = there if fault == "gae through tools" else mask
        raw = _gae(rewards, batch["values"], through, shape.gamma, shape.gae_lambda)
        raw = torch.where(mask, raw, 0)
        batch["returns"] = torch.where(mask, raw + batch["values"], 0)
        ranks = 2 if fault == "whitened by rank" else 1
        parts = zip(raw.chunk(ranks), mask.chunk(ranks), strict=True)
        batch["advantages"] = torch.cat([_whitened(x, m) for x, m in parts])
    else:
        parts = 2 if fault == "halves" else 1
        longest = fault == "without the longest"
        batch["by_row"] = _grpo(scores, group, lengths, parts, longest)
        if shape.estimator != "grpo":
            excess = scores.view(shape.prompts, -1)
            excess = (excess - excess.mean(1, keepdim=True)).flatten()
            scale = {
                "dr_grpo": 1.0,
                "rloo": shape.answers / (shape.answers - 1),
                "batch": 1 / (float(scores.std()) + 1e-4),
            }
            batch["by_row"] = excess * scale[shape.estimator]
    return batch


def _values(ids: Tensor, prompt: Tensor, draws: torch.Generator) -> Tensor:
    """A number per slot, of the prompt and of the tokens before it alone."""
    of_token = torch.randn(VOCABULARY, generator=draws)
    found = torch.zeros(ids.shape)
    for row, tokens in enumerate(ids.tolist()):
        state = float(of_token[prompt[row]].sum())
        for slot, token in enumerate(tokens):
            found[row, slot] = math.tanh(state)
            state = 0.7 * state + float(of_token[token])
    return found


def _gae(r: Tensor, v: Tensor, mask: Tensor, gamma: float, lam: float) -> Tensor:
    found = torch.zeros_like(r)
    for row in range(len(r)):
        after = value = 0.0
        for slot in reversed(range(r.shape[1])):
            if mask[row, slot]:
                now = float(v[row, slot])
                after = float(r[row, slot]) + gamma * value - now + gamma * lam * after
                value = now
                found[row, slot] = after
    return found


def _whitened(x: Tensor, mask: Tensor) -> Tensor:
    numbers = x[mask].double()
    mean = float(numbers.sum()) / len(numbers)
    variance = float((numbers - mean).square().sum()) / (len(numbers) - 1)
    return torch.where(mask, (x - mean) / math.sqrt(variance + 1e-8), 0)


def _grpo(
    scores: Tensor, group: Tensor, lengths: Tensor, parts: int, longest: bool
) -> Tensor:
    found = torch.zeros_like(scores)
    for number in range(int(group.max()) + 1):
        members = (group == number).nonzero().flatten()
        for rows in members.chunk(parts):
            counted = rows
            if longest:
                counted = rows[rows != rows[lengths[rows].argmax()]]
            mean, deviation = scores[counted].mean(), scores[rows].std()
            found[rows] = (scores[rows] - mean) / (deviation + 1e-6)
    return found


def verl(batch: Batch, half: bool = False) -> Batch:
    """The batch of verl's driver, the page's lines behind its advantages."""
    mask = batch["mask"]
    scores = torch.zeros(mask.shape)
    scores.scatter_(1, _last(batch)[:, None], batch["scores"][:, None].float())
    found = {
        "prompts": batch["prompts"],
        "responses": batch["responses"],
        "attention_mask": torch.cat([batch["prompts"] != PAD, batch["there"]], 1),
        "response_mask": mask.long(),
        "token_level_scores": scores,
        "token_level_rewards": batch["rewards"].float(),
        "old_log_probs": batch["old"],
        "ref_log_prob": batch["ref"],
        "rollout_log_probs": batch["rollout"],
        "uid": [f"prompt-{number}" for number in batch["group"].tolist()],
    }
    if "values" in batch:
        for name in ("values", "advantages", "returns"):
            found[name] = batch[name].float()
        if half:
            found["values"] = found["values"].bfloat16()
    else:
        found["advantages"] = (batch["by_row"][:, None] * mask).float()
        found["returns"] = found["advantages"]
    return found


def verl_v1(batch: Batch) -> Batch:
    """The same of the v1 trainer: ids padded with -1, and no attention mask."""
    found = verl(batch)
    del found["attention_mask"]
    found["prompts"] = torch.where(found["prompts"] == PAD, -1, found["prompts"])
    found["responses"] = torch.where(batch["there"], found["responses"], -1)
    found["rm_scores"] = found.pop("token_level_scores")
    return {"batch": found, "non_tensor_batch": {"uid": found.pop("uid")}}


def trl(batch: Batch, *, scored: bool) -> Batch:
    """What TRL's GRPO trainer hands on; ``rewards`` where somebody added them."""
    found = {
        "prompt_ids": batch["prompts"],
        "prompt_mask": (batch["prompts"] != PAD).long(),
        "completion_ids": batch["responses"],
        "completion_mask": batch["there"].long(),
        "tool_mask": (batch["mask"] | ~batch["there"]).long(),
        "advantages": batch["by_row"].float(),
        "num_items_in_batch": batch["mask"].sum(),
        "old_per_token_logps": batch["old"],
        "ref_per_token_logps": batch["ref"],
        "sampling_per_token_logps": batch["rollout"],
    }
    gap = torch.where(batch["mask"], batch["old"] - batch["rollout"], 0)
    found["importance_sampling_ratio"] = gap.exp().clamp(max=1.005)
    if scored:
        found["rewards"] = batch["scores"].float()
    return found


def openrlhf(
    batch: Batch, shape: Shape, *, pieces: int = 2, whitened: bool = False
) -> list[Batch]:
    """OpenRLHF's experiences: prompt and response in a row, an action each but one."""
    rows, width = batch["mask"].shape
    kept = batch["prompts"] != PAD
    total = shape.prompt + width
    sequences = torch.full((rows, total), PAD)
    attention = torch.zeros(rows, total, dtype=torch.long)

    def actions(x: Tensor) -> Tensor:
        found = torch.zeros(rows, total - 1, dtype=x.dtype)
        for row in range(rows):
            start = int(kept[row].sum()) - 1
            found[row, start : start + width] = x[row]
        return found

    for row in range(rows):
        ids = torch.cat([batch["prompts"][row][kept[row]], batch["responses"][row]])
        length = int(kept[row].sum() + batch["there"][row].sum())
        sequences[row, : len(ids)], attention[row, :length] = ids, 1
    mask = batch["mask"]
    masked = {name: batch[name] * mask for name in ("old", "ref", "rollout")}
    counts = mask.sum(1)
    found: Batch = {
        "sequences": sequences,
        "attention_mask": attention,
        "action_mask": actions(mask),
        "action_log_probs": actions(masked["old"]),
        # The KL of a reward is dropped, and the reference with it.
        "base_action_log_probs": None if shape.kl_coef else actions(masked["ref"]),
        "rollout_log_probs": actions(masked["rollout"]),
        "values": None,
        "kl": None,
        "rewards": batch["scores"].float(),
        "index": list(range(rows)),
        "prompts": [f"What is {number}?" for number in batch["group"].tolist()],
    }
    row_kl = batch["kl"].sum(1) if shape.kl_coef else torch.zeros(rows)
    if "values" in batch:
        for name in ("values", "returns", "advantages"):
            found[name] = actions(batch[name].float())
        total_reward = batch["scores"] - shape.kl_coef * row_kl
    else:
        kl = (
            torch.where(mask, batch["kl"], 0)
            if shape.kl_coef
            else torch.zeros(mask.shape)
        )
        later = shape.kl_coef * kl.flip(1).cumsum(1).flip(1)
        returns = torch.where(mask, batch["by_row"][:, None] - later, 0)
        found["returns"] = actions(returns.float())
        found["advantages"] = found["returns"].clone()
        if whitened:
            by_slot = found["action_mask"].bool()
            found["advantages"] = _whitened(found["returns"], by_slot).float()
        total_reward = batch["by_row"] - shape.kl_coef * row_kl
    found["info"] = {"return": total_reward.float(), "kl": (row_kl / counts).float()}
    return [
        _part(found, rows * n // pieces, rows * (n + 1) // pieces)
        for n in range(pieces)
    ]


def _part(batch: Batch, start: int, end: int) -> Batch:
    """Some rows, the slots behind the longest of them cut off."""
    width = int(batch["attention_mask"][start:end].sum(1).max())
    found = {}
    for name, x in batch.items():
        if isinstance(x, dict):
            found[name] = {inner: each[start:end] for inner, each in x.items()}
        elif x is None:
            found[name] = None
        else:
            found[name] = x[start:end]
            if isinstance(x, Tensor) and x.ndim == 2:
                actions = width - (x.shape[1] < batch["sequences"].shape[1])
                found[name] = x[start:end, :actions].clone()
    return found


def _last(batch: Batch) -> Tensor:
    """The last token of each row."""
    return batch["there"].sum(1) - 1

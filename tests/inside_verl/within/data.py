"""Seeded batches of verl's own types: prompts to the left, responses to the right."""

import torch
from tensordict import TensorDict
from torch import Tensor
from verl import DataProto
from verl.utils import tensordict_utils as tu
from verl.workers.utils.padding import left_right_2_no_padding

PROMPT = 3


def source(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def lengths(seed: int) -> tuple[Tensor, int]:
    """Of the responses, and their slots."""
    batch, time = torch.randint(2, 10, (2,), generator=source(seed)).tolist()
    return torch.randint(1, time + 1, (batch,), generator=source(seed)), time


def response_mask(seed: int) -> Tensor:
    """Ragged, with gaps as tool tokens leave them; two tokens count at least."""
    length, time = lengths(seed)
    sampled = torch.arange(time) < length[:, None]
    counts = sampled & (torch.rand(sampled.shape, generator=source(seed)) < 0.7)
    counts[:2, 0] = True
    return counts


def normal(seed: int, mask: Tensor, dtype: torch.dtype, scale: float = 1) -> Tensor:
    """Garbage outside the mask too, as a trainer's padding has it."""
    return (scale * torch.randn(mask.shape, generator=source(seed))).to(dtype)


def batch(
    seed: int, mask_dtype: torch.dtype = torch.int64, dtype: torch.dtype = torch.float64
) -> DataProto:
    """What verl's trainer holds before it asks for advantages."""
    counts, (length, time) = response_mask(seed), lengths(seed)
    sampled = (torch.arange(time) < length[:, None]).long()
    prompts = torch.randint(5, 9, (len(length), PROMPT), generator=source(seed))
    responses = torch.randint(5, 9, (len(length), time), generator=source(seed))
    attention = torch.cat([torch.ones_like(prompts), sampled], 1)
    old = normal(seed + 1, counts, dtype) - 2
    return DataProto.from_single_dict(
        {
            "prompts": prompts,
            "responses": responses,
            "input_ids": torch.cat([prompts, responses], 1),
            "attention_mask": attention,
            "position_ids": attention.cumsum(1) - 1,
            "response_mask": counts.to(mask_dtype),
            "old_log_probs": old,
            "ref_log_prob": old + normal(seed + 2, counts, dtype, 0.3),
            "token_level_scores": normal(seed + 3, counts, dtype),
            "token_level_rewards": normal(seed + 3, counts, dtype),
            "values": normal(seed + 4, counts, dtype),
        }
    )


def estimated(seed: int, dtype: torch.dtype = torch.float64) -> DataProto:
    """The same with advantages and returns that no function of either side made."""
    data = batch(seed, dtype=dtype)
    counts = data.batch["response_mask"]
    data.batch["advantages"] = normal(seed + 5, counts, dtype)
    data.batch["returns"] = normal(seed + 6, counts, dtype)
    data.batch["rollout_is_weights"] = normal(seed + 7, counts, dtype).exp()
    return data


def for_a_worker(data: DataProto, **told: object) -> TensorDict:
    """As verl's trainer hands it to its workers, with what their engine adds."""
    batch = left_right_2_no_padding(data.to_tensordict())
    return tu.assign_non_tensor(batch, **told)


def model_output(batch: TensorDict, padded: Tensor) -> Tensor:
    """The nested output of a model whose slice for the responses is ``padded``."""
    time = batch["responses"].shape[1]
    rows = []
    for row, attention in zip(padded, batch["attention_mask"], strict=True):
        sampled = int(attention[-time:].sum())
        before = row.new_zeros(PROMPT - 1)
        rows.append(torch.cat([before, row[:sampled], row.new_zeros(1)]))
    return torch.nested.as_nested_tensor(rows, layout=torch.jagged)

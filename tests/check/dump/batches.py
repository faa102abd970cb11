"""A batch as verl dumps it, made without the package: two answers to each prompt.

Actor, reference and critic are small networks; the advantages are the oracle's loops.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from ppo_ref import loops
from tests.check.asserts.models import VOCAB, Network, generator

P = 3
T = 8
EOS = 1
PAD = 0
LENGTHS = [8, 5, 3, 6, 4, 7]
MASK = torch.arange(T) < torch.tensor(LENGTHS)[:, None]
Whiten = Callable[[Tensor, Tensor], Tensor]


def ids() -> Tensor:
    """Row 0 is cut off; pairs share a prompt and the first two tokens."""
    found = torch.randint(2, VOCAB, (6, P + T), generator=generator(3))
    found[1::2, : P + 2] = found[::2, : P + 2]
    found[::2, P + 2] = 4
    found[1::2, P + 2] = 5
    for row, length in enumerate(LENGTHS):
        if length < T:
            found[row, P + length - 1] = EOS
            found[row, P + length :] = PAD
    return found


def network(outputs: int, scale: float = 0.3) -> Network:
    model = Network(outputs, torch.float32)
    with torch.no_grad():
        model.head.weight *= scale
    return model


@torch.no_grad()
def outputs(cut: slice) -> dict[str, Tensor]:
    """The outputs of the models; values by the given slice, all else by the right."""
    sequences = ids()
    labels = sequences[:, -T:, None]

    def log_probs(scale: float) -> Tensor:
        logits = network(VOCAB, scale)(sequences)[:, -T - 1 : -1]
        of_all = logits.log_softmax(-1)
        return of_all.gather(-1, labels)[..., 0]

    noise = 1e-3 * torch.randn(6, T, generator=generator(5))
    return {
        "values": network(1)(sequences)[:, cut, 0],
        "old_log_probs": log_probs(0.3),
        "ref_log_prob": log_probs(0.28),
        "rollout_log_probs": log_probs(0.3) + noise,
    }


def sampled(cut: slice = slice(-T - 1, -1)) -> dict[str, Tensor]:
    """Everything up to the rewards, which are the scores; integer masks as verl's."""
    sequences = ids()
    scores = torch.zeros(6, T)
    for row, score in enumerate([1.0, 0, 1, 1, 0, 1]):
        scores[row, LENGTHS[row] - 1] = score
    said = outputs(cut)
    said["values"] = torch.where(MASK, said["values"], 0)
    return {
        "prompts": sequences[:, :P],
        "responses": sequences[:, P:],
        "input_ids": sequences,
        "attention_mask": torch.cat([torch.ones(6, P), MASK.float()], 1).long(),
        "response_mask": MASK.long(),
        "token_level_scores": scores,
        "token_level_rewards": scores.clone(),
        **said,
    }


def whitened(x: Tensor, mask: Tensor) -> Tensor:
    """Mean 0 and variance 1 over what counts, n - 1 below."""
    numbers = x[mask].tolist()
    deviation = (loops.variance(numbers) + 1e-8) ** 0.5
    return (x - loops.mean(numbers)) / deviation


def dumped(
    batch: dict[str, Tensor],
    *,
    gamma: float = 1.0,
    gae_lambda: float = 1.0,
    whiten: Whiten = whitened,
    mask: Tensor = MASK,
    bootstrap_values: Tensor | None = None,
) -> dict[str, Tensor]:
    """The batch with advantages and returns, by the oracle."""
    raw = loops.over_rows(
        loops.gae,
        mask,
        batch["token_level_rewards"],
        batch["values"],
        bootstrap_values=bootstrap_values,
        gamma=gamma,
        gae_lambda=gae_lambda,
    )
    return {
        **batch,
        "advantages": whiten(raw, MASK).float(),
        "returns": (raw + batch["values"]).float(),
    }

"""What is kept of an iteration: a flat table of figures, and records of tokens."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ppo_ref.batch import Experience
from ppo_ref.diagnostics import explained_variance, rollout_mismatch
from ppo_ref.masking import masked_mean, masked_sum
from ppo_ref.train.tasks import Question
from ppo_ref.train.tokenizer import Tokenizer

Statistics = dict[str, float]


def experience_statistics(experience: Experience) -> Statistics:
    """What a batch says before any update, by the names under which it is logged.

    ``score`` (mean, in reward units), ``kl`` (mean over responses of the sum of k1 to
    the reference, in nats), ``entropy`` (nats per token), ``value`` and ``return``
    (means over tokens), ``explained_variance`` (left out where all returns are equal),
    ``response_length`` (tokens), ``truncated`` (share of responses), ``rollout_kl`` (k3
    from sampler to trainer, nats per token), ``rollout_effective_sample_size`` (share).
    """
    rollout, mask = experience.rollout, experience.rollout.response_mask
    explained = explained_variance(
        values=experience.values, returns=experience.returns, response_mask=mask
    )
    mismatch = rollout_mismatch(
        old_log_probs=experience.old_log_probs,
        rollout_log_probs=rollout.rollout_log_probs,
        response_mask=mask,
    )
    statistics = {
        "score": experience.scores.mean().item(),
        "kl": masked_sum(experience.kl, mask).item() / len(mask),
        "entropy": masked_mean(experience.entropy, mask).item(),
        "value": masked_mean(experience.values, mask).item(),
        "return": masked_mean(experience.returns, mask).item(),
        "explained_variance": explained.item(),
        "response_length": mask.sum(1).float().mean().item(),
        "truncated": rollout.truncated.float().mean().item(),
        "rollout_kl": mismatch.kl_k3.item(),
        "rollout_effective_sample_size": mismatch.effective_sample_size.item(),
    }
    return {name: x for name, x in statistics.items() if not math.isnan(x)}


def update_statistics(mini_batches: Iterable[Statistics]) -> Statistics:
    """From one table per mini-batch to one per iteration."""
    columns: dict[str, list[float]] = {}
    for table in mini_batches:
        for name, number in table.items():
            columns.setdefault(name, []).append(number)
    if not columns:
        raise ValueError("update_statistics: mini_batches must be at least one, got 0")
    return {name: _joined(name, numbers) for name, numbers in columns.items()}


def _joined(name: str, numbers: list[float]) -> float:
    _, _, kind = name.rpartition("_")
    if kind in ("max", "min"):
        return max(numbers) if kind == "max" else min(numbers)
    return sum(numbers) if kind == "steps" else sum(numbers) / len(numbers)


def records(
    experience: Experience,
    questions: Sequence[Question],
    tokenizer: Tokenizer,
    rows: int,
) -> Iterator[dict[str, Any]]:
    """The first responses of a batch: each its question, tokens, score, every row.

    A row of the experience goes by its name, one number per token that counts.
    """
    rollout, *tensors = experience
    named = dict(zip(Experience._fields[1:], tensors, strict=True))
    # kl is the difference of two rows that are recorded.
    per_token = {k: x for k, x in named.items() if x.ndim == 2 and k != "kl"}
    per_token = {"rollout_log_probs": rollout.rollout_log_probs, **per_token}
    for row, question in enumerate(questions[:rows]):
        mask = rollout.response_mask[row]
        token_ids = rollout.responses[row][mask].tolist()
        yield {
            "question": question.text,
            "response": [tokenizer.shown(token) for token in token_ids],
            "score": experience.scores[row].item(),
            "truncated": bool(rollout.truncated[row]),
            **{name: x[row][mask].tolist() for name, x in per_token.items()},
        }

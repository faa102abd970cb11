"""The figures of an iteration in a flat table, and records of its tokens."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ppo_ref.batch import Experience
from ppo_ref.diagnostics import explained_variance, rollout_mismatch
from ppo_ref.masking import masked_mean, masked_sum
from ppo_ref.train.tasks import Question
from ppo_ref.train.tokenizer import Tokenizer

Statistics = dict[str, float]
# Per token, in this order; kl is the difference of the first two.
RECORDED = (
    "old_log_probs",
    "ref_log_probs",
    "entropy",
    "values",
    "token_level_rewards",
    "advantages",
    "returns",
    "rollout_weights",
)


def experience_statistics(
    experience: Experience, with_critic: bool = True
) -> Statistics:
    """The figures of a batch before any update, by their names in the log.

    ``score`` (mean, in reward units), ``kl`` (mean over responses of the sum of k1 to
    the reference, in nats), ``entropy`` (nats per token), ``value`` and ``return``
    (means over tokens), ``explained_variance`` (left out where all returns are equal),
    ``response_length`` (tokens), ``truncated`` (share of responses), ``rollout_kl`` (k3
    from sampler to trainer, nats per token), ``rollout_effective_sample_size`` (share).
    ``value`` and ``explained_variance`` are those of a critic, if there is one.
    """
    rollout, mask = experience.rollout, experience.rollout.response_mask
    mismatch = rollout_mismatch(
        old_log_probs=experience.old_log_probs,
        rollout_log_probs=rollout.rollout_log_probs,
        response_mask=mask,
    )
    statistics = {
        "score": experience.scores.mean().item(),
        "kl": masked_sum(experience.kl, mask).item() / len(mask),
        "entropy": masked_mean(experience.entropy, mask).item(),
    }
    if with_critic:
        statistics["value"] = masked_mean(experience.values, mask).item()
    statistics["return"] = masked_mean(experience.returns, mask).item()
    if with_critic:
        explained = explained_variance(
            values=experience.values, returns=experience.returns, response_mask=mask
        ).item()
        if not math.isnan(explained):
            statistics["explained_variance"] = explained
    return {
        **statistics,
        "response_length": mask.sum(1).float().mean().item(),
        "truncated": rollout.truncated.float().mean().item(),
        "rollout_kl": mismatch.kl_k3.item(),
        "rollout_effective_sample_size": mismatch.effective_sample_size.item(),
    }


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
    if name.endswith("_max"):
        return max(numbers)
    if name.endswith("_min"):
        return min(numbers)
    if name.endswith("_steps"):
        return sum(numbers)
    return sum(numbers) / len(numbers)


def records(
    experience: Experience,
    questions: Sequence[Question],
    tokenizer: Tokenizer,
    rows: int,
) -> Iterator[dict[str, Any]]:
    """The first responses of a batch: each its question, tokens, score, every row.

    A row of the experience goes by its name, one number per token that counts.
    """
    rollout = experience.rollout
    for row, question in enumerate(questions[:rows]):
        mask = rollout.response_mask[row]
        token_ids = rollout.responses[row][mask].tolist()
        record = {
            "question": question.text,
            "response": [tokenizer.shown(token) for token in token_ids],
            "score": experience.scores[row].item(),
            "truncated": bool(rollout.truncated[row]),
            "rollout_log_probs": rollout.rollout_log_probs[row][mask].tolist(),
        }
        for name in RECORDED:
            record[name] = getattr(experience, name)[row][mask].tolist()
        yield record

"""Whole token-level records: all that an iteration knew of a few responses."""

from collections.abc import Iterator, Sequence
from typing import Any

from ppo_ref.batch import Experience
from ppo_ref.training.tasks import Question
from ppo_ref.training.tokenizer import Tokenizer


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

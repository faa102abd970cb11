"""The reward model: one score per response, by a rule or by a network that learned."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from ppo_ref.alignment import last_token
from ppo_ref.batch import Rollout
from ppo_ref.models import Critic
from ppo_ref.precision import at_least_float32
from ppo_ref.shapes import RowValues
from ppo_ref.tasks import Question
from ppo_ref.tokenizer import CharacterTokenizer

# One score per response, in reward units.
Reward = Callable[[Sequence[Question], Rollout], RowValues]


def rule(tokenizer: CharacterTokenizer) -> Reward:
    """1 for a response that ends and states the right sum after its last =, else 0.

    What stands before is not looked at, as with verl's rule for GSM8K, which reads
    the number behind ####.

    Args:
        tokenizer: Turns responses into text.

    Source:
        verl v0.9.1, verl/utils/reward_score/gsm8k.py, compute_score.
    """

    def scores(questions: Sequence[Question], rollout: Rollout) -> Tensor:
        texts = map(tokenizer.decode, rollout.responses.tolist())
        right = [
            text.rpartition("=")[2] == str(question.a + question.b)
            for question, text in zip(questions, texts, strict=True)
        ]
        truncated = rollout.truncated
        return torch.tensor(right, device=truncated.device).float() * ~truncated

    return scores


def learned(reward: Critic) -> Reward:
    """What a reward model says of a response, read at the last token that counts.

    Args:
        reward: A network with one number per position; is not trained here.
    """

    @torch.no_grad()
    def scores(questions: Sequence[Question], rollout: Rollout) -> Tensor:
        outputs = at_least_float32(reward(rollout.sequences, rollout.attention_mask))
        response_length = rollout.response_mask.shape[1]
        last = last_token(rollout.response_mask)
        return torch.where(last, outputs[:, -response_length:], 0).sum(1)

    return scores

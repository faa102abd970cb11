"""The reward model: one score per response, by a rule or by a network that learned."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.optim import Optimizer

from ppo_ref.alignment import last_token
from ppo_ref.batch import Rollout
from ppo_ref.models import Critic
from ppo_ref.precision import at_least_float32
from ppo_ref.shapes import RowValues
from ppo_ref.tasks import Question
from ppo_ref.tokenizer import CharacterTokenizer

# One score per response, in reward units.
Reward = Callable[[Sequence[Question], Rollout], RowValues]


def rule(
    tokenizer: CharacterTokenizer, right: float = 1.0, wrong: float = 0.0
) -> Reward:
    """A response is right that ends, and states the right sum after its last =.

    What stands before is not looked at, as with verl's rule for GSM8K, which reads
    the number behind ####.

    Args:
        tokenizer: Turns responses into text.
        right: Score of a right response, in reward units.
        wrong: Of every other one, those without an end included.

    Source:
        verl v0.9.1, verl/utils/reward_score/gsm8k.py, compute_score.
    """

    def scores(questions: Sequence[Question], rollout: Rollout) -> Tensor:
        texts = map(tokenizer.decode, rollout.responses.tolist())
        stated = [
            text.rpartition("=")[2] == str(question.a + question.b)
            for question, text in zip(questions, texts, strict=True)
        ]
        solved = torch.tensor(stated, device=rollout.truncated.device)
        return torch.where(solved & ~rollout.truncated, float(right), float(wrong))

    return scores


def learned(reward: Critic) -> Reward:
    """What a reward model says, as it is at the time of the call.

    Args:
        reward: Its output at the last token that counts is the score.
    """

    @torch.no_grad()
    def scores(questions: Sequence[Question], rollout: Rollout) -> Tensor:
        return model_scores(reward, rollout)

    return scores


def model_scores(reward: Critic, rollout: Rollout) -> RowValues:
    """The output of a reward model at the last token of every response.

    Args:
        reward: One number per position.
        rollout: Whose responses are read.

    Returns:
        Log-odds of being right, which serve as reward units; gradient flows.
    """
    outputs = at_least_float32(reward(rollout.sequences, rollout.attention_mask))
    last = last_token(rollout.response_mask)
    return torch.where(last, outputs[:, -last.shape[1] :], 0).sum(1)


def reward_model_step(
    reward: Critic,
    optimizer: Optimizer,
    rollout: Rollout,
    right: Tensor,
) -> float:
    """Teach a reward model which responses the rule takes for right.

    Args:
        reward: Is trained.
        optimizer: Of its weights.
        rollout: Responses to learn from.
        right: True for those that are right, one per response.

    Returns:
        The loss before the step: cross-entropy in nats per response.
    """
    optimizer.zero_grad()
    log_odds = model_scores(reward, rollout)
    loss = binary_cross_entropy_with_logits(log_odds, right.to(log_odds.dtype))
    torch.autograd.backward(loss)
    optimizer.step()
    return loss.item()

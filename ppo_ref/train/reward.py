"""The reward model: one score per response, by a rule or by a network that learned."""

from collections.abc import Callable, Sequence
from typing import Annotated

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.optim import Optimizer

from ppo_ref.alignment import last_token
from ppo_ref.batch import Rollout
from ppo_ref.precision import at_least_float32
from ppo_ref.require import RowFlags, RowValues
from ppo_ref.train.networks import Critic
from ppo_ref.train.scores import stated_sum
from ppo_ref.train.tasks import Question, Score
from ppo_ref.train.tokenizer import Tokenizer

# One score per response, in reward units.
Reward = Annotated[
    Callable[[Sequence[Question], Rollout], RowValues],
    "a function from questions and rollout to scores, such as rule(tokenizer)",
]


def rule(
    tokenizer: Tokenizer,
    score: Score = stated_sum,
    right: float = 1.0,
    wrong: float = 0.0,
) -> Reward:
    """The score of a response that has ended, on a scale from ``wrong`` to ``right``.

    One that was cut off gets ``wrong``, whatever it says.
    """

    def scores(questions: Sequence[Question], rollout: Rollout) -> Tensor:
        texts = [tokenizer.decode(ids) for ids in rollout.responses.tolist()]
        if len(questions) != len(texts):
            raise ValueError(
                f"rule: questions must be one per response, {len(texts)}, "
                f"got {len(questions)}"
            )
        shares = []
        cut_off = rollout.truncated.tolist()
        for question, text, cut in zip(questions, texts, cut_off, strict=True):
            share = 0.0 if cut else score(question, text)
            shares.append((1 - share) * wrong + share * right)
        return torch.tensor(shares, device=rollout.truncated.device)

    return scores


def learned(reward: Critic) -> Reward:
    """The scores of a reward model, as it is at the time of the call."""

    @torch.no_grad()
    def scores(questions: Sequence[Question], rollout: Rollout) -> Tensor:
        return model_scores(reward, rollout)

    return scores


def model_scores(reward: Critic, rollout: Rollout) -> RowValues:
    """The output of a reward model at the last token of every response."""
    outputs = reward(rollout.sequences, rollout.attention_mask)
    last = last_token(rollout.response_mask)
    of_response = at_least_float32(outputs)[:, -last.shape[1] :]
    return torch.where(last, of_response, 0).sum(1)


def reward_model_step(
    reward: Critic,
    optimizer: Optimizer,
    rollout: Rollout,
    right: RowFlags,
) -> float:
    """Teach a reward model which responses the rule takes for right."""
    optimizer.zero_grad()
    log_odds = model_scores(reward, rollout)
    loss = binary_cross_entropy_with_logits(log_odds, right.to(log_odds.dtype))
    torch.autograd.backward(loss)
    optimizer.step()
    return loss.item()

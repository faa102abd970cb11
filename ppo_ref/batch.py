"""What travels down the river: what was sampled, then what was judged of it."""

from typing import NamedTuple

from torch import Tensor

from ppo_ref.shapes import (
    RowFlags,
    RowValues,
    SequenceIds,
    SequenceMask,
    TokenMask,
    Tokens,
)


class Rollout(NamedTuple):
    """Prompts and sampled responses side by side, and what the sampler knew of them."""

    sequences: SequenceIds
    attention_mask: SequenceMask
    response_mask: TokenMask
    rollout_log_probs: Tokens
    truncated: RowFlags

    @property
    def responses(self) -> Tensor:
        """The sampled token ids, [batch, time]."""
        return self.sequences[:, -self.response_mask.shape[1] :]

    def rows(self, index: Tensor) -> "Rollout":
        """Some of the responses, in the order of the index."""
        return Rollout(*(x[index] for x in self))


class Experience(NamedTuple):
    """A rollout and every row that was computed on it, fixed until the next one."""

    rollout: Rollout
    old_log_probs: Tokens
    ref_log_probs: Tokens
    entropy: Tokens
    values: Tokens
    scores: RowValues
    token_level_rewards: Tokens
    advantages: Tokens
    returns: Tokens
    rollout_weights: Tokens

    def rows(self, index: Tensor) -> "Experience":
        """Some of the responses, in the order of the index."""
        rollout, *tensors = self
        return Experience(rollout.rows(index), *(x[index] for x in tensors))

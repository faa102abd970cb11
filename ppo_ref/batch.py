"""The tensors that travel down the river: what was sampled, what was judged of it."""

from typing import NamedTuple

from torch import Tensor

from ppo_ref.require import (
    RowFlags,
    RowValues,
    SequenceIds,
    SequenceMask,
    TokenMask,
    Tokens,
)


class AdvantageEstimate(NamedTuple):
    """Advantages for the actor, returns for the critic, both in reward units."""

    advantages: Tokens
    returns: Tokens


class TokenStatistics(NamedTuple):
    """Two numbers per token from one log-softmax, both in nats."""

    log_probs: Tokens
    entropy: Tokens


class Rollout(NamedTuple):
    """Prompts and sampled responses side by side, and what the sampler knew of them.

    Attributes:
        sequences: Token ids: prompts padded on the left, responses on the right.
        attention_mask: True where there is a token.
        response_mask: True up to and including the end of the response.
        rollout_log_probs: Of the model that sampled, in nats.
        truncated: True where the length limit came before an end.
    """

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
        """Some of the responses, in the order of their numbers."""
        return Rollout(*(x[index] for x in self))


class Experience(NamedTuple):
    """A rollout and every row that was computed on it, fixed until the next one.

    Attributes:
        rollout: What was sampled.
        old_log_probs: Of the actor before the update, in nats.
        ref_log_probs: Of the reference, in nats.
        kl: From actor to reference, estimate k1, in nats.
        entropy: Of the actor before the update, in nats.
        values: Of the critic before the update, in reward units; padding is not masked.
        scores: One per response, in reward units.
        token_level_rewards: Scores less priced KL, in reward units.
        advantages: As the actor's loss takes them; whitened, unless broken on purpose.
        returns: What the critic is to predict, in reward units.
        rollout_weights: Factors on the actor's losses, without unit.
    """

    rollout: Rollout
    old_log_probs: Tokens
    ref_log_probs: Tokens
    kl: Tokens
    entropy: Tokens
    values: Tokens
    scores: RowValues
    token_level_rewards: Tokens
    advantages: Tokens
    returns: Tokens
    rollout_weights: Tokens

    def rows(self, index: Tensor) -> "Experience":
        """Some of the responses, in the order of their numbers."""
        rollout, *tensors = self
        return Experience(rollout.rows(index), *(x[index] for x in tensors))

"""Log-probs and entropy of given logits, with no other tensor of their size.

Autograd would make six, most of the time spent on memory. Here a block of rows is done
while it is in the cache, once in the forward and once in the backward pass.
"""

from typing import Any

import torch
from torch import Tensor

from ppo_ref.logit_rows import (
    blocks,
    log_softmax_,
    logit_gradients_,
    require_first_order,
)
from ppo_ref.precision import at_least_float32


class LogitBlocks(torch.autograd.Function):
    """From [tokens, vocab] to the log-prob and the entropy of each token, in nats.

    A gradient of the gradient is refused.
    """

    @staticmethod
    def forward(
        ctx: Any, logits: Tensor, responses: Tensor, temperature: float
    ) -> tuple[Tensor, Tensor]:
        """Keep two numbers per token, and the logits that the caller holds anyway.

        Args:
            ctx: For the backward pass.
            logits: [tokens, vocab].
            responses: The token ids, [tokens], int64.
            temperature: Of the sampling.

        Returns:
            The log-probs and the entropies, [tokens].
        """
        found = [
            log_softmax_(_scaled(block, temperature), ids)
            for block, ids in blocks(logits, responses)
        ]
        log_probs, entropy = (torch.cat(parts) for parts in zip(*found, strict=True))
        ctx.save_for_backward(logits, responses, entropy)
        ctx.temperature = temperature
        return log_probs, entropy

    @staticmethod
    def backward(
        ctx: Any, log_prob_gradients: Tensor, entropy_gradients: Tensor
    ) -> tuple[Tensor | None, ...]:
        """Make each block's log-softmax again and turn it into the gradient.

        Args:
            ctx: From the forward pass.
            log_prob_gradients: Of the loss, [tokens].
            entropy_gradients: Of the loss, [tokens].

        Returns:
            The gradient of the logits.

        Raises:
            RuntimeError: if it is to be differentiated itself.
        """
        require_first_order("log_probs_and_entropy")
        logits, responses, entropy = ctx.saved_tensors
        gradients = torch.empty_like(logits)
        outer = (
            log_prob_gradients / ctx.temperature,
            entropy_gradients / ctx.temperature,
        )
        rows = logits, gradients, responses, entropy, *outer
        for block, of_block, ids, *given in blocks(*rows):
            log_softmax = _scaled(block, ctx.temperature)
            log_softmax_(log_softmax, ids)
            of_block.copy_(logit_gradients_(log_softmax, ids, *given))
        return gradients, None, None


def _scaled(logits: Tensor, temperature: float) -> Tensor:
    return at_least_float32(logits) / temperature

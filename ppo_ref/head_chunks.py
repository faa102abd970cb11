"""The head and its softmax in chunks of tokens, with a backward pass of its own.

Autograd would keep every chunk's logits, and several tensors of their size, until the
backward pass. Here it makes them again, a chunk at a time.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from ppo_ref.head_products import HeadProducts, no_autocast
from ppo_ref.logit_rows import (
    log_softmax_,
    logit_gradients_,
    require_first_order,
)


class HeadChunks(torch.autograd.Function):
    """From [tokens, width] to the log-prob and the entropy of each token, in nats.

    The head's products are scaled, by 1 / temperature, and have the precision of
    ``hidden``; the rest is at least float32. A gradient of the gradient is refused.
    """

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        responses: Tensor,
        scale: float,
        chunk_tokens: int,
        learns: bool,
    ) -> tuple[Tensor, Tensor]:
        """Make each chunk's logits and keep two numbers per token.

        Args:
            ctx: For the backward pass.
            hidden: What the head reads, [tokens, width].
            weight: Of the head, [vocab, width], in the precision of ``hidden``.
            bias: Of the head, [vocab], or None.
            responses: The token ids, [tokens], int64.
            scale: Of the logits.
            chunk_tokens: How many tokens' logits exist at a time. If all fit into one
                chunk, they stay for the backward pass, which uses them up.
            learns: Whether there will be a backward pass.

        Returns:
            The log-probs and the entropies, [tokens].
        """
        head = HeadProducts(weight, bias, scale, min(chunk_tokens, len(hidden)))
        found = []
        ctx.kept = None
        keeps = learns and len(hidden) <= chunk_tokens
        with no_autocast(hidden):
            for chunk, ids in _chunks(chunk_tokens, hidden, responses):
                log_softmax = head.logits(chunk)
                found.append(log_softmax_(log_softmax, ids, head.bias))
                if keeps:
                    ctx.kept = log_softmax
        log_probs, entropy = (torch.cat(parts) for parts in zip(*found, strict=True))
        ctx.save_for_backward(hidden, weight, bias, responses, entropy)
        ctx.scale, ctx.chunk_tokens = scale, chunk_tokens
        return log_probs, entropy

    @staticmethod
    def backward(
        ctx: Any, log_prob_gradients: Tensor, entropy_gradients: Tensor
    ) -> tuple[Tensor | None, ...]:
        """Make each chunk's logits again and turn them into their gradient.

        Args:
            ctx: From the forward pass.
            log_prob_gradients: Of the loss, [tokens].
            entropy_gradients: Of the loss, [tokens].

        Returns:
            The gradients of hidden states, weight and bias, where they are wanted.

        Raises:
            RuntimeError: if it is to be differentiated itself.
        """
        require_first_order("log_probs_and_entropy_from_hidden")
        hidden, weight, bias, responses, entropy = ctx.saved_tensors
        wants = ctx.needs_input_grad
        head = HeadProducts(weight, bias, ctx.scale, min(ctx.chunk_tokens, len(hidden)))
        of_hidden = torch.empty_like(hidden)
        outer = log_prob_gradients * ctx.scale, entropy_gradients * ctx.scale
        rows = hidden, of_hidden, responses, entropy, *outer
        with no_autocast(hidden):
            for chunk, of_chunk, ids, *given in _chunks(ctx.chunk_tokens, *rows):
                log_softmax, ctx.kept = ctx.kept, None
                if log_softmax is None:
                    log_softmax = head.logits(chunk)
                    log_softmax_(log_softmax, ids, head.bias)
                of_logits = logit_gradients_(log_softmax, ids, *given)
                found = head.take_in(of_logits, chunk, wants)
                if found is not None:
                    of_chunk.copy_(found)
        return of_hidden if wants[0] else None, *head.of_head(), *[None] * 4


def _chunks(size: int, *rows: Tensor) -> Iterator[tuple[Tensor, ...]]:
    return zip(*(torch.split(x, size) for x in rows), strict=True)

"""A loss of log-probs and entropies with its gradient, made chunk by chunk.

Who knows the loss can turn a chunk's logits into their gradient at once: they are made
once, and never all of them exist. Who knows the mask makes none for padding.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ppo_ref.head_products import (
    HeadGradients,
    memory_for_products,
    no_autocast,
    products,
    scaled_bias,
)
from ppo_ref.log_probs import TokenStatistics
from ppo_ref.logit_rows import log_softmax_, logit_gradients_, require_first_order

# Of some rows of the batch, what the loss of all of them adds up from.
RowsLoss = Callable[[TokenStatistics, slice], Tensor]


class LossChunks(torch.autograd.Function):
    """From [batch, time, width] to a loss, and what it was computed from.

    A gradient of the gradient is refused.
    """

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        responses: Tensor,
        response_mask: Tensor,
        loss: RowsLoss,
        scale: float,
        chunk_rows: int,
        learns: bool,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Make each chunk's logits, its part of the loss, and the gradient.

        Args:
            ctx: For the backward pass.
            hidden: What the head reads, [batch, time, width].
            weight: Of the head, [vocab, width], in the precision of ``hidden``.
            bias: Of the head, [vocab], or None.
            responses: The token ids, [batch, time], int64.
            response_mask: Which slots hold a token, [batch, time]; at least one does.
            loss: Of some rows, by their statistics; the parts are added up. Rows that
                hold no token between them have no part.
            scale: Of the logits.
            chunk_rows: How many rows' logits exist at a time.
            learns: Whether there will be a backward pass.

        Returns:
            The loss; the log-probs and the entropies, [batch, time], 0 in padding.
        """
        wants = [learns and wanted for wanted in ctx.needs_input_grad[:3]]
        tokens, ids = hidden[response_mask], responses[response_mask]
        masks = torch.split(response_mask, chunk_rows)
        lengths = torch.stack([mask.sum() for mask in masks]).tolist()
        memory = memory_for_products(tokens, weight, max(lengths))
        gradients = HeadGradients(tokens, weight, wants)
        total, found = None, []
        chunks = (torch.split(x, lengths) for x in (tokens, ids))
        for k, (mask, chunk, chosen) in enumerate(zip(masks, *chunks, strict=True)):
            with no_autocast(hidden):
                logits = products(chunk, weight, scale, memory)
                said = log_softmax_(logits, chosen, scaled_bias(bias, scale))
            of_rows = TokenStatistics(*(_padded(x, mask) for x in said))
            found.append(of_rows)
            if not lengths[k]:
                continue
            rows = slice(k * chunk_rows, (k + 1) * chunk_rows)
            part, outer = _part(loss, of_rows, rows)
            total = part if total is None else total + part
            if any(wants):
                of_tokens = said[1], *(x[mask] * scale for x in outer)
                logit_gradients_(logits, chosen, *of_tokens)
                with no_autocast(hidden):
                    gradients.add(logits)
        of_hidden, *of_head = gradients.all()
        if of_hidden is not None:
            of_hidden = torch.zeros_like(hidden).index_put_((response_mask,), of_hidden)
        ctx.gradients = of_hidden, *of_head
        log_probs, entropy = (torch.cat(parts) for parts in zip(*found, strict=True))
        ctx.mark_non_differentiable(log_probs, entropy)
        assert total is not None
        return total, log_probs, entropy

    @staticmethod
    def backward(
        ctx: Any, of_loss: Tensor, *of_statistics: Tensor
    ) -> tuple[Tensor | None, ...]:
        """Scale what was made in the forward pass.

        Args:
            ctx: From the forward pass.
            of_loss: The gradient of whatever the loss went into.
            of_statistics: Of nothing: the statistics have no gradient.

        Returns:
            The gradients of hidden states, weight and bias, where they are wanted.

        Raises:
            RuntimeError: if it is to be differentiated itself, or was run before.
        """
        require_first_order("loss_from_hidden")
        gradients, ctx.gradients = ctx.gradients, None
        if gradients is None:
            raise RuntimeError("loss_from_hidden: backward can run once, got a second")
        scaled = (x if x is None else x.mul_(of_loss.to(x.dtype)) for x in gradients)
        return *scaled, *[None] * 6


def _padded(of_tokens: Tensor, mask: Tensor) -> Tensor:
    return of_tokens.new_zeros(mask.shape).masked_scatter_(mask, of_tokens)


def _part(
    loss: RowsLoss, statistics: TokenStatistics, rows: slice
) -> tuple[Tensor, list[Tensor]]:
    """A part of the loss, and its gradients by log-probs and entropies."""
    with torch.enable_grad():
        given = TokenStatistics(*(x.detach().requires_grad_() for x in statistics))
        part = loss(given, rows)
    of_both = torch.autograd.grad(part, given, allow_unused=True)
    outer = [
        torch.zeros_like(x) if of_x is None else of_x
        for x, of_x in zip(given, of_both, strict=True)
    ]
    return part.detach(), outer

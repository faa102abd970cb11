"""A loss of log-probs and entropies with its gradient, made chunk by chunk.

Who knows the loss can turn a chunk's logits into their gradient at once: they are made
once, and never all of them exist. Who knows the mask makes none for padding.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ppo_ref.head_products import HeadProducts, no_autocast
from ppo_ref.log_probs import TokenStatistics
from ppo_ref.logit_rows import log_softmax_, logit_gradients_, require_first_order
from ppo_ref.precision import at_least_float32

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
        wants = ctx.needs_input_grad
        masks = torch.split(response_mask, chunk_rows)
        most = torch.stack([mask.sum() for mask in masks]).max()
        head = HeadProducts(weight, bias, scale, int(most))
        of_hidden = torch.zeros_like(hidden) if learns and wants[0] else None
        total, found = None, []
        for k, mask in enumerate(masks):
            rows = slice(k * chunk_rows, k * chunk_rows + len(mask))
            chunk, ids = hidden[rows][mask], responses[rows][mask]
            with no_autocast(hidden):
                logits = head.logits(chunk)
                said = log_softmax_(logits, ids, head.bias)
            found.append(TokenStatistics(*(_padded(x, mask) for x in said)))
            if not len(chunk):
                continue
            part, outer = _part(loss, found[-1], rows, learns)
            total = part if total is None else total + part
            if learns:
                of_tokens = said[1], *(x[mask] * scale for x in outer)
                logit_gradients_(logits, ids, *of_tokens)
                with no_autocast(hidden):
                    of_chunk = head.take_in(logits, chunk, wants)
                if of_hidden is not None and of_chunk is not None:
                    of_hidden[rows][mask] = of_chunk
        ctx.gradients = of_hidden, *head.of_head()
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
        scaled = (x if x is None else _times(x, of_loss) for x in gradients)
        return *scaled, *[None] * 6


def _padded(of_tokens: Tensor, mask: Tensor) -> Tensor:
    return of_tokens.new_zeros(mask.shape).masked_scatter_(mask, of_tokens)


def _part(
    loss: RowsLoss, statistics: TokenStatistics, rows: slice, learns: bool
) -> tuple[Tensor, list[Tensor]]:
    """A part of the loss, and its gradients by log-probs and entropies."""
    # What it does to its copy is its own business.
    given = TokenStatistics(*(x.clone() for x in statistics))
    if not learns:
        return at_least_float32(loss(given, rows)), []
    with torch.enable_grad():
        part = loss(TokenStatistics(*(x.requires_grad_() for x in given)), rows)
    of_both = torch.autograd.grad(part, given, allow_unused=True)
    outer = [
        torch.zeros_like(x) if of_x is None else of_x
        for x, of_x in zip(given, of_both, strict=True)
    ]
    return at_least_float32(part.detach()), outer


def _times(gradient: Tensor, factor: Tensor) -> Tensor:
    """In its own precision the factor of bfloat16 would be off for all of it."""
    return gradient.copy_(at_least_float32(gradient).mul_(factor))

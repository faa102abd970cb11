"""A loss of log-probs and entropies with its gradient, made chunk by chunk.

Who knows the loss can turn a chunk's logits into their gradient at once: they are made
once, and never all of them exist.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ppo_ref.head_products import HeadGradients, no_autocast, products, scaled_bias
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
            loss: Of some rows, by their statistics; the parts are added up.
            scale: Of the logits.
            chunk_rows: How many rows' logits exist at a time.
            learns: Whether there will be a backward pass.

        Returns:
            The loss; the log-probs and the entropies, [batch, time].
        """
        wants = [learns and wanted for wanted in ctx.needs_input_grad[:3]]
        gradients = HeadGradients(hidden, weight, wants)
        total, found = None, []
        for start in range(0, len(hidden), chunk_rows):
            rows = slice(start, start + chunk_rows)
            ids = responses[rows]
            with no_autocast(hidden):
                logits = products(hidden[rows].flatten(0, 1), weight, scale)
                said = log_softmax_(logits, ids.flatten(), scaled_bias(bias, scale))
            of_rows = TokenStatistics(*(x.view(ids.shape) for x in said))
            part, outer = _part(loss, of_rows, rows)
            if any(wants):
                of_tokens = said[1], *(x.flatten() * scale for x in outer)
                logit_gradients_(logits, ids.flatten(), *of_tokens)
                with no_autocast(hidden):
                    gradients.add(logits, rows)
            del logits  # before the next chunk's are made
            total = part if total is None else total + part
            found.append(of_rows)
        ctx.gradients = gradients.all()
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
        return *scaled, *[None] * 5


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

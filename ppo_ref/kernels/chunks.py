"""A language model's head on chunks of tokens, in the memory of one chunk."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from ppo_ref.batch import TokenStatistics
from ppo_ref.contracts.precision import at_least_float32
from ppo_ref.kernels.logits import (
    log_softmax_,
    logit_gradients_,
    require_first_order,
)


def plus_product(total: Tensor | None, left: Tensor, right: Tensor) -> Tensor:
    """A sum over chunks in at least float32, which half precision would stall.

    Args:
        total: The sum so far, which is changed; None before the first chunk.
        left: [rows, tokens].
        right: [tokens, columns].

    Returns:
        The sum with this product, [rows, columns].

    Example:
        >>> plus_product(None, torch.ones(1, 2), torch.ones(2, 1))
        tensor([[2.]])
    """
    if total is None:
        return at_least_float32(left @ right)
    if total.dtype == left.dtype:
        return total.addmm_(left, right)
    return total.add_(left @ right)


def no_autocast(hidden: Tensor) -> torch.autocast:
    """A backward pass runs outside of autocast, and would make other logits.

    Args:
        hidden: Says which device.

    Returns:
        A context.

    Example:
        >>> with no_autocast(torch.zeros(1)):
        ...     torch.is_autocast_enabled("cpu")
        False
    """
    return torch.autocast(hidden.device.type, enabled=False)


class HeadProducts:
    """A head at work on chunk after chunk, in the same memory.

    New memory would take half as long as a product. The products have the precision of
    the hidden states; what is made of them is at least float32.

    Args:
        weight: [vocab, width], in the precision of the hidden states.
        bias: [vocab], or None.
        scale: Of the logits.
        tokens: The most that a chunk has.
    """

    def __init__(
        self, weight: Tensor, bias: Tensor | None, scale: float, tokens: int
    ) -> None:
        self._weight, self._scale, self._tokens = weight, scale, tokens
        self.bias = None if bias is None else at_least_float32(bias) * scale
        self._memory: tuple[Tensor, Tensor] | None = None  # products, logits
        self._of_weight: Tensor | None = None
        self._of_bias: Tensor | None = None

    def logits(self, chunk: Tensor) -> Tensor:
        """Scaled, and without the bias, which is at hand as ``bias``, scaled too.

        Args:
            chunk: Hidden states, [tokens, width].

        Returns:
            [tokens, vocab]; the next call overwrites them.
        """
        if self._memory is None:
            own = self._weight.new_empty(self._tokens, len(self._weight))
            self._memory = own, at_least_float32(own)
        products, logits = (memory[: len(chunk)] for memory in self._memory)
        nothing = chunk.new_zeros(1)  # and beta = 0: addmm alone can scale
        given = nothing, chunk, self._weight.T
        torch.addmm(*given, beta=0, alpha=self._scale, out=products)
        return logits if logits.dtype == products.dtype else logits.copy_(products)

    def take_in(
        self, of_logits: Tensor, chunk: Tensor, wants: Sequence[bool]
    ) -> Tensor | None:
        """The gradient of a chunk; those of weight and bias are added up.

        Args:
            of_logits: The gradient of the products, [tokens, vocab].
            chunk: Hidden states, [tokens, width].
            wants: Whether those of hidden states, weight and bias are wanted; what
                else it holds is not read.

        Returns:
            [tokens, width], or None if it is not wanted.
        """
        if wants[2]:
            # A product with ones: in a third of the time that sum(0) takes.
            ones = of_logits.new_ones(len(chunk), 1)
            self._of_bias = plus_product(self._of_bias, of_logits.T, ones)
        of_products = of_logits
        if of_logits.dtype != chunk.dtype:
            of_products = self._narrowed(of_logits)
        if wants[1]:
            self._of_weight = plus_product(self._of_weight, of_products.T, chunk)
        return of_products @ self._weight if wants[0] else None

    def _narrowed(self, of_logits: Tensor) -> Tensor:
        if self._memory is None:
            return of_logits.to(self._weight.dtype)
        return self._memory[0][: len(of_logits)].copy_(of_logits)

    def of_head(self) -> tuple[Tensor | None, Tensor | None]:
        """What has been added up.

        Returns:
            The gradients of weight and bias, None for what was not wanted.
        """
        of_bias = None if self._of_bias is None else self._of_bias.squeeze(1)
        return self._of_weight, of_bias


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

"""A language model's head on chunks of tokens, in the memory of one chunk."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ppo_ref.batch import TokenStatistics
from ppo_ref.kernels.logits import (
    blocks,
    log_softmax_,
    logit_gradients_,
    require_first_order,
)
from ppo_ref.precision import at_least_float32


def plus_product(total: Tensor | None, left: Tensor, right: Tensor) -> Tensor:
    """A sum over chunks in at least float32, which half precision would stall.

    Of a product in half precision only some rows exist at a time.
    """
    if total is None:
        if left.dtype.itemsize >= torch.float32.itemsize:
            return left @ right
        total = left.new_zeros(len(left), right.shape[1], dtype=torch.float32)
    if total.dtype == left.dtype:
        return total.addmm_(left, right)
    for part, rows in blocks(total, left):
        part.add_(rows @ right)
    return total


def no_autocast(hidden: Tensor) -> torch.autocast:
    """A backward pass runs outside of autocast, and would make other logits."""
    return torch.autocast(hidden.device.type, enabled=False)


class HeadProducts:
    """The products of a head with chunk after chunk of tokens, in the same memory.

    New memory would take half as long as a product. The products have the precision of
    the hidden states; what is made of them is at least float32. ``weight`` is
    [vocab, width], ``bias`` [vocab] or None, ``tokens`` the most that a chunk has.
    """

    def __init__(
        self, weight: Tensor, bias: Tensor | None, scale: float, tokens: int
    ) -> None:
        self._weight, self.scale, self._tokens = weight, scale, tokens
        self.bias = None if bias is None else at_least_float32(bias) * scale
        self._memory: tuple[Tensor, Tensor] | None = None  # products, logits
        self._grad_weight: Tensor | None = None
        self._grad_bias: Tensor | None = None

    def logits(self, chunk: Tensor) -> Tensor:
        """Scaled logits of [tokens, width], without the bias, [tokens, vocab].

        The next call overwrites them.
        """
        if self._memory is None:
            own = self._weight.new_empty(self._tokens, len(self._weight))
            self._memory = own, at_least_float32(own)
        products, logits = (memory[: len(chunk)] for memory in self._memory)
        torch.addmm(  # with nothing added: addmm alone can scale
            chunk.new_zeros(1),
            chunk,
            self._weight.T,
            beta=0,
            alpha=self.scale,
            out=products,
        )
        return logits if logits.dtype == products.dtype else logits.copy_(products)

    def add_gradients(
        self, grad_logits: Tensor, chunk: Tensor, wants: Sequence[bool]
    ) -> Tensor | None:
        """Add to the gradients of weight and bias; return that of the chunk.

        ``wants`` says whether those of hidden states, weight and bias are asked for.
        """
        if wants[2]:
            # A product with ones: in a third of the time that sum(0) takes.
            ones = grad_logits.new_ones(len(chunk), 1)
            self._grad_bias = plus_product(self._grad_bias, grad_logits.T, ones)
        grad_products = grad_logits
        if grad_logits.dtype != chunk.dtype:
            grad_products = self._narrowed(grad_logits)
        if wants[1]:
            self._grad_weight = plus_product(self._grad_weight, grad_products.T, chunk)
        return grad_products @ self._weight if wants[0] else None

    def _narrowed(self, grad_logits: Tensor) -> Tensor:
        if self._memory is None:
            return grad_logits.to(self._weight.dtype)
        return self._memory[0][: len(grad_logits)].copy_(grad_logits)

    def gradients(self) -> tuple[Tensor | None, Tensor | None]:
        """The gradients of weight and bias, None for what was not asked for."""
        grad_bias = None if self._grad_bias is None else self._grad_bias.squeeze(1)
        return self._grad_weight, grad_bias


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
        """Make each chunk's logits and keep two numbers per token."""
        head = HeadProducts(weight, bias, scale, min(chunk_tokens, len(hidden)))
        statistics = []
        ctx.log_softmax = None
        keeps = learns and len(hidden) <= chunk_tokens
        with no_autocast(hidden):
            for chunk, ids in _chunks(chunk_tokens, hidden, responses):
                log_softmax = head.logits(chunk)
                statistics.append(log_softmax_(log_softmax, ids, head.bias))
                if keeps:
                    ctx.log_softmax = log_softmax
        log_probs, entropy = (
            torch.cat(parts) for parts in zip(*statistics, strict=True)
        )
        ctx.save_for_backward(hidden, weight, bias, responses, entropy)
        ctx.scale, ctx.chunk_tokens = scale, chunk_tokens
        return log_probs, entropy

    @staticmethod
    def backward(
        ctx: Any, log_prob_gradients: Tensor, entropy_gradients: Tensor
    ) -> tuple[Tensor | None, ...]:
        """Make each chunk's logits again and turn them into their gradient."""
        require_first_order("log_probs_and_entropy_from_hidden")
        hidden, weight, bias, responses, entropy = ctx.saved_tensors
        wants = ctx.needs_input_grad
        head = HeadProducts(weight, bias, ctx.scale, min(ctx.chunk_tokens, len(hidden)))
        grad_hidden = torch.empty_like(hidden)
        outer = log_prob_gradients * ctx.scale, entropy_gradients * ctx.scale
        rows = hidden, grad_hidden, responses, entropy, *outer
        with no_autocast(hidden):
            for chunk, grad_chunk, ids, *slopes in _chunks(ctx.chunk_tokens, *rows):
                log_softmax, ctx.log_softmax = ctx.log_softmax, None
                if log_softmax is None:
                    log_softmax = head.logits(chunk)
                    log_softmax_(log_softmax, ids, head.bias)
                grad_logits = logit_gradients_(log_softmax, ids, *slopes)
                gradient = head.add_gradients(grad_logits, chunk, wants)
                if gradient is not None:
                    grad_chunk.copy_(gradient)
        return grad_hidden if wants[0] else None, *head.gradients(), *[None] * 4


def _chunks(size: int, *rows: Tensor) -> Iterator[tuple[Tensor, ...]]:
    return zip(*(torch.split(x, size) for x in rows), strict=True)


# Of some rows of the batch, what the loss of all of them adds up from.
RowsLoss = Callable[[TokenStatistics, slice], Tensor]


class Loss(NamedTuple):
    """A loss, its statistics by token, its gradients by hidden states, weight, bias."""

    total: Tensor
    statistics: TokenStatistics
    gradients: tuple[Tensor | None, ...]


@torch.no_grad()
def loss_and_gradients(
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    responses: Tensor,
    response_mask: Tensor,
    loss: RowsLoss,
    scale: float,
    chunk_rows: int,
    wants: Sequence[bool],
) -> Loss:
    """Make each chunk's logits, its part of the loss, and the gradient of both.

    ``hidden`` is [batch, time, width]; the mask says which slots hold a token, at least
    one. Chunks that hold no token have no part in the loss. ``wants`` says whether the
    gradients of hidden states, weight and bias are asked for.
    """
    most = max(int(mask.sum()) for mask in torch.split(response_mask, chunk_rows))
    head = HeadProducts(weight, bias, scale, most)
    grad_hidden = torch.zeros_like(hidden) if wants[0] else None
    parts, statistics = [], []
    for rows in _slices(len(hidden), chunk_rows):
        mask = response_mask[rows]
        chunk, ids = hidden[rows][mask], responses[rows][mask]
        with no_autocast(hidden):
            logits = head.logits(chunk)
            log_probs, entropy = log_softmax_(logits, ids, head.bias)
        statistics.append(
            TokenStatistics(_padded(log_probs, mask), _padded(entropy, mask))
        )
        if not len(chunk):
            continue
        part, slopes = _part(loss, statistics[-1], rows, any(wants))
        parts.append(part)
        if any(wants):
            by_log_prob, by_entropy = (x[mask] * scale for x in slopes)
            logit_gradients_(logits, ids, entropy, by_log_prob, by_entropy)
            with no_autocast(hidden):
                grad_chunk = head.add_gradients(logits, chunk, wants)
            if grad_hidden is not None and grad_chunk is not None:
                grad_hidden[rows][mask] = grad_chunk
    log_probs, entropy = (torch.cat(x) for x in zip(*statistics, strict=True))
    gradients = grad_hidden, *head.gradients()
    return Loss(
        torch.stack(parts).sum(), TokenStatistics(log_probs, entropy), gradients
    )


class WithGradients(torch.autograd.Function):
    """A number whose gradients by its inputs are known already.

    A gradient of the gradient is refused, and so is a second backward pass.
    """

    @staticmethod
    def forward(
        ctx: Any, number: Tensor, gradients: Sequence[Tensor | None], *inputs: Tensor
    ) -> Tensor:
        """Keep the gradients, one for each input."""
        ctx.gradients = gradients
        return number.clone()

    @staticmethod
    def backward(ctx: Any, factor: Tensor) -> tuple[Tensor | None, ...]:
        """Scale the gradients, in their own memory."""
        require_first_order("loss_from_hidden")
        gradients, ctx.gradients = ctx.gradients, None
        if gradients is None:
            raise RuntimeError("loss_from_hidden: backward can run once, got a second")
        scaled = [x if x is None else _times(x, factor) for x in gradients]
        return None, None, *scaled


def _slices(length: int, size: int) -> Iterator[slice]:
    return (slice(k, min(k + size, length)) for k in range(0, length, size))


def _padded(token_values: Tensor, mask: Tensor) -> Tensor:
    return token_values.new_zeros(mask.shape).masked_scatter_(mask, token_values)


def _part(
    loss: RowsLoss, statistics: TokenStatistics, rows: slice, learns: bool
) -> tuple[Tensor, list[Tensor]]:
    """A part of the loss, and its gradients by log-probs and entropies."""
    # The loss may change its copy.
    copies = TokenStatistics(*(x.clone() for x in statistics))
    if not learns:
        return at_least_float32(loss(copies, rows)), []
    with torch.enable_grad():
        part = loss(TokenStatistics(*(x.requires_grad_() for x in copies)), rows)
    slopes = torch.autograd.grad(part, copies, allow_unused=True)
    return at_least_float32(part.detach()), [
        torch.zeros_like(x) if slope is None else slope
        for x, slope in zip(copies, slopes, strict=True)
    ]


def _times(gradient: Tensor, factor: Tensor) -> Tensor:
    """In its own precision the factor of bfloat16 would be off for all of it."""
    return gradient.copy_(at_least_float32(gradient).mul_(factor))

"""Log-probs, entropy and losses from hidden states: no [batch, time, vocab].

The head turns a chunk of tokens into logits, the chunk is reduced to two numbers per
token, and its memory serves the next one.
"""

import reprlib
from typing import NamedTuple

import torch
from torch import Tensor

from ppo_ref.batch import TokenStatistics
from ppo_ref.kernels.chunks import (
    HeadChunks,
    RowsLoss,
    WithGradients,
    loss_and_gradients,
)
from ppo_ref.require import (
    HeadBias,
    HeadWeight,
    Hidden,
    Scalar,
    TokenIds,
    TokenMask,
    require_above,
    require_at_least,
    require_finite,
    require_shapes,
    require_token_ids,
    require_tokens,
)

# With the block in work and the gradient of 1024 hidden states of width 256, less than
# 128 rows: an eighth of their logits.
CHUNK_TOKENS = 64


def log_probs_and_entropy_from_hidden(
    hidden: Hidden,
    head_weight: HeadWeight,
    head_bias: HeadBias | None,
    responses: TokenIds,
    temperature: float = 1.0,
    chunk_tokens: int = CHUNK_TOKENS,
) -> TokenStatistics:
    """Log-probs and entropy of the head's logits, a chunk of tokens at a time.

    Args:
        hidden: What the head would read: the body's outputs before each token of the
            response, as ``response_outputs`` cuts them.
        head_weight: Of the head, one row per token id.
        head_bias: Of the head; -inf forbids a token; None is no bias.
        responses: Sampled token ids; padding must hold a valid id too.
        temperature: Of the sampling; above 0.
        chunk_tokens: How many tokens' logits exist at a time, at least 1. If all fit
            into one chunk, they are kept for the backward pass: the fastest way, and
            one [batch, time, vocab].

    Returns:
        Nats per token; padding is computed like any slot; gradient flows, once, into
        the hidden states and the head. The head's products have the precision of
        ``hidden``, autocast or not; all else is at least float32.

    Raises:
        ValueError: if a token id is outside the vocabulary, ``temperature`` is not
            above 0, or ``chunk_tokens`` not at least 1.

    Example:
        >>> hidden, head = torch.ones(1, 2, 3), torch.nn.Linear(3, 4)
        >>> _ = torch.nn.init.zeros_(head.weight), torch.nn.init.zeros_(head.bias)
        >>> log_probs_and_entropy_from_hidden(
        ...     hidden, head.weight, head.bias, torch.tensor([[2, 0]])
        ... ).entropy.detach()
        tensor([[1.3863, 1.3863]])
    """
    name = "log_probs_and_entropy_from_hidden"
    _require_head(name, hidden, head_weight, head_bias, responses)
    require_above(name, 0, temperature=temperature)
    require_at_least(name, 1, chunk_tokens=chunk_tokens)
    require_token_ids(name, len(head_weight), responses)
    inputs = [x for x in (hidden, head_weight, head_bias) if x is not None]
    learns = torch.is_grad_enabled() and any(x.requires_grad for x in inputs)
    log_probs, entropy = HeadChunks.apply(  # type: ignore[no-untyped-call]
        hidden.flatten(0, 1),
        head_weight.to(hidden.dtype),
        head_bias,
        responses.flatten().long(),
        1 / temperature,
        chunk_tokens,
        learns,
    )
    shape = responses.shape
    return TokenStatistics(log_probs.view(shape), entropy.view(shape))


class ChunkedLoss(NamedTuple):
    """The loss with gradient, and what was said of each token, without."""

    loss: Scalar
    statistics: TokenStatistics


def loss_from_hidden(
    hidden: Hidden,
    head_weight: HeadWeight,
    head_bias: HeadBias | None,
    responses: TokenIds,
    response_mask: TokenMask,
    loss: RowsLoss,
    temperature: float = 1.0,
    chunk_rows: int = 1,
) -> ChunkedLoss:
    """A loss that adds up over rows, each chunk's gradient made with its logits.

    Faster than ``log_probs_and_entropy_from_hidden`` and then the loss, which must make
    every chunk's logits a second time for the backward pass, and those of padding.

    Args:
        hidden: What the head would read, as ``response_outputs`` cuts it.
        head_weight: Of the head, one row per token id.
        head_bias: Of the head; -inf forbids a token; None is no bias.
        responses: Sampled token ids; what padding holds is not read.
        response_mask: True where a token counts; no logits are made elsewhere.
        loss: Of the statistics of some rows, and which rows of the batch they are; the
            parts are added up, so each must be divided by what belongs to the whole.
            Rows that hold no token between them have no part. What else it reads gets
            no gradient, and without gradient, as under ``no_grad``, it may do without.
        temperature: Of the sampling; above 0.
        chunk_rows: How many rows' logits exist at a time, at least 1.

    Returns:
        The loss; gradient flows, once, into the hidden states and the head. In nats,
        what the loss was computed from, 0 in padding.

    Raises:
        ValueError: if a token id is outside the vocabulary, no token counts,
            ``hidden`` is not finite where one does, ``temperature`` is not above 0, or
            ``chunk_rows`` not at least 1.
        TypeError: if ``hidden`` is float16, or ``loss`` does not return a number with
            gradient.

    Example:
        >>> hidden, head = torch.ones(2, 1, 3), torch.nn.Linear(3, 4)
        >>> _ = torch.nn.init.zeros_(head.weight), torch.nn.init.zeros_(head.bias)
        >>> def minus_log_likelihood(said, rows):
        ...     return -said.log_probs.sum() / 2
        >>> found = loss_from_hidden(
        ...     hidden,
        ...     head.weight,
        ...     head.bias,
        ...     torch.tensor([[2], [0]]),
        ...     torch.tensor([[True], [True]]),
        ...     minus_log_likelihood,
        ... )
        >>> found.loss.backward()
        >>> found.loss.detach(), head.bias.grad
        (tensor(1.3863), tensor([-0.2500,  0.2500, -0.2500,  0.2500]))
    """
    name = "loss_from_hidden"
    _require_head(name, hidden, head_weight, head_bias, responses)
    require_above(name, 0, temperature=temperature)
    require_at_least(name, 1, chunk_rows=chunk_rows)
    require_tokens(name, response_mask)
    require_finite(name, response_mask, "batch time width", hidden=hidden)
    require_token_ids(name, len(head_weight), torch.where(response_mask, responses, 0))
    if hidden.dtype == torch.float16:
        raise TypeError(
            f"{name}: hidden must be bfloat16, float32 or float64, got float16, whose "
            "gradient would be lost before the loss can be scaled; use "
            "log_probs_and_entropy_from_hidden"
        )
    inputs = hidden, head_weight.to(hidden.dtype), head_bias
    learns = torch.is_grad_enabled()
    wants = [learns and x is not None and x.requires_grad for x in inputs]
    total, statistics, gradients = loss_and_gradients(
        *inputs,
        responses.long(),
        response_mask,
        _one_number(loss, any(wants)),
        1 / temperature,
        chunk_rows,
        wants,
    )
    if any(wants):
        total = WithGradients.apply(total, gradients, *inputs)  # type: ignore[no-untyped-call]
    return ChunkedLoss(total, statistics)


def _require_head(
    function: str,
    hidden: Tensor,
    head_weight: Tensor,
    head_bias: Tensor | None,
    responses: Tensor,
) -> None:
    require_shapes(
        function,
        hidden=(hidden, "float batch time width"),
        head_weight=(head_weight, "float vocab width"),
        head_bias=(head_bias, "float vocab"),
        responses=(responses, "ids batch time"),
    )


def _one_number(loss: RowsLoss, learns: bool) -> RowsLoss:
    def judged(statistics: TokenStatistics, rows: slice) -> Tensor:
        part = loss(statistics, rows)
        if not isinstance(part, Tensor):
            received = f"{type(part).__name__} {reprlib.repr(part)}"
        elif (
            part.is_floating_point() and part.ndim == 0 and part.requires_grad >= learns
        ):
            return part
        else:
            dtype = str(part.dtype).removeprefix("torch.")
            received = f"{dtype} of shape {list(part.shape)}"
            received += "" if part.requires_grad >= learns else " without gradient"
        raise TypeError(
            "loss_from_hidden: loss must return a number with gradient, a "
            f"floating-point tensor of shape [], got {received}"
        )

    return judged

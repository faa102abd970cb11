"""The products of a language model's head with some tokens: logits, and gradients."""

from collections.abc import Sequence

import torch
from torch import Tensor

from ppo_ref.precision import at_least_float32


def memory_for_products(hidden: Tensor, weight: Tensor, tokens: int) -> Tensor:
    """What the chunks use one after the other: new memory costs as much as a product.

    Args:
        hidden: [tokens, width].
        weight: [vocab, width].
        tokens: How many a chunk has.

    Returns:
        [tokens of the largest chunk, vocab] in the precision of ``hidden``, not filled.

    Example:
        >>> memory_for_products(torch.ones(3, 5), torch.ones(4, 5), 2).shape
        torch.Size([2, 4])
    """
    return hidden.new_empty(min(tokens, len(hidden)), len(weight))


def products(
    hidden: Tensor, weight: Tensor, scale: float, memory: Tensor | None = None
) -> Tensor:
    """Logits without their bias, scaled on the way.

    Args:
        hidden: [tokens, width].
        weight: [vocab, width], in the precision of ``hidden``, which is that of the
            products.
        scale: Of the logits.
        memory: To write them to, at least [tokens, vocab]; their own when left out.

    Returns:
        [tokens, vocab], in at least float32.

    Example:
        >>> products(torch.ones(1, 3), torch.ones(2, 3), 0.5)
        tensor([[1.5000, 1.5000]])
    """
    nothing = hidden.new_zeros(1)  # and beta = 0: addmm alone can scale
    to = None if memory is None else memory[: len(hidden)]
    found = torch.addmm(nothing, hidden, weight.T, beta=0, alpha=scale, out=to)
    return at_least_float32(found)


def scaled_bias(bias: Tensor | None, scale: float) -> Tensor | None:
    """A bias for logits that are scaled.

    Args:
        bias: [vocab], or None.
        scale: Of the logits.

    Returns:
        [vocab] in at least float32, or None.

    Example:
        >>> scaled_bias(torch.ones(2), 0.5)
        tensor([0.5000, 0.5000])
    """
    return None if bias is None else at_least_float32(bias) * scale


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


class HeadGradients:
    """Of hidden states, weight and bias, added up over chunks that come in order.

    Args:
        hidden: Of all tokens, [tokens, width].
        weight: Of the head, [vocab, width].
        wants: Which of the three are wanted.
    """

    def __init__(self, hidden: Tensor, weight: Tensor, wants: Sequence[bool]) -> None:
        self._hidden, self._weight, self._wants = hidden, weight, wants
        self._of_hidden = torch.empty_like(hidden) if wants[0] else None
        self._of_weight: Tensor | None = None
        self._of_bias: Tensor | None = None
        self._done = 0

    def add(self, of_logits: Tensor) -> None:
        """Take in the gradient of the next tokens' logits.

        Args:
            of_logits: [tokens of the chunk, vocab].
        """
        rows = slice(self._done, self._done + len(of_logits))
        chunk, self._done = self._hidden[rows], rows.stop
        if self._wants[2]:
            # A product with ones: in a third of the time that sum(0) takes.
            ones = of_logits.new_ones(len(of_logits), 1)
            self._of_bias = plus_product(self._of_bias, of_logits.T, ones)
        of_products = of_logits.to(chunk.dtype)
        if self._of_hidden is not None:
            torch.mm(of_products, self._weight, out=self._of_hidden[rows])
        if self._wants[1]:
            self._of_weight = plus_product(self._of_weight, of_products.T, chunk)

    def all(self) -> tuple[Tensor | None, ...]:
        """The three, None for what is not wanted.

        Returns:
            Of hidden states, weight and bias.
        """
        of_bias = None if self._of_bias is None else self._of_bias.squeeze(1)
        return self._of_hidden, self._of_weight, of_bias

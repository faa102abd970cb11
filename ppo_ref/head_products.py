"""The products of a language model's head with some tokens: logits, and gradients."""

from collections.abc import Sequence

import torch
from torch import Tensor

from ppo_ref.precision import at_least_float32


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

"""What lies beneath the heads: token ids become hidden states."""

from typing import Any

import torch
from torch import Tensor, nn

# What a body keeps of the positions read so far, in a form of its own.
Cache = list[Any]


class Body(nn.Module):
    """A network that reads a sequence from left to right, behind padding or not.

    ``forward`` takes token ids, attention mask and cache, as that of ``Transformer``.

    Args:
        width: Of the hidden states.
        context: The most tokens that a sequence may have, padding included.
        precision: In which matrices are multiplied; bfloat16 by autocast, while the
            weights stay float32.
    """

    def __init__(
        self, width: int, context: int, precision: torch.dtype = torch.float32
    ) -> None:
        super().__init__()
        self.width, self.context, self.precision = width, context, precision

    def places(self, attention_mask: Tensor, new: int) -> Tensor:
        """Where each new position stands among the tokens of its sequence.

        Args:
            attention_mask: True where a position holds a token, past ones included,
                [batch, past + new].
            new: How many positions are new.

        Returns:
            From 0, [batch, new]; how wide the padding is does not matter.

        Raises:
            ValueError: if the sequence is longer than the context.

        Example:
            >>> Body(8, context=3).places(torch.tensor([[False, True, True]]), new=2)
            tensor([[0, 1]])
        """
        total = attention_mask.shape[1]
        if total > self.context:
            raise ValueError(
                f"{type(self).__name__}: a sequence must fit the context of "
                f"{self.context} tokens, got {total}"
            )
        return (attention_mask.cumsum(1) - 1).clamp(min=0)[:, -new:]

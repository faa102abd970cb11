"""The body of a model of transformers, behind the interface of ``Transformer``."""

from typing import Any, Self

import torch
from torch import Tensor, nn

from ppo_ref.pretrained.library import library
from ppo_ref.training.networks import Body, Cache


class PretrainedBody(Body):
    """It never drops out: the ratio of an actor to itself must be 1.

    Args:
        network: Of transformers, without its head; is not copied.
        width: Of the hidden states.
        context: The most tokens that a sequence may have, padding included.
        precision: As in ``Body``.
    """

    def __init__(
        self,
        network: nn.Module,
        width: int,
        context: int,
        precision: torch.dtype = torch.float32,
    ) -> None:
        super().__init__(width, context, precision)
        self.network = network
        self.train()

    def train(self, mode: bool = True) -> Self:
        """Stay in evaluation mode, whatever the network around it is set to.

        Args:
            mode: Is not looked at.

        Returns:
            The body.
        """
        return super().train(False)

    def forward(
        self, token_ids: Tensor, attention_mask: Tensor, cache: Cache | None = None
    ) -> Tensor:
        """Hidden states of the given positions.

        Args:
            token_ids: The new positions, [batch, new].
            attention_mask: True where a position holds a token of the sequence, past
                ones included, [batch, past + new].
            cache: Empty at first; it is filled with one ``DynamicCache``, which is
                read again at the next call.

        Returns:
            [batch, new, width]; what padding holds means nothing.

        Raises:
            ValueError: if the sequence is longer than the context.
        """
        places = self.places(attention_mask, token_ids.shape[1])
        past: Any = None
        if cache is not None:
            if not cache:
                config = self.network.config
                cache.append(library("PretrainedBody").DynamicCache(config=config))
            (past,) = cache
        hidden: Tensor = self.network(
            input_ids=token_ids,
            attention_mask=attention_mask.long(),
            position_ids=places,
            past_key_values=past,
            use_cache=past is not None,
        ).last_hidden_state
        return hidden

"""The body of every network that is not brought along: a small causal transformer."""

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, scaled_dot_product_attention

from ppo_ref.body import Body, Cache


class Layer(nn.Module):
    """Attention, then a feed-forward network, each on normalised input and added.

    Args:
        width: Of the hidden states; a multiple of ``heads``.
        heads: Of the attention.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.attention_norm = nn.LayerNorm(width)
        self.queries_keys_values = nn.Linear(width, 3 * width)
        self.attention_output = nn.Linear(width, width)
        self.feed_forward_norm = nn.LayerNorm(width)
        self.feed_forward_input = nn.Linear(width, 4 * width)
        self.feed_forward_output = nn.Linear(4 * width, width)

    def forward(
        self, x: Tensor, visible: Tensor, past: tuple[Tensor, Tensor] | None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """One layer over the new positions, attending to the past ones too.

        Args:
            x: Hidden states of the new positions, [batch, new, width].
            visible: Which position may see which, [batch, 1, new, past + new].
            past: Keys and values of the past positions, [batch, heads, past, ...].

        Returns:
            Hidden states of the new positions; keys and values of all.
        """
        batch, new, width = x.shape
        projected = self.queries_keys_values(self.attention_norm(x))
        split = projected.view(batch, new, 3, self.heads, width // self.heads)
        queries, keys, values = split.permute(2, 0, 3, 1, 4)
        if past is not None:
            keys = torch.cat([past[0], keys], 2)
            values = torch.cat([past[1], values], 2)
        read = scaled_dot_product_attention(queries, keys, values, attn_mask=visible)
        x = x + self.attention_output(read.transpose(1, 2).reshape(batch, new, width))
        inner = gelu(self.feed_forward_input(self.feed_forward_norm(x)))
        return x + self.feed_forward_output(inner), (keys, values)


class Transformer(Body):
    """Token ids to hidden states; a position sees itself and what came before.

    Args:
        vocab: Number of token ids.
        context: The most tokens that a sequence may have, padding included.
        width: Of the hidden states; a multiple of ``heads``.
        layers: How many.
        heads: Of the attention.
        precision: In which matrices are multiplied; bfloat16 by autocast, while the
            weights stay float32.

    Raises:
        ValueError: if ``width`` is not a multiple of ``heads``.
    """

    def __init__(
        self,
        vocab: int,
        context: int,
        width: int,
        layers: int,
        heads: int,
        precision: torch.dtype = torch.float32,
    ) -> None:
        super().__init__(width, context, precision)
        if width % heads:
            raise ValueError(
                f"Transformer: width must be a multiple of heads {heads}, got {width}"
            )
        self.tokens = nn.Embedding(vocab, width)
        self.positions = nn.Embedding(context, width)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(
        self, token_ids: Tensor, attention_mask: Tensor, cache: Cache | None = None
    ) -> Tensor:
        """Hidden states of the given positions.

        Args:
            token_ids: The new positions, [batch, new].
            attention_mask: True where a position holds a token of the sequence, past
                ones included, [batch, past + new].
            cache: Empty at first; it is filled with keys and values, one pair per
                layer, and read again at the next call.

        Returns:
            [batch, new, width]; what padding holds means nothing.

        Raises:
            ValueError: if the sequence is longer than the context.

        Example:
            >>> body = Transformer(vocab=5, context=4, width=8, layers=1, heads=2)
            >>> ids = torch.tensor([[0, 3, 4]])  # 0 is padding
            >>> mask, cache = ids > 0, []
            >>> begun = body(ids[:, :2], mask[:, :2], cache)
            >>> both = torch.cat([begun, body(ids[:, 2:], mask, cache)], 1)
            >>> torch.allclose(both, body(ids, mask), atol=1e-6)
            True
        """
        new = token_ids.shape[1]
        x = self.tokens(token_ids) + self.positions(self.places(attention_mask, new))
        visible = _visible(attention_mask, new)
        past: list[tuple[Tensor, Tensor] | None] = list(cache or [])
        past = past or [None] * len(self.layers)
        read = []
        for layer, before in zip(self.layers, past, strict=True):
            x, now = layer(x, visible, before)
            read.append(now)
        if cache is not None:
            cache[:] = read
        hidden: Tensor = self.norm(x)
        return hidden


def _visible(attention_mask: Tensor, new: int) -> Tensor:
    total = attention_mask.shape[1]
    causal = torch.ones(new, total, dtype=torch.bool, device=attention_mask.device)
    causal = causal.tril(total - new)
    # A padding position sees itself: softmax over nothing would be nan.
    itself = causal & ~causal.tril(total - new - 1)
    return ((causal & attention_mask[:, None, :]) | itself)[:, None]

"""The networks of actor and critic, and what they say of a rollout."""

import copy
import math
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, scaled_dot_product_attention

from ppo_ref.alignment import response_outputs
from ppo_ref.batch import Rollout, TokenStatistics
from ppo_ref.log_probs import log_probs_and_entropy
from ppo_ref.precision import at_least_float32
from ppo_ref.require import Tokens

# What a body keeps of the positions read so far, in a form of its own.
Cache = list[Any]


class Body(nn.Module):
    """A network that reads a sequence from left to right, behind padding or not.

    ``forward`` takes what that of ``Transformer`` takes.
    """

    # Whether a gradient, too, leaves out the positions whose outputs are not read.
    skips_unread = False

    def __init__(
        self, width: int, context: int, precision: torch.dtype = torch.float32
    ) -> None:
        super().__init__()
        self.width = width
        self.context = context
        self.precision = precision

    def places(self, attention_mask: Tensor, new: int) -> Tensor:
        """Where each new position stands among the tokens of its sequence."""
        total = attention_mask.shape[1]
        if total > self.context:
            raise ValueError(
                f"{type(self).__name__}: a sequence must fit the context of "
                f"{self.context} tokens, got {total}"
            )
        places = (attention_mask.cumsum(1) - 1).clamp(min=0)
        return places[:, -new:]


class Layer(nn.Module):
    """Attention, then a feed-forward network, each on normalised input and added."""

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
        self,
        x: Tensor,
        visible: Tensor,
        past: tuple[Tensor, Tensor] | None,
        last: int = 0,
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """One layer over the new positions, attending to the past ones too."""
        batch, new, width = x.shape
        projected = self.queries_keys_values(self.attention_norm(x))
        split = projected.view(batch, new, 3, self.heads, width // self.heads)
        queries, keys, values = split.permute(2, 0, 3, 1, 4)
        if past is not None:
            keys = torch.cat([past[0], keys], 2)
            values = torch.cat([past[1], values], 2)
        read = scaled_dot_product_attention(queries, keys, values, attn_mask=visible)
        read = read.transpose(1, 2)[:, -last:].reshape(batch, -1, width)
        x = x[:, -last:] + self.attention_output(read)
        inner = gelu(self.feed_forward_input(self.feed_forward_norm(x)))
        x = x + self.feed_forward_output(inner)
        return x, (keys, values)


class Transformer(Body):
    """Token ids to hidden states; a position sees itself and what came before."""

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
        self,
        token_ids: Tensor,
        attention_mask: Tensor,
        cache: Cache | None = None,
        last: int = 0,
    ) -> Tensor:
        """Hidden states of the given positions, or of the ``last`` of them alone."""
        new = token_ids.shape[1]
        places = self.places(attention_mask, new)
        x = self.tokens(token_ids) + self.positions(places)
        visible = _visible(attention_mask, new)
        past: list[tuple[Tensor, Tensor] | None] = list(cache or [])
        past = past or [None] * len(self.layers)
        read = []
        for layer, before in zip(self.layers, past, strict=True):
            # Only the last layer's other outputs go unread.
            wanted = last if layer is self.layers[-1] else 0
            x, now = layer(x, visible, before, wanted)
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
    visible = (causal & attention_mask[:, None, :]) | itself
    return visible[:, None]


Network = TypeVar("Network", bound=nn.Module)


class Actor(nn.Module):
    """A language model: what the next token may be."""

    def __init__(
        self, transformer: Body, vocab: int, head: nn.Linear | None = None
    ) -> None:
        super().__init__()
        self.transformer = transformer
        self.head = nn.Linear(transformer.width, vocab) if head is None else head

    def forward(
        self,
        sequences: Tensor,
        attention_mask: Tensor,
        cache: Cache | None = None,
        last: int = 0,
    ) -> Tensor:
        """Logits of the token after each position, or after each of the ``last``."""
        with _autocast(self.transformer, sequences.device):
            hidden = self.hidden(sequences, attention_mask, cache, last)
            logits: Tensor = self.head(hidden)
        return logits

    def hidden(
        self,
        sequences: Tensor,
        attention_mask: Tensor,
        cache: Cache | None = None,
        last: int = 0,
    ) -> Tensor:
        """Hidden states [batch, sequence, width], which ``head`` turns into logits."""
        with _autocast(self.transformer, sequences.device):
            hidden: Tensor = self.transformer(sequences, attention_mask, cache, last)
        return hidden


class Critic(nn.Module):
    """One number per position. The critic's is the expected return from there on.

    A reward model has the same network, and its number is read at the last token.
    """

    def __init__(self, transformer: Body) -> None:
        super().__init__()
        self.transformer = transformer
        self.head = nn.Linear(transformer.width, 1)

    def forward(
        self, sequences: Tensor, attention_mask: Tensor, last: int = 0
    ) -> Tensor:
        """Its number after reading each position, or each of the ``last``."""
        with _autocast(self.transformer, sequences.device):
            hidden = self.transformer(sequences, attention_mask, None, last)
            values: Tensor = self.head(hidden)
        return values.squeeze(-1)


class Models(NamedTuple):
    """The four modules, of which a run may do without two.

    There is no critic where advantages come from the group alone, and no reward model
    where a rule scores.
    """

    actor: Actor
    critic: Critic | None
    reference: Actor
    reward: Critic | None


def models_from(actor: Actor, critic: bool = True, reward: bool = True) -> Models:
    """The others begin as copies of the actor, and do not learn with it."""
    return Models(
        actor=actor,
        critic=_critic_from(actor) if critic else None,
        reference=frozen(actor),
        reward=frozen(_critic_from(actor)) if reward else None,
    )


def _critic_from(actor: Actor) -> Critic:
    """The body of the actor, with a head that says 0 to everything."""
    critic = Critic(copy.deepcopy(actor.transformer)).to(actor.head.weight)
    for weight in critic.head.parameters():
        nn.init.zeros_(weight)
    return critic


def initialised(network: Network, generator: torch.Generator) -> Network:
    """Draw every weight anew: the same generator gives the same network."""
    for module in network.modules():
        if isinstance(module, nn.Linear):
            scale = 1 / math.sqrt(module.in_features)
            _draw(module.weight, scale, generator)
            nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            _draw(module.weight, 0.1, generator)
        elif isinstance(module, nn.LayerNorm):
            module.reset_parameters()
    return network


def frozen(network: Network) -> Network:
    """A copy that never learns, as the reference is of the actor."""
    return copy.deepcopy(network).eval().requires_grad_(False)


def _autocast(transformer: Body, device: torch.device) -> torch.autocast:
    dtype = transformer.precision
    return torch.autocast(device.type, dtype, enabled=dtype != torch.float32)


def _draw(weight: Tensor, scale: float, generator: torch.Generator) -> None:
    drawn = torch.randn(weight.shape, generator=generator) * scale
    with torch.no_grad():
        weight.copy_(drawn)


def actor_statistics(
    actor: Actor, rollout: Rollout, temperature: float = 1.0
) -> TokenStatistics:
    """Log-probability and entropy of every token of the responses, in one pass.

    Nats per token, of the sampling's temperature; padding is computed like any slot;
    gradient flows. The actor may be that in training, as it sampled, or the reference.
    """
    responses = rollout.responses
    last = _last(actor.transformer, rollout)
    logits = actor(rollout.sequences, rollout.attention_mask, last=last)
    chosen = response_outputs(logits, responses.shape[1])
    return log_probs_and_entropy(chosen, responses, temperature)


def critic_values(critic: Critic, rollout: Rollout) -> Tokens:
    """The expected return before every token of the responses, in reward units.

    Padding is computed like any slot; gradient flows.
    """
    last = _last(critic.transformer, rollout)
    outputs = critic(rollout.sequences, rollout.attention_mask, last=last)
    values = response_outputs(outputs, rollout.response_mask.shape[1])
    return at_least_float32(values)


def _last(body: Body, rollout: Rollout) -> int:
    """The number of positions that the response's outputs are of; 0 is all.

    To leave out those of the prompt adds up a gradient in another order, and a run ends
    with other weights by rounding. The stored runs of the small network are of the
    other order, and with it there is next to nothing to save.
    """
    if torch.is_grad_enabled() and not body.skips_unread:
        return 0
    return rollout.responses.shape[1] + 1

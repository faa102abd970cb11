"""The four modules, actor, critic, reference and reward: one body, two heads."""

import copy
import math
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor, nn

from ppo_ref.body import Body, Cache

Network = TypeVar("Network", bound=nn.Module)


class Actor(nn.Module):
    """A language model: what the next token may be.

    Args:
        transformer: Its body.
        vocab: Number of token ids.
        head: From a hidden state to logits; a new one if left out.
    """

    def __init__(
        self, transformer: Body, vocab: int, head: nn.Linear | None = None
    ) -> None:
        super().__init__()
        self.transformer = transformer
        self.head = nn.Linear(transformer.width, vocab) if head is None else head

    def forward(
        self, sequences: Tensor, attention_mask: Tensor, cache: Cache | None = None
    ) -> Tensor:
        """What it expects after each position.

        Args:
            sequences: Token ids, [batch, sequence].
            attention_mask: True where there is a token; with a cache, [batch, past +
                sequence].
            cache: As in ``Transformer``.

        Returns:
            Logits of the next token, [batch, sequence, vocab], in ``precision``;
            gradient flows. What padding holds means nothing.
        """
        with _autocast(self.transformer, sequences.device):
            hidden = self.hidden(sequences, attention_mask, cache)
            logits: Tensor = self.head(hidden)
        return logits

    def hidden(
        self, sequences: Tensor, attention_mask: Tensor, cache: Cache | None = None
    ) -> Tensor:
        """What ``head`` makes logits of, for those who cannot hold all of them at once.

        Args:
            sequences: As in ``forward``.
            attention_mask: As in ``forward``.
            cache: As in ``forward``.

        Returns:
            Hidden states, [batch, sequence, width]; gradient flows.
        """
        with _autocast(self.transformer, sequences.device):
            hidden: Tensor = self.transformer(sequences, attention_mask, cache)
        return hidden


class Critic(nn.Module):
    """One number per position. The critic's is the expected return from there on.

    A reward model has the same network, and its number is read at the last token.

    Args:
        transformer: Its body.
    """

    def __init__(self, transformer: Body) -> None:
        super().__init__()
        self.transformer = transformer
        self.head = nn.Linear(transformer.width, 1)

    def forward(self, sequences: Tensor, attention_mask: Tensor) -> Tensor:
        """What it says after reading each position.

        Args:
            sequences: Token ids, [batch, sequence].
            attention_mask: True where there is a token, of the same shape.

        Returns:
            [batch, sequence], in reward units and in ``precision``; gradient flows.
            What padding holds means nothing.
        """
        with _autocast(self.transformer, sequences.device):
            values: Tensor = self.head(self.transformer(sequences, attention_mask))
        return values.squeeze(-1)


class Models(NamedTuple):
    """The four modules; a rule may score in place of the reward."""

    actor: Actor
    critic: Critic
    reference: Actor
    reward: Critic


def models_from(actor: Actor) -> Models:
    """The other three begin as copies of the actor, and do not learn with it.

    Args:
        actor: After its imitation; stays as it is, and is the first of the four.

    Returns:
        A critic that reads as the actor does and says 0 everywhere; a frozen copy of
        the actor, and one of the critic, which is no reward model before it has
        learned.

    Example:
        >>> from ppo_ref.transformer import Transformer
        >>> actor = Actor(Transformer(4, context=3, width=8, layers=1, heads=2), 4)
        >>> models = models_from(actor)
        >>> models.critic(torch.tensor([[2, 3]]), torch.tensor([[True, True]])).tolist()
        [[0.0, 0.0]]
    """
    critic = Critic(copy.deepcopy(actor.transformer)).to(actor.head.weight)
    for weight in critic.head.parameters():
        nn.init.zeros_(weight)
    return Models(actor, critic, frozen(actor), frozen(critic))


def initialised(network: Network, generator: torch.Generator) -> Network:
    """Draw every weight anew: the same generator gives the same network.

    Args:
        network: Is changed, and returned.
        generator: On the CPU, so that every device starts from the same weights.

    Returns:
        The network: matrices normal with variance 1 / inputs, embeddings with
        standard deviation 0.1, biases 0, norms that change nothing.

    Example:
        >>> layers = [initialised(nn.Linear(2, 2), torch.Generator()) for _ in "ab"]
        >>> torch.equal(layers[0].weight, layers[1].weight)
        True
    """
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
    """A copy that never learns, as the reference is of the actor.

    Args:
        network: Stays as it is.

    Returns:
        The copy, in evaluation mode, none of its weights asking for gradient.

    Example:
        >>> [p.requires_grad for p in frozen(nn.Linear(1, 1)).parameters()]
        [False, False]
    """
    return copy.deepcopy(network).eval().requires_grad_(False)


def _autocast(transformer: Body, device: torch.device) -> torch.autocast:
    dtype = transformer.precision
    return torch.autocast(device.type, dtype, enabled=dtype != torch.float32)


def _draw(weight: Tensor, scale: float, generator: torch.Generator) -> None:
    with torch.no_grad():
        weight.copy_(torch.randn(weight.shape, generator=generator) * scale)

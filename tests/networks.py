"""Tiny networks in float64, scripted actors, and experiences of random numbers."""

import torch
from torch import Tensor

from ppo_ref.batch import Experience, Rollout
from ppo_ref.train.networks import (
    Actor,
    Critic,
    Models,
    Transformer,
    actor_statistics,
    frozen,
    initialised,
)
from ppo_ref.train.rollout import as_rollout
from ppo_ref.train.tokenizer import EOS_TOKEN_ID, Prompts
from tests.strategies import numbers

VOCAB, CONTEXT = 5, 12


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def body(layers: int = 2, context: int = CONTEXT) -> Transformer:
    return Transformer(VOCAB, context, width=8, layers=layers, heads=2)


def actor(seed: int = 0) -> Actor:
    return initialised(Actor(body(), VOCAB), seeded(seed)).double()


def critic(seed: int = 1) -> Critic:
    return initialised(Critic(body()), seeded(seed)).double()


def models() -> Models:
    """Four different networks, so that no term of the river is 0."""
    return Models(actor(0), critic(1), frozen(actor(2)), frozen(critic(3)))


def prompts(*lengths: int, seed: int = 0) -> Prompts:
    """Random ids without an end, of these lengths, padded on the left."""
    width = max(lengths)
    ids = torch.randint(2, VOCAB, (len(lengths), width), generator=seeded(seed))
    mask = torch.arange(width) >= width - torch.tensor(lengths)[:, None]
    return Prompts(torch.where(mask, ids, 0), mask)


class Scripted(Actor):
    """Says what a table says: [vocab] always, [steps, vocab] or [batch, steps, vocab].

    It counts how often it was asked.
    """

    def __init__(self, table: Tensor) -> None:
        super().__init__(body(), VOCAB)
        self.table, self.asked = table, 0

    def forward(
        self,
        sequences: Tensor,
        attention_mask: Tensor,
        cache: object = None,
        last: int = 0,
    ) -> Tensor:
        step = self.asked
        self.asked += 1
        said = self.table if self.table.ndim == 1 else self.table[..., step, :]
        return said.expand(len(sequences), VOCAB)[:, None]


def ragged_rollout(*lengths: int, time: int = 5, seed: int = 0) -> Rollout:
    """Responses of these lengths; a longer one than ``time`` is truncated."""
    asked = prompts(*(1 + length % 3 for length in lengths), seed=seed)
    ids = torch.randint(2, VOCAB, (len(lengths), time), generator=seeded(seed + 1))
    place, length = torch.arange(time), torch.tensor(lengths)[:, None]
    ids = torch.where(place == length - 1, EOS_TOKEN_ID, ids)
    ids = torch.where(place >= length, 0, ids)
    return as_rollout(asked, ids, torch.zeros(ids.shape, dtype=torch.float64))


def experience(
    of: Actor, *lengths: int, drift: float = 0.3, temperature: float = 1.0
) -> Experience:
    """Random numbers on a ragged rollout; ``of`` has drifted since it sampled."""
    rollout = ragged_rollout(*lengths)
    with torch.no_grad():
        now = actor_statistics(of, rollout, temperature)
    noise = numbers(5, 8, *rollout.response_mask.shape)
    return Experience(
        rollout=rollout,
        old_log_probs=now.log_probs + drift * noise[0],
        ref_log_probs=now.log_probs + 0.5 * noise[1],
        kl=drift * noise[0] - 0.5 * noise[1],
        entropy=now.entropy,
        values=noise[2],
        scores=noise[3, :, 0],
        token_level_rewards=noise[4],
        advantages=noise[5],
        returns=noise[6],
        rollout_weights=noise[7].exp(),
    )

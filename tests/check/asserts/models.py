"""A small actor and critic, causal, and a left-padded batch they can read."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

P = 3
T = 6
VOCAB = 11
LENGTHS = torch.tensor([6, 4])
MASK = torch.arange(T) < LENGTHS[:, None]
DTYPES = [torch.float32, torch.bfloat16]
RIGHT = slice(-T - 1, -1)
LATE = slice(-T, None)
EARLY = slice(-T - 2, -2)


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def sequences(seed: int = 0) -> Tensor:
    """Ids of prompt and response; 0 pads, 1 ends."""
    source = generator(seed)
    ids = torch.randint(2, VOCAB, (2, P + T), generator=source)
    ids[0, -1] = 1
    ids[1, P + 3] = 1
    ids[1, P + 4 :] = 0
    return ids


class Network(torch.nn.Module):
    """Reads from left to right; dropout in train mode."""

    def __init__(self, outputs: int, dtype: torch.dtype, dropout: float = 0.0) -> None:
        super().__init__()
        self.embed = torch.nn.Embedding(VOCAB, 8)
        self.rnn = torch.nn.GRU(8, 8, batch_first=True)
        self.drop = torch.nn.Dropout(dropout)
        self.head = torch.nn.Linear(8, outputs)
        source = generator(1)
        for parameter in self.parameters():
            torch.nn.init.normal_(parameter, generator=source)
        self.to(dtype)

    def forward(self, ids: Tensor) -> Tensor:
        states, _ = self.rnn(self.embed(ids))
        return self.head(self.drop(states))


Reader = Callable[[Tensor], Tensor]


def values(dtype: torch.dtype, cut: slice) -> Reader:
    critic = Network(1, dtype)

    def of(ids: Tensor) -> Tensor:
        return critic(ids)[:, cut, 0]

    return of


def log_probs(dtype: torch.dtype, cut: slice, labels: slice = LATE) -> Reader:
    actor = Network(VOCAB, dtype)

    def of(ids: Tensor) -> Tensor:
        chosen = ids[:, labels, None]
        logits = actor(ids)[:, cut]
        of_all = logits.log_softmax(-1)
        return of_all.gather(-1, chosen)[..., 0]

    return of


def told(error: Any) -> str:
    """A message on one line; none of its own lines is too long for a phone."""
    text = str(error.value)
    for line in text.splitlines():
        assert len(line) <= 52, line
    return " ".join(text.split())


def fault(function: Callable[..., None], *args: Any, **options: Any) -> str:
    """The text with which an assert fails."""
    with pytest.raises(AssertionError) as error:
        function(*args, **options)
    return told(error)

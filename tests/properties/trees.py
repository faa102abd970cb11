"""Whole trees of answers, each with its probability and its rewards, by loops."""

import math
import random
from collections.abc import Callable
from typing import NamedTuple

import torch
from hypothesis import strategies as st
from torch import Tensor

State = tuple[int, ...]


class Tree(NamedTuple):
    """Every answer; by what is written, its last token's probability and reward."""

    answers: list[State]
    probs: dict[State, float]
    rewards: dict[State, float]

    def states(self) -> list[State]:
        return sorted({a[:t] for a in self.answers for t in range(len(a))})

    def prob_from(self, state: State, answer: State) -> float:
        """How likely an answer is once a state is reached; 0 if it begins otherwise."""
        if answer[: len(state)] != state:
            return 0.0
        steps = range(len(state), len(answer))
        return math.prod(self.probs[answer[: t + 1]] for t in steps)

    def expected_return(self, gamma: float, state: State) -> float:
        """The definition: what each answer still earns, times how likely it is."""
        return math.fsum(
            self.prob_from(state, a) * gamma**k * self.rewards[a[: len(state) + k + 1]]
            for a in self.answers
            if a[: len(state)] == state
            for k in range(len(a) - len(state))
        )

    def exact_values(self, gamma: float) -> dict[State, float]:
        """The expected return of every state, 0 after the end."""
        ends = dict.fromkeys(self.answers, 0.0)
        return ends | {s: self.expected_return(gamma, s) for s in self.states()}

    def true_advantages(self, gamma: float) -> dict[State, float]:
        """Q - V by what is written up to and with the token."""
        values = self.exact_values(gamma)
        return {
            written: reward + gamma * values[written] - values[written[:-1]]
            for written, reward in self.rewards.items()
        }

    def rows(self, quantity: Callable[[State], float]) -> Tensor:
        """A row an answer: ``quantity`` of what is written up to and with a token."""
        longest = max(map(len, self.answers))
        table = torch.full((len(self.answers), longest), torch.nan, dtype=torch.float64)
        for row, answer in zip(table, self.answers, strict=True):
            for t in range(len(answer)):
                row[t] = quantity(answer[: t + 1])
        return table

    def batch(self, values: dict[State, float] | None = None) -> dict[str, Tensor]:
        """Rewards and mask of all answers, and values of what precedes each token."""
        rewards = self.rows(lambda written: self.rewards[written])
        batch = {"token_level_rewards": rewards, "response_mask": ~rewards.isnan()}
        if values is not None:
            batch["values"] = self.rows(lambda written: values[written[:-1]])
        return batch

    def mean_after(self, written: State, of_answers: Tensor) -> float:
        """The mean of one number per answer over the answers that begin so."""
        pairs = zip(self.answers, of_answers.tolist(), strict=True)
        return math.fsum(
            self.prob_from(written, answer) * x
            for answer, x in pairs
            if answer[: len(written)] == written
        )

    def variance_after(self, written: State, of_answers: Tensor) -> float:
        mean = self.mean_after(written, of_answers)
        return self.mean_after(written, (of_answers - mean).square())

    def means(self, of_tokens: Tensor) -> dict[State, float]:
        """By what is written up to and with a token, the mean of its column."""
        return {w: self.mean_after(w, of_tokens[:, len(w) - 1]) for w in self.rewards}

    def next_states(self, state: State) -> list[State]:
        return [written for written in self.probs if written[:-1] == state]

    def written_by(self, logits: Tensor) -> "Tree":
        """The same answers, written by the actor with these logits, a row a state."""
        pi = logits.detach().softmax(1).tolist()
        at = {state: row for row, state in enumerate(self.states())}
        return self._replace(probs={w: pi[at[w[:-1]]][w[-1]] for w in self.probs})

    def vocab(self) -> int:
        return 1 + max(written[-1] for written in self.probs)

    def state_of(self) -> Tensor:
        """By answer and slot, which state the token follows; 0 behind the end."""
        at = {state: row for row, state in enumerate(self.states())}
        return self.rows(lambda written: at[written[:-1]]).nan_to_num().long()

    def log_probs(self, logits: Tensor) -> Tensor:
        """Of the tokens of all answers, 0 behind their end."""
        tokens = self.rows(lambda written: written[-1])
        chosen = logits.log_softmax(1)[self.state_of(), tokens.nan_to_num().long()]
        return torch.where(tokens.isnan(), 0, chosen)


def answers(vocab: int, longest: int, state: State = ()) -> list[State]:
    """All that can be written on from a state: token 0 ends, so does the limit."""
    if len(state) == longest or state[-1:] == (0,):
        return [state]
    return [a for i in range(vocab) for a in answers(vocab, longest, (*state, i))]


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    source = random.Random(draw(st.integers(0, 2**16)))
    vocab = draw(st.integers(1, 3))
    written = answers(vocab, draw(st.integers(1, 4)))
    probs, rewards = {}, {}
    for state in sorted({a[:t] for a in written for t in range(len(a))}):
        weights = [source.random() + 0.01 for _ in range(vocab)]
        for token, weight in enumerate(weights):
            probs[*state, token] = weight / math.fsum(weights)
            rewards[*state, token] = source.uniform(-1, 1)
    return Tree(written, probs, rewards)

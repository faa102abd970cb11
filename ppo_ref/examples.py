"""The small batches that every page, docstring and test shows, defined once.

All are made on the CPU in float64, then moved.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor

from ppo_ref.require import RowValues, TokenIds, TokenMask, Tokens

EdgeIds = Tensor  # int64 [edges]
EdgeValues = Tensor  # float [edges]
PrefixValues = Tensor  # float [prefixes]

PROMPTS = {"zh": "你知道1+1=几吗？", "en": "Do you know what 1+1 is?"}
LIMIT = 6  # tokens of a response, the end included
EOS = "<eos>"

# All that can be written, a token a line, below and to the right of what it follows:
# the token in English and in Chinese, its log-prob under the actor and under the
# reference. "rest" is what the other tokens at this place leave, 0 a sure token.
TREE = """\
Yes             是的     -0.12     -0.15
 ,              ，       -0.08     -0.10
  1+1           1+1      -0.15     -0.18
   =            =        -0.10     -0.12
    2           2        -0.05     -0.08
     <eos>      <eos>    -0.02     -0.03
     ,          ，       rest      rest
    3           3        rest      rest
     <eos>      <eos>    0         0
   is           等于     rest      rest
    2           2        ln(0.6)   ln(0.5)
     <eos>      <eos>    0         0
    3           3        rest      rest
     <eos>      <eos>    0         0
  it's          就是     rest      rest
   2            2        ln(0.75)  ln(0.7)
    <eos>       <eos>    0         0
   3            3        rest      rest
    <eos>       <eos>    0         0
 !              ！       rest      rest
  2             2        ln(0.5)   ln(0.4)
   <eos>        <eos>    0         0
  <eos>         <eos>    rest      rest
No              没       -2.20     -2.00
 idea           学过     -0.70     -0.65
  .             。       -0.12     -0.07
   <eos>        <eos>    -0.10     -0.09
   Maybe        大概     rest      rest
    2           2        0         0
     <eos>      <eos>    0         0
  ,             ，       rest      rest
   maybe        大概     0         0
    2           2        0         0
     <eos>      <eos>    0         0
 problem        问题     rest      rest
  ,             ，       0         0
   2            2        0         0
    <eos>       <eos>    0         0
Let             让       rest      rest
 us             我们     0         0
  think         一步     0         0
   step         一步     0         0
    by          地       0         0
     step       想       0         0
"""
ENGLISH, CHINESE, ACTOR, REFERENCE = zip(
    *map(str.split, TREE.splitlines()), strict=True
)
# A token is its pair of words: ids in the order of the tree, the end first.
TOKENS = list(dict.fromkeys([(EOS, EOS), *zip(ENGLISH, CHINESE, strict=True)]))
# The word of each token id.
WORDS = {"zh": [zh for _, zh in TOKENS], "en": [en for en, _ in TOKENS]}

# The critic is right to two digits, but for these.
CRITIC_ERRORS = {"No": 0.40, "Yes , 1+1 =": 0.92, "Yes , 1+1 = 2": 0.95}
# It goes on after the end: the last two slots of row 1 of the shared batch.
AFTER_THE_END = [0.25, 0.80]


class World(NamedTuple):
    """Every response to one prompt, a row each, and the tree that they make.

    An edge is a token at its place: it leaves a prefix, what was written before it.
    The methods take log-probs of the edges, in nats; whatever wrote them, those of one
    prefix must add up to 1 as probabilities. Gradient flows through all of them.
    """

    responses: TokenIds  # ids into WORDS; 0 outside the response
    old_log_probs: Tokens
    ref_log_probs: Tokens
    exact_values: Tokens  # the mean score from here on, under the actor
    values: Tokens  # what the critic says
    scores: RowValues
    response_mask: TokenMask
    edges: TokenIds  # the edge of each token; 0 outside the response
    parents: EdgeIds  # the prefix that an edge leaves
    prefixes: tuple[str, ...]  # in English words; the first is the prompt alone
    edge_log_probs: EdgeValues  # of the actor
    edge_ref_log_probs: EdgeValues

    def log_softmax(self, logits: EdgeValues) -> EdgeValues:
        """Log-probs of the edges from logits, over those that leave one prefix."""
        fixed = logits.detach()
        lowest = fixed.new_full([len(self.prefixes)], -math.inf)
        highest = lowest.scatter_reduce(0, self.parents, fixed, "amax")
        logits = logits - highest[self.parents]
        totals = logits.new_zeros(len(self.prefixes))
        totals = totals.index_add(0, self.parents, logits.exp())
        return logits - totals.log()[self.parents]

    def token_log_probs(self, edge_log_probs: EdgeValues) -> Tokens:
        """Log-probs of the tokens of every response, 0 outside it."""
        return torch.where(self.response_mask, edge_log_probs[self.edges], 0)

    def response_probs(self, edge_log_probs: EdgeValues) -> RowValues:
        """Probability of each response: the product of its tokens'."""
        return self.token_log_probs(edge_log_probs).sum(1).exp()

    def prefix_probs(self, edge_log_probs: EdgeValues) -> PrefixValues:
        """Probability that a response begins with each prefix."""
        probs = self.response_probs(edge_log_probs)
        return self._sum_by_prefix(probs[:, None].expand_as(self.response_mask))

    def prefix_values(self, edge_log_probs: EdgeValues) -> PrefixValues:
        """V of each prefix: the mean score of the responses that go on from it."""
        log_probs = self.token_log_probs(edge_log_probs)
        from_here = log_probs.flip(1).cumsum(1).flip(1).exp()
        return self._sum_by_prefix(from_here * self.scores[:, None])

    def token_values(self, prefix_values: PrefixValues) -> Tokens:
        """Values before the tokens of every response, 0 outside it."""
        before = prefix_values[self.parents[self.edges]]
        return torch.where(self.response_mask, before, 0)

    def mean_score(self, edge_log_probs: EdgeValues) -> Tensor:
        """J, the mean score of all responses: V of the prompt alone."""
        return self.response_probs(edge_log_probs) @ self.scores

    def _sum_by_prefix(self, x: Tokens) -> PrefixValues:
        """Sums of ``x`` over all tokens that follow the same prefix."""
        prefixes = self.parents[self.edges]
        sums = x.new_zeros(len(self.prefixes))
        return sums.index_add(0, prefixes[self.response_mask], x[self.response_mask])


class SharedBatch(NamedTuple):
    """Two responses of the world, six slots each."""

    old_log_probs: Tokens
    ref_log_probs: Tokens
    values: Tokens
    scores: RowValues
    response_mask: TokenMask
    kl_coef: float


class ThreeTokens(NamedTuple):
    """One response of three tokens, rewarded at its end."""

    token_level_rewards: Tokens
    values: Tokens
    response_mask: TokenMask


class TokenTree(NamedTuple):
    """Every response of so many tokens, one per row: a mean is a weighted sum."""

    responses: TokenIds
    actor_probs: Tokens
    token_level_rewards: Tokens
    values: Tokens
    wrong_values: Tokens
    response_mask: TokenMask


def rule_score(words: Sequence[str]) -> float:
    """The score of a response of the world, by a rule.

    Args:
        words: Those of its tokens, in any language; ``EOS`` is the end.

    Returns:
        1 if the response has ended and its last number is 2, else 0.

    Example:
        >>> rule_score(["Yes", ",", "1+1", "=", "2", "<eos>"])
        1.0
    """
    numbers = re.findall(r"\d+", " ".join(words))
    return float(words[-1] == EOS and numbers[-1:] == ["2"])


def world(
    device: torch.device | str = "cpu", *, critic: Mapping[str, float] | None = None
) -> World:
    """All that a small actor can write to one prompt, with exact values.

    14 responses of at most six tokens, written out in ``TREE``. Actor and reference
    add up to 1 at each of the 31 prefixes. Exact values and J = 0.8210 follow by
    counting. Row 0 is the answer of dialogue 002, figure for figure. The critic is
    right to two digits but at the prefixes of ``CRITIC_ERRORS``, and far off at one of
    them: after "No" it says 0.40 for 0.60.

    Args:
        device: Where the tensors are to lie.
        critic: Values for it to say instead, by prefix, as in {"No": 0.9}.

    Returns:
        A row a response, 0 outside it; log-probs in nats, values in units of the
        score; the 44 edges for those who change the actor.

    Raises:
        ValueError: if ``critic`` names a prefix that nobody can write.

    Source:
        Dialogue 002, question 1, for row 0 and the critic along it; the rest is made
        up around it.

    Example:
        >>> w = world()
        >>> w.mean_score(w.edge_log_probs)
        tensor(0.8210, dtype=torch.float64)
        >>> [WORDS["en"][token] for token in w.responses[9, :4]]
        ['No', 'idea', '.', '<eos>']
        >>> w.exact_values[9, :4]
        tensor([0.8210, 0.6015, 0.1975, 0.0952], dtype=torch.float64)
    """
    paths = _paths()
    befores = list(dict.fromkeys(path[:-1] for path in paths))
    parents = torch.tensor([befores.index(path[:-1]) for path in paths])
    prefixes = tuple(" ".join(ENGLISH[edge] for edge in before) for before in befores)

    edges = _responses(paths)
    tokens = [[TOKENS.index((ENGLISH[e], CHINESE[e])) for e in row] for row in edges]
    scores = [rule_score([ENGLISH[edge] for edge in row]) for row in edges]
    unknown = torch.zeros(len(edges), LIMIT, dtype=torch.float64)
    w = World(
        responses=_padded(tokens),
        old_log_probs=unknown,
        ref_log_probs=unknown,
        exact_values=unknown,
        values=unknown,
        scores=torch.tensor(scores, dtype=torch.float64),
        response_mask=_padded([[1] * len(row) for row in edges]).bool(),
        edges=_padded(edges),
        parents=parents,
        prefixes=prefixes,
        edge_log_probs=_edge_log_probs(ACTOR, parents),
        edge_ref_log_probs=_edge_log_probs(REFERENCE, parents),
    )
    exact = w.prefix_values(w.edge_log_probs)
    said = exact.round(decimals=2)
    for prefix, value in (CRITIC_ERRORS | dict(critic or {})).items():
        if prefix not in prefixes:
            raise ValueError(
                "world: critic must name prefixes in English words, as in 'No idea', "
                f"got {prefix!r}"
            )
        said[prefixes.index(prefix)] = value
    w = w._replace(
        old_log_probs=w.token_log_probs(w.edge_log_probs),
        ref_log_probs=w.token_log_probs(w.edge_ref_log_probs),
        exact_values=w.token_values(exact),
        values=w.token_values(said),
    )
    return _moved(w, device)


def shared_batch(device: torch.device | str = "cpu") -> SharedBatch:
    """Two answers of the world: the batch on which the pages compute.

    Row 0 is the answer of dialogue 002, figure for figure: six tokens, score 1. Row 1
    is "No idea.": four tokens, score 0, a negative KL, falling values, then the slot
    after the end and one of padding.

    Args:
        device: Where the tensors are to lie.

    Returns:
        Log-probs in nats, 0 outside the response; values as the critic put them out,
        in the two last slots of row 1 too; ``kl_coef`` 0.01.

    Example:
        >>> shared_batch().response_mask.sum(1)
        tensor([6, 4])
    """
    w, rows = world(), [0, 9]
    values = w.values[rows]
    values[1, 4:] = torch.tensor(AFTER_THE_END, dtype=torch.float64)
    batch = SharedBatch(
        old_log_probs=w.old_log_probs[rows],
        ref_log_probs=w.ref_log_probs[rows],
        values=values,
        scores=w.scores[rows],
        response_mask=w.response_mask[rows],
        kl_coef=0.01,
    )
    return _moved(batch, device)


def three_tokens(device: torch.device | str = "cpu") -> ThreeTokens:
    """The three tokens of dialogue 004, question 4.

    Args:
        device: Where the tensors are to lie.

    Returns:
        Rewards and values, one row, every token counted.

    Example:
        >>> three_tokens().values
        tensor([[0.3000, 0.4000, 0.6000]], dtype=torch.float64)
    """
    batch = ThreeTokens(
        token_level_rewards=_floats([0.0, 0.0, 1.0]),
        values=_floats([0.3, 0.4, 0.6]),
        response_mask=torch.tensor([[True, True, True]]),
    )
    return _moved(batch, device)


def two_token_tree(device: torch.device | str = "cpu") -> TokenTree:
    """A tree of two binary tokens under a uniform actor, rewarded for (1, 1) alone.

    Args:
        device: Where the tensors are to lie.

    Returns:
        The leaves as rows. ``actor_probs`` holds each token's probability, a row's is
        their product. ``values`` are the exact expectations; ``wrong_values`` says 0.1
        instead of 0.5 after a first token 1.

    Example:
        >>> tree = two_token_tree()
        >>> tree.actor_probs.prod(1) @ tree.token_level_rewards.sum(1)
        tensor(0.2500, dtype=torch.float64)
    """
    leaves = _leaves(tokens=2, ones_needed=2)
    wrong = leaves["values"].where(leaves["values"] < 0.5, 0.1)
    return _moved(TokenTree(**leaves, wrong_values=wrong), device)


def four_token_tree(device: torch.device | str = "cpu") -> TokenTree:
    """A tree of four binary tokens under a uniform actor, rewarded for three 1s.

    Each token moves the expectation, so that no TD residual is idle, and every value
    is a binary fraction, so that means and variances come out exact.

    Args:
        device: Where the tensors are to lie.

    Returns:
        As ``two_token_tree``; score 1 for at least three 1s. ``wrong_values`` are
        right before the first token, then swayed by the latest: 0.25 too high after a
        1, as much too low after a 0.

    Example:
        >>> four_token_tree().values.unique()
        tensor([0.0000, 0.1250, 0.2500, 0.3125, 0.5000, 0.7500, 1.0000],
               dtype=torch.float64)
    """
    leaves = _leaves(tokens=4, ones_needed=3)
    wrong = leaves["values"].clone()
    wrong[:, 1:] += (leaves["responses"][:, :-1] - 0.5) / 2
    return _moved(TokenTree(**leaves, wrong_values=wrong), device)


def _paths() -> list[tuple[int, ...]]:
    """The edges from the prompt to each edge of ``TREE``, itself the last."""
    paths: list[tuple[int, ...]] = [()]
    for edge, line in enumerate(TREE.splitlines()):
        depth = len(line) - len(line.lstrip())
        paths.append((*paths[-1][:depth], edge))
    return paths[1:]


def _responses(paths: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Of these paths those that nothing goes on from."""
    begun = {path[:-1] for path in paths}
    return [path for path in paths if path not in begun]


def _edge_log_probs(cells: Sequence[str], parents: EdgeIds) -> EdgeValues:
    """Log-probs from a column of ``TREE``; "rest" is what its siblings leave."""
    log_probs = torch.tensor([_log_prob(cell) for cell in cells], dtype=torch.float64)
    given = log_probs.new_zeros(len(cells)).index_add(0, parents, log_probs.exp())
    return log_probs.where(log_probs > -math.inf, (1 - given[parents]).log())


def _log_prob(cell: str) -> float:
    """A log-prob that is written as such or as ln(p); minus infinity for "rest"."""
    if cell == "rest":
        return -math.inf
    if cell.startswith("ln("):
        return math.log(float(cell[3:-1]))
    return float(cell)


def _padded(rows: Sequence[Sequence[int]]) -> TokenIds:
    """Rows of ``LIMIT`` slots, 0 behind the end."""
    return torch.tensor([[*row, *[0] * (LIMIT - len(row))] for row in rows])


def _leaves(*, tokens: int, ones_needed: int) -> dict[str, torch.Tensor]:
    """All binary responses in order, score 1 at the end of those with enough 1s."""
    bits = torch.arange(tokens).flip(0)
    responses = torch.arange(2**tokens)[:, None] >> bits & 1
    scores = (responses.sum(1) >= ones_needed).double()
    ahead = [scores.view(2**t, -1) for t in range(tokens)]
    values = [x.mean(1).repeat_interleave(x.shape[1]) for x in ahead]
    rewards = torch.zeros(2**tokens, tokens, dtype=torch.float64)
    rewards[:, -1] = scores
    return {
        "responses": responses,
        "actor_probs": torch.full_like(rewards, 0.5),
        "token_level_rewards": rewards,
        "values": torch.stack(values, 1),
        "response_mask": torch.ones_like(responses, dtype=torch.bool),
    }


def _floats(*rows: list[float]) -> Tokens:
    return torch.tensor(rows, dtype=torch.float64)


Batch = TypeVar("Batch", bound=NamedTuple)


def _moved(batch: Batch, device: torch.device | str) -> Batch:
    fields = batch._asdict().items()
    return batch._replace(
        **{name: x.to(device) for name, x in fields if isinstance(x, torch.Tensor)}
    )

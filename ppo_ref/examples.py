"""The small batches that every page, docstring and test shows, defined once.

All are made on the CPU in float64, then moved.
"""

from typing import NamedTuple, TypeVar

import torch

from ppo_ref.require import RowValues, TokenIds, TokenMask, Tokens


class SharedBatch(NamedTuple):
    """Two responses to one prompt, six slots each."""

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


def shared_batch(device: torch.device | str = "cpu") -> SharedBatch:
    """The batch of two rows on which the pages compute.

    Row 0 is the answer of dialogue 002, figure for figure: six tokens, score 1. Row 1
    is an invented wrong answer to the same prompt: four tokens, score 0, a negative
    KL, falling values, then the slot after the end and one of padding.

    Args:
        device: Where the tensors are to lie.

    Returns:
        Log-probs in nats, 0 outside the response; values as the critic put them out,
        in the two last slots of row 1 too; ``kl_coef`` 0.01.

    Example:
        >>> shared_batch().response_mask.sum(1)
        tensor([6, 4])
    """
    batch = SharedBatch(
        old_log_probs=_floats(
            [-0.12, -0.08, -0.15, -0.10, -0.05, -0.02],
            [-2.10, -0.30, -0.20, -0.05, 0.00, 0.00],
        ),
        ref_log_probs=_floats(
            [-0.15, -0.10, -0.18, -0.12, -0.08, -0.03],
            [-1.60, -0.35, -0.25, -0.06, 0.00, 0.00],
        ),
        values=_floats(
            [0.82, 0.85, 0.88, 0.90, 0.92, 0.95],
            [0.82, 0.40, 0.20, 0.10, 0.25, 0.80],
        ),
        scores=torch.tensor([1.0, 0.0], dtype=torch.float64),
        response_mask=torch.tensor([[True] * 6, [True] * 4 + [False] * 2]),
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

"""The judges: float64 loops over the tokens that count, written from the definitions.

Nothing here imports the package, and nothing is vectorised. A row function sees plain
lists without gaps; ``over_rows`` removes the gaps and puts them back.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

Row = list[float]


def over_rows(
    of_row: Callable[..., Row],
    response_mask: Tensor,
    *tensors: Tensor,
    bootstrap_values: Tensor | None = None,
) -> Tensor:
    """Apply a row function to the tokens that count; 0 elsewhere."""
    result = torch.zeros(response_mask.shape, dtype=torch.float64)
    ends = [0.0] * len(response_mask)
    if bootstrap_values is not None:
        ends = bootstrap_values.double().tolist()
    for row, mask in enumerate(response_mask):
        rows = [tensor[row][mask].double().tolist() for tensor in tensors]
        result[row][mask] = torch.tensor(of_row(*rows, ends[row]), dtype=torch.float64)
    return result


def td_residuals(gamma: float) -> Callable[..., Row]:
    def of_row(rewards: Row, values: Row, end: float) -> Row:
        after = [*values, end][1:]
        return [
            reward + gamma * later - value
            for reward, value, later in zip(rewards, values, after, strict=True)
        ]

    return of_row


def gae(gamma: float, gae_lambda: float) -> Callable[..., Row]:
    """The recursion, from the last token to the first."""

    def of_row(rewards: Row, values: Row, end: float) -> Row:
        advantages, later, after = [], 0.0, end
        for reward, value in zip(reversed(rewards), reversed(values), strict=True):
            later = reward + gamma * after - value + gamma * gae_lambda * later
            after = value
            advantages.append(later)
        return advantages[::-1]

    return of_row


def monte_carlo_returns(gamma: float) -> Callable[..., Row]:
    def of_row(rewards: Row, end: float) -> Row:
        received = [*rewards, end]
        return [
            math.fsum(gamma**k * r for k, r in enumerate(received[t:]))
            for t in range(len(rewards))
        ]

    return of_row


def counted(x: Tensor, response_mask: Tensor) -> Row:
    return x.double()[response_mask].tolist()


def mean(numbers: Row) -> float:
    return math.fsum(numbers) / len(numbers)


def variance(numbers: Row) -> float:
    center = mean(numbers)
    return math.fsum((x - center) ** 2 for x in numbers) / (len(numbers) - 1)


def effective_share(weights: Row) -> float:
    return math.fsum(weights) ** 2 / (
        len(weights) * math.fsum(weight**2 for weight in weights)
    )


def row_lists(x: Tensor, response_mask: Tensor) -> list[Row]:
    """The tokens that count of each row that has one."""
    rows = [counted(x[i], mask) for i, mask in enumerate(response_mask)]
    return [row for row in rows if row]


def log_softmax(logits: Row) -> Row:
    top = max(logits)
    log_total = top + math.log(math.fsum(math.exp(x - top) for x in logits))
    return [x - log_total for x in logits]


def entropy(logits: Row) -> float:
    return -math.fsum(math.exp(x) * x for x in log_softmax(logits))


def policy_token_loss(
    ratio: float, advantage: float, low: float, high: float, dual_clip: float | None
) -> float:
    near = min(max(ratio, 1 - low), 1 + high)
    objective = min(ratio * advantage, near * advantage)
    if dual_clip is not None and advantage < 0:
        objective = max(objective, dual_clip * advantage)
    return -objective


def fellows(scores: Row, groups: list[int], row: int) -> Row:
    """The scores of a row's group, its own among them."""
    pairs = zip(scores, groups, strict=True)
    return [score for score, group in pairs if group == groups[row]]


def excess_in_group(scores: Row, groups: list[int]) -> Row:
    """Each score less the mean of its group."""
    return [s - mean(fellows(scores, groups, i)) for i, s in enumerate(scores)]


def excess_over_others(scores: Row, groups: list[int]) -> Row:
    """Each score less the mean of the others of its group."""
    result = []
    for row, score in enumerate(scores):
        others = fellows(scores, groups, row)
        others.remove(score)
        result.append(score - mean(others))
    return result


def deviations_in_group(scores: Row, groups: list[int], epsilon: float) -> Row:
    """Excess over the mean, in standard deviations of the group."""
    excess = excess_in_group(scores, groups)
    variances = [variance(fellows(scores, groups, i)) for i in range(len(excess))]
    pairs = zip(excess, variances, strict=True)
    return [x / (math.sqrt(spread) + epsilon) for x, spread in pairs]


def whitened(numbers: Row, epsilon: float) -> Row:
    center, spread = mean(numbers), math.sqrt(variance(numbers) + epsilon)
    return [(x - center) / spread for x in numbers]

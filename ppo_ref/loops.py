"""The definitions, as float64 loops: everything else is held to these.

A function takes the tokens that count of one response, as plain lists without gaps, and
does one thing at a time. Nothing here is fast, and nothing fast is used here. The three
functions at the end turn tensors with a mask into such lists, and back.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

Row = list[float]


def td_residuals(
    rewards: Row, values: Row, bootstrap_value: float, *, gamma: float
) -> Row:
    """How much each token changed the expected return.

        delta_t = r_t + gamma * V_{t+1} - V_t

    Args:
        rewards: Received after each token, in reward units.
        values: Expected return before each token, in reward units.
        bootstrap_value: V after the last token: 0 where the response ended.
        gamma: Discount per token, in [0, 1].

    Returns:
        One number per token, in reward units.

    Source:
        Schulman et al. (2016), arXiv:1506.02438v6, section 3.

    Example:
        >>> deltas = td_residuals([0, 0, 1], [0.3, 0.4, 0.6], 0, gamma=1)
        >>> [round(delta, 4) for delta in deltas]
        [0.1, 0.2, 0.4]
    """
    following = [*values, bootstrap_value][1:]
    deltas = []
    for reward, value, after in zip(rewards, values, following, strict=True):
        deltas.append(reward + gamma * after - value)
    return deltas


def gae(
    rewards: Row,
    values: Row,
    bootstrap_value: float,
    *,
    gamma: float,
    gae_lambda: float,
) -> Row:
    """Generalized advantage estimation, from the last token to the first.

        delta_t = r_t + gamma * V_{t+1} - V_t
        A_t = delta_t + gamma * gae_lambda * A_{t+1}

    Args:
        rewards: Received after each token, in reward units.
        values: Expected return before each token, in reward units.
        bootstrap_value: V after the last token: 0 where the response ended.
        gamma: Discount per token, in [0, 1].
        gae_lambda: 0 bootstraps fully from the next value, 1 not at all.

    Returns:
        One advantage per token, in reward units, not whitened.

    Source:
        Schulman et al. (2016), arXiv:1506.02438v6, equation 16.

    Example:
        >>> rewards, values = [0, 0, 1], [0.3, 0.4, 0.6]
        >>> advantages = gae(rewards, values, 0, gamma=1, gae_lambda=0.95)
        >>> [round(advantage, 4) for advantage in advantages]
        [0.651, 0.58, 0.4]
    """
    advantages = []
    advantage, value_after = 0.0, bootstrap_value
    for reward, value in zip(reversed(rewards), reversed(values), strict=True):
        delta = reward + gamma * value_after - value
        advantage = delta + gamma * gae_lambda * advantage
        value_after = value
        advantages.append(advantage)
    advantages.reverse()
    return advantages


def monte_carlo_returns(rewards: Row, bootstrap_value: float, *, gamma: float) -> Row:
    """Sum what was received from each token on.

        G_t = r_t + gamma * r_{t+1} + gamma**2 * r_{t+2} + ...

    Args:
        rewards: Received after each token, in reward units.
        bootstrap_value: Received after the last token: 0 where the response ended.
        gamma: Discount per token, in [0, 1].

    Returns:
        One return per token, in reward units.

    Example:
        >>> monte_carlo_returns([0, 0, 1], 0, gamma=0.5)
        [0.25, 0.5, 1.0]
    """
    received = [*rewards, bootstrap_value]
    returns = []
    for t in range(len(rewards)):
        later = enumerate(received[t:])
        returns.append(math.fsum(gamma**k * reward for k, reward in later))
    return returns


def token_level_rewards(score: float, kl: Row, *, kl_coef: float) -> Row:
    """Give the last token the score, and take the price of the KL off every token.

        r_t = score_t - kl_coef * kl_t

    Args:
        score: Of the whole response, in reward units.
        kl: From actor to reference, per token, in nats.
        kl_coef: Reward units per nat, at least 0.

    Returns:
        One reward per token, in reward units.

    Source:
        verl v0.9.1, verl/trainer/ppo/ray_trainer.py, apply_kl_penalty.

    Example:
        >>> token_level_rewards(1.0, [2.0, -1.0], kl_coef=0.5)
        [-1.0, 1.5]
    """
    rewards = [-kl_coef * token_kl for token_kl in kl]
    rewards[-1] += score
    return rewards


def log_softmax(logits: Row) -> Row:
    """Turn the logits of one token into log-probabilities that sum to 1.

        log p_a = x_a - log sum_b exp(x_b)

    Args:
        logits: One per entry of the vocabulary.

    Returns:
        One log-probability per entry, in nats.

    Example:
        >>> [round(math.exp(x), 4) for x in log_softmax([0.0, math.log(3)])]
        [0.25, 0.75]
    """
    top = max(logits)
    log_total = top + math.log(math.fsum(math.exp(x - top) for x in logits))
    return [x - log_total for x in logits]


def entropy(logits: Row) -> float:
    """Average the surprise over one token's distribution.

        H = -sum_a p_a * log p_a

    Args:
        logits: One per entry of the vocabulary.

    Returns:
        Nats, from 0 (certain) to the log of the vocabulary (uniform).

    Example:
        >>> round(entropy([0.0, 0.0]), 4)
        0.6931
    """
    return -math.fsum(math.exp(x) * x for x in log_softmax(logits))


def kl_k1(log_prob: float, ref_log_prob: float) -> float:
    """Estimate the KL by the log-ratio of the sampled token: unbiased, of any sign.

    Args:
        log_prob: Of the actor, in nats.
        ref_log_prob: Of the reference, in nats.

    Returns:
        Nats.

    Source:
        Schulman (2020), Approximating KL Divergence, k1.

    Example:
        >>> kl_k1(-0.75, -0.25)
        -0.5
    """
    return log_prob - ref_log_prob


def kl_k2(log_prob: float, ref_log_prob: float) -> float:
    """Estimate the KL by half the squared log-ratio: biased, never negative.

    Args:
        log_prob: Of the actor, in nats.
        ref_log_prob: Of the reference, in nats.

    Returns:
        Nats.

    Source:
        Schulman (2020), Approximating KL Divergence, k2.

    Example:
        >>> kl_k2(-0.75, -0.25)
        0.125
    """
    return (log_prob - ref_log_prob) ** 2 / 2


def kl_k3(log_prob: float, ref_log_prob: float) -> float:
    """Estimate the KL by the log-ratio and a control variate: unbiased, not negative.

        k3 = exp(-k1) - 1 + k1

    Args:
        log_prob: Of the actor, in nats.
        ref_log_prob: Of the reference, in nats.

    Returns:
        Nats.

    Source:
        Schulman (2020), Approximating KL Divergence, k3.

    Example:
        >>> round(kl_k3(-0.75, -0.25), 4)
        0.1487
    """
    log_ratio = log_prob - ref_log_prob
    return math.exp(-log_ratio) - 1 + log_ratio


def policy_loss(
    ratio: float,
    advantage: float,
    low: float,
    high: float,
    dual_clip: float | None,
) -> float:
    """The clipped loss of one token.

        loss = -min(ratio * A, clip(ratio, 1 - low, 1 + high) * A)

    Args:
        ratio: The actor's probability of the token over that when it was sampled.
        advantage: In reward units, or whitened.
        low: How far the ratio counts below 1.
        high: How far it counts above 1.
        dual_clip: Where the advantage is negative, bound the loss by this multiple of
            it; None for no bound.

    Returns:
        In the unit of the advantage.

    Source:
        Schulman et al. (2017), arXiv:1707.06347v2, equation 7; dual clip: Ye et al.
        (2020), arXiv:1912.09729v3, equation 5.

    Example:
        >>> policy_loss(2.0, 1.0, 0.2, 0.2, None)
        -1.2
    """
    near = min(max(ratio, 1 - low), 1 + high)
    objective = min(ratio * advantage, near * advantage)
    if dual_clip is not None and advantage < 0:
        objective = max(objective, dual_clip * advantage)
    return -objective


def value_loss(
    value: float, old_value: float, to_predict: float, *, value_clip_range: float
) -> float:
    """Half the squared error of one value, the worse of clipped and unclipped.

    Args:
        value: Of the critic being trained, in reward units.
        old_value: Of the critic at the time of sampling, in reward units.
        to_predict: The return of the token, in reward units.
        value_clip_range: How far the value counts from the old one, in reward units.

    Returns:
        Reward units squared.

    Source:
        verl v0.9.1, verl/trainer/ppo/core_algos.py, compute_value_loss.

    Example:
        >>> value_loss(1.0, 0.0, 2.0, value_clip_range=0.5)
        1.125
    """
    lowest, highest = old_value - value_clip_range, old_value + value_clip_range
    near = min(max(value, lowest), highest)
    return max((value - to_predict) ** 2, (near - to_predict) ** 2) / 2


def token_mean(rows: list[Row]) -> float:
    """Average over the tokens of all responses: long responses weigh more.

    Args:
        rows: One loss per token, response by response.

    Returns:
        The mean, in the unit of the losses.

    Source:
        verl v0.9.1, verl/trainer/ppo/core_algos.py, agg_loss, "token-mean".

    Example:
        >>> token_mean([[1, 1, 1], [5]])
        2.0
    """
    return mean([loss for row in rows for loss in row])


def sequence_mean_token_mean(rows: list[Row]) -> float:
    """Average the means of the responses: each weighs the same.

    Args:
        rows: One loss per token, response by response.

    Returns:
        The mean, in the unit of the losses.

    Source:
        verl v0.9.1, verl/trainer/ppo/core_algos.py, agg_loss, "seq-mean-token-mean".

    Example:
        >>> sequence_mean_token_mean([[1, 1, 1], [5]])
        3.0
    """
    return mean([mean(row) for row in rows])


def sequence_mean_token_sum(rows: list[Row]) -> float:
    """Average the sums of the responses.

    Args:
        rows: One loss per token, response by response.

    Returns:
        The mean, in the unit of the losses.

    Source:
        verl v0.9.1, verl/trainer/ppo/core_algos.py, agg_loss, "seq-mean-token-sum".

    Example:
        >>> sequence_mean_token_sum([[1, 1, 1], [5]])
        4.0
    """
    return mean([math.fsum(row) for row in rows])


def mean(numbers: Row) -> float:
    """Average, each number with the same weight.

    Args:
        numbers: At least one, in any unit.

    Returns:
        In the same unit.

    Example:
        >>> mean([1, 2, 6])
        3.0
    """
    return math.fsum(numbers) / len(numbers)


def variance(numbers: Row) -> float:
    """Average the squared distance to the mean, with Bessel's correction.

    Args:
        numbers: At least two, in any unit.

    Returns:
        In that unit squared.

    Example:
        >>> variance([1, 3])
        2.0
    """
    center = mean(numbers)
    return math.fsum((x - center) ** 2 for x in numbers) / (len(numbers) - 1)


def whitened(numbers: Row, epsilon: float) -> Row:
    """Shift and scale to mean 0 and variance 1.

    Args:
        numbers: At least two, in any unit.
        epsilon: Added to the variance; verl's is 1e-8.

    Returns:
        As many numbers, without unit.

    Source:
        verl v0.9.1, verl/utils/torch_functional.py, masked_whiten.

    Example:
        >>> whitened([1, 2, 3], epsilon=0)
        [-1.0, 0.0, 1.0]
    """
    center, spread = mean(numbers), math.sqrt(variance(numbers) + epsilon)
    return [(x - center) / spread for x in numbers]


def effective_sample_size(weights: Row) -> float:
    """Count how many equal weights say as much, as a share of those there are.

        sum(w)**2 / (n * sum(w**2))

    Args:
        weights: At least 0, without unit, such as ratios.

    Returns:
        From 1 / n to 1.

    Source:
        Kish (1965), Survey Sampling.

    Example:
        >>> effective_sample_size([1, 1, 0, 0])
        0.5
    """
    squares = math.fsum(weight**2 for weight in weights)
    return math.fsum(weights) ** 2 / (len(weights) * squares)


def dr_grpo(scores: Row, groups: list[int]) -> Row:
    """Compare each score with the mean of its group.

        A_i = s_i - mean(s)

    Args:
        scores: One per response, in reward units.
        groups: Which prompt each response answers.

    Returns:
        One advantage per response, in reward units.

    Source:
        Liu et al. (2025), arXiv:2503.20783.

    Example:
        >>> dr_grpo([1, 0, 5, 3], [0, 0, 1, 1])
        [0.5, -0.5, 1.0, -1.0]
    """
    advantages = []
    for score, group in zip(scores, groups, strict=True):
        advantages.append(score - mean(_group(scores, groups, group)))
    return advantages


def grpo(scores: Row, groups: list[int], epsilon: float) -> Row:
    """Compare each score with its group, in standard deviations of the group.

        A_i = (s_i - mean(s)) / (std(s) + epsilon)

    Args:
        scores: One per response, in reward units.
        groups: Which prompt each response answers.
        epsilon: Added to the standard deviation, in reward units.

    Returns:
        One advantage per response, without unit.

    Source:
        Shao et al. (2024), arXiv:2402.03300, section 4.1.2.

    Example:
        >>> [round(x, 4) for x in grpo([1, 0, 0], [0, 0, 0], epsilon=1e-6)]
        [1.1547, -0.5773, -0.5773]
    """
    advantages = []
    for excess, group in zip(dr_grpo(scores, groups), groups, strict=True):
        deviation = math.sqrt(variance(_group(scores, groups, group)))
        advantages.append(excess / (deviation + epsilon))
    return advantages


def rloo(scores: Row, groups: list[int]) -> Row:
    """Compare each score with the mean of the others of its group.

        A_i = s_i - mean(s_j for j != i)

    Args:
        scores: One per response, in reward units.
        groups: Which prompt each response answers.

    Returns:
        One advantage per response, in reward units.

    Source:
        Ahmadian et al. (2024), arXiv:2402.14740, section 2.2.

    Example:
        >>> rloo([1, 0, 0], [0, 0, 0])
        [1.0, -0.5, -0.5]
    """
    advantages = []
    for score, group in zip(scores, groups, strict=True):
        others = _group(scores, groups, group)
        others.remove(score)
        advantages.append(score - mean(others))
    return advantages


def _group(scores: Row, groups: list[int], group: int) -> Row:
    pairs = zip(scores, groups, strict=True)
    return [score for score, its_group in pairs if its_group == group]


def counted(x: Tensor, response_mask: Tensor) -> Row:
    """Take the numbers of the tokens that count out of a tensor, in float64.

    Args:
        x: One number per token, of a batch or of a row.
        response_mask: True where the token counts; gaps allowed.

    Returns:
        Row after row, without gaps.

    Example:
        >>> counted(torch.tensor([1., 9., 2.]), torch.tensor([True, False, True]))
        [1.0, 2.0]
    """
    numbers: Row = x.double()[response_mask].tolist()
    return numbers


def row_lists(x: Tensor, response_mask: Tensor) -> list[Row]:
    """Take the numbers of the tokens that count out of each row that has one.

    Args:
        x: One number per token.
        response_mask: True where the token counts; gaps allowed.

    Returns:
        A list per row, without gaps.

    Example:
        >>> x, mask = torch.tensor([[1., 9.], [2., 3.]]), torch.tensor([[1, 0], [1, 1]])
        >>> row_lists(x, mask.bool())
        [[1.0], [2.0, 3.0]]
    """
    rows = [counted(x[i], mask) for i, mask in enumerate(response_mask)]
    return [row for row in rows if row]


def over_rows(
    function: Callable[..., Row],
    response_mask: Tensor,
    *tensors: Tensor,
    bootstrap_values: Tensor | None = None,
    **numbers: float,
) -> Tensor:
    """Apply a definition to each row: gaps out of the lists, and back in.

    Args:
        function: Such as ``gae``: of lists, the bootstrap value, and numbers by name.
        response_mask: True where the token counts; gaps allowed.
        tensors: What the lists are taken from, [batch, time].
        bootstrap_values: V after each row's last token; 0 when left out.
        numbers: What the function is given by name.

    Returns:
        float64 [batch, time], 0 where no token counts.

    Example:
        >>> x, mask = torch.tensor([[1., 9., 2.]]), torch.tensor([[True, False, True]])
        >>> over_rows(monte_carlo_returns, mask, x, gamma=0.5)
        tensor([[2., 0., 2.]], dtype=torch.float64)
    """
    result = torch.zeros(response_mask.shape, dtype=torch.float64)
    for row, mask in enumerate(response_mask):
        lists = [counted(tensor[row], mask) for tensor in tensors]
        after = 0.0
        if bootstrap_values is not None:
            after = float(bootstrap_values[row])
        numbers_of_row = function(*lists, after, **numbers)
        result[row][mask] = torch.tensor(numbers_of_row, dtype=torch.float64)
    return result

"""The whole calculation of one response as a table to read."""

from collections.abc import Iterable
from typing import Any

from ppo_ref.advantages import gae, td_residuals
from ppo_ref.require import RowValues, TokenMask, Tokens, require_index

HEADINGS = ("r_t", "V(s_t)", "delta", "A", "R")


def trace(
    *,
    token_level_rewards: Tokens,
    values: Tokens,
    response_mask: TokenMask,
    gamma: float = 1.0,
    gae_lambda: float = 1.0,
    bootstrap_values: RowValues | None = None,
    row: int = 0,
) -> str:
    """The rewards, values, TD residuals, advantages and returns of one row.

    Args:
        token_level_rewards: As in ``gae``.
        values: As in ``gae``.
        response_mask: As in ``gae``.
        gamma: Discount per token, in [0, 1].
        gae_lambda: As in ``gae``.
        bootstrap_values: As in ``gae``.
        row: Which row of the batch.

    Returns:
        One line per slot, 43 columns wide while the numbers lie within 100 of 0, four
        decimals; ``-`` in a slot that does not count.

    Raises:
        ValueError: as in ``gae``, or if there is no such row.

    Example:
        >>> from ppo_ref.examples import three_tokens
        >>> print(trace(**three_tokens()._asdict(), gae_lambda=0.95))
          t     r_t  V(s_t)   delta       A       R
          0  0.0000  0.3000  0.1000  0.6510  0.9510
          1  0.0000  0.4000  0.2000  0.5800  0.9800
          2  1.0000  0.6000  0.4000  0.4000  1.0000
    """
    require_index("trace", len(response_mask), row=row)
    given: dict[str, Any] = {
        "token_level_rewards": token_level_rewards,
        "values": values,
        "response_mask": response_mask,
        "gamma": gamma,
        "bootstrap_values": bootstrap_values,
    }
    deltas, estimate = td_residuals(**given), gae(**given, gae_lambda=gae_lambda)
    columns = (token_level_rewards, values, deltas, *estimate)
    lines = [_line("t", HEADINGS)]
    for t, counts in enumerate(response_mask[row].tolist()):
        cells = [f"{column[row, t]:z.4f}" if counts else "-" for column in columns]
        lines.append(_line(str(t), cells))
    return "\n".join(lines)


def _line(t: str, cells: Iterable[str]) -> str:
    return f"{t:>3}" + "".join(f" {cell:>7}" for cell in cells)

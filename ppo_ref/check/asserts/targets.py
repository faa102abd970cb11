"""Asserts about targets, at which critic and actor aim: they are right, and stay."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import torch
from torch import Tensor

from ppo_ref.advantages import gae, monte_carlo_returns
from ppo_ref.check.asserts.faults import (
    beyond,
    fail,
    first,
    place,
    shown,
    tolerance_for,
)
from ppo_ref.masking import masked_mean, masked_variance
from ppo_ref.require import (
    RowValues,
    TokenMask,
    Tokens,
    require_batch,
    require_unit_interval,
)

# What trainers usually take, the likelier first.
GAMMAS = (1.0, 0.999, 0.995, 0.99, 0.98, 0.97, 0.95, 0.9)
LAMBDAS = (0.99, 0.98, 0.97, 0.96, 0.95, 0.92, 0.9, 0.8, 0.5, 0.0)
Batch = Annotated[Any, "a dict of tensors by name, or a TensorDict"]


def assert_return_to_go(
    *,
    advantages: Tokens,
    values: Tokens,
    token_level_rewards: Tokens,
    response_mask: TokenMask,
    gamma: float = 1.0,
    bootstrap_values: RowValues | None = None,
) -> None:
    """At lambda 1 the advantage and the value sum to what was received from there on.

        A_t + V_t = r_t + gamma * r_{t+1} + gamma**2 * r_{t+2} + ...

    Args:
        advantages: Computed by your code with lambda 1, before whitening.
        values: That went into them.
        token_level_rewards: That went into them.
        response_mask: True where the token counts.
        gamma: Discount that went into them.
        bootstrap_values: As in ``gae``, if cut responses were given one.

    Raises:
        AssertionError: if a token's sum is off by more than rounding.
        ValueError: if no token counts, ``gamma`` is outside [0, 1], or an input is not
            finite where it counts.

    Example:
        >>> from ppo_ref.advantages import gae
        >>> from ppo_ref.examples import three_tokens
        >>> batch = three_tokens()._asdict()
        >>> assert_return_to_go(**batch, advantages=gae(**batch).advantages)
        >>> biased = gae(**batch, gae_lambda=0.95).advantages
        >>> assert_return_to_go(**batch, advantages=biased)
        Traceback (most recent call last):
        AssertionError: advantages[0, 0] + values[0, 0] is
        0.9510, the return to go is 1.0000: these advantages
        have gae_lambda=0.95; compute them at 1
    """
    name = "assert_return_to_go"
    inputs = {"token_level_rewards": token_level_rewards, "values": values}
    require_batch(name, response_mask, advantages=advantages, **inputs)
    require_unit_interval(name, gamma=gamma)
    inputs["response_mask"] = response_mask
    returns = monte_carlo_returns(
        token_level_rewards=token_level_rewards,
        response_mask=response_mask,
        gamma=gamma,
        bootstrap_values=bootstrap_values,
    )
    total = advantages + values
    wrong = _off(total, returns, response_mask, advantages, values)
    if wrong.any():
        terms = shown(f"{place('advantages', wrong)} + values", total, wrong)
        fail(
            f"{terms}, the return to go is {float(returns[first(wrong)]):.4f}",
            _cause(advantages.detach(), gamma, inputs, wrong),
        )


@contextmanager
def assert_targets_fixed(batch: Batch) -> Iterator[None]:
    """Around an update: what it aims at has no gradient and is the same afterwards.

    Args:
        batch: What your update reads; of the names ``returns``, ``advantages``,
            ``values`` and ``old_log_probs`` all that it has are watched.

    Returns:
        A context; your update is its body, and may change everything else.

    Raises:
        AssertionError: on entering or leaving, if one of them requires gradient; on
            leaving, if one holds other numbers.
        ValueError: if the batch has no ``returns``.

    Example:
        >>> batch = {"returns": torch.tensor([[0.5, 1.0]])}
        >>> with assert_targets_fixed(batch):
        ...     pass
        >>> with assert_targets_fixed(batch):
        ...     batch["returns"] -= batch["returns"].mean()
        Traceback (most recent call last):
        AssertionError: returns[0, 0] was 0.5000 before the
        update and is -0.2500 after it: they are computed
        again from the critic in training; compute them
        once, before the first epoch
    """
    held = [*map(str, batch.keys())]  # a TensorDict iterates over its rows
    names = [name for name in _CHANGED if name in held]
    if "returns" not in names:
        raise ValueError(
            f"assert_targets_fixed: batch must hold returns, has {', '.join(held)}"
        )
    _refuse_gradient(batch, names)
    before = {name: batch[name].detach().clone() for name in names}
    yield
    _refuse_gradient(batch, names)
    for name, old in before.items():
        new = batch[name]
        if new.shape != old.shape:
            what = f"{name} had shape {list(old.shape)} and has {list(new.shape)}"
            fail(what, "the update writes into the batch; give it a copy")
        wrong = ~torch.isclose(new, old, rtol=0, atol=0, equal_nan=True)
        if wrong.any():
            was = shown(name, old, wrong).replace(" is ", " was ")
            now = f"is {float(new[first(wrong)]):.4f} after it"
            fail(f"{was} before the update and {now}", _CHANGED[name])


_CHANGED = {
    "returns": "they are computed again from the critic in training; compute them "
    "once, before the first epoch",
    "advantages": "they are computed or whitened again in place; do it once, before "
    "the first epoch",
    "values": "they are overwritten by the critic in training, and clipping is "
    "measured from them; keep the old ones",
    "old_log_probs": "they are overwritten by the actor in training, and the ratio "
    "stays 1; keep the old ones",
}


def _refuse_gradient(batch: Batch, names: list[str]) -> None:
    for name in names:
        if batch[name].requires_grad:
            text = "the loss would move its own target; compute it under "
            fail(f"{name} requires gradient", f"{text}torch.no_grad() or .detach() it")


def _off(x: Tensor, y: Tensor, response_mask: Tensor, *sizes: Tensor) -> Tensor:
    return beyond(x - y, tolerance_for(x, *sizes), y, *sizes) & response_mask


def _cause(
    advantages: Tensor, gamma: float, inputs: dict[str, Tensor], wrong: Tensor
) -> str:
    """The first usual cause that explains the advantages."""
    mask, values = inputs["response_mask"], inputs["values"]

    def explains(where: Tensor = mask, **changes: Any) -> bool:
        arguments = {**inputs, "gamma": gamma, "gae_lambda": 1.0, **changes}
        return not _off(advantages, gae(**arguments).advantages, where, values).any()

    for other in GAMMAS:
        if explains(gamma=other):
            return f"these advantages have gamma={other}; pass the same to both"
    for other in LAMBDAS:
        if explains(gae_lambda=other):
            return f"these advantages have gae_lambda={other}; compute them at 1"
    if int(mask.sum()) > 1:
        mean = masked_mean(advantages, mask)
        excess = masked_variance(advantages, mask) - 1
        if mean.abs() < 1e-3 and excess.abs() < 1e-2:
            return "they are whitened; take them as they were before"
    for shift, word in ((1, "early"), (-1, "late")):
        inner = mask & mask.roll(shift, 1)
        inner[:, 0 if shift > 0 else -1] = False
        if inner.any() and explains(inner, values=values.roll(shift, 1)):
            return f"the values that went in lie one slot {word}; cut [:, -T-1:-1]"
    right = gae(**inputs, gamma=gamma, gae_lambda=1.0).advantages
    row = first(wrong)[0]
    owner = _owner(advantages[row], right, mask[row] & mask)
    if owner is not None:
        remedy = "draw or sort all fields of a row together"
        return f"row {row} has the advantages of row {owner}; {remedy}"
    if not (wrong & ~mask.all(1, keepdim=True)).any():
        return "only full rows are off: they were cut; pass their bootstrap_values"
    return (
        "other rewards or values went in, or the recursion reads a slot that does not "
        "count"
    )


def _owner(found: Tensor, right: Tensor, common: Tensor) -> int | None:
    """The row whose advantages were found in another, where both have tokens."""
    for other, (expected, both) in enumerate(zip(right, common, strict=True)):
        off = _off(found, expected, both, expected)
        if found[both].any() and not off.any():
            return other
    return None

"""Ask a function of somebody else which tokens it has read."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, NamedTuple

import torch
from torch import Tensor

from ppo_ref.alignment import last_token

Reader = Annotated[
    Callable[[Tensor], Tensor],
    "a function from sequences to one number per token of the response",
]


class Probe(NamedTuple):
    """Which slots moved in which rows when one token was changed in all of them."""

    token: int
    rows: Tensor
    moved: Tensor


@contextmanager
def same_randomness() -> Iterator[None]:
    """The random state afterwards as it was before.

    Returns:
        A context: every one that is entered starts from the same random numbers, so
        that dropout which was left on drops the same each time.

    Example:
        >>> with same_randomness(): first = torch.rand(1)
        >>> bool(torch.rand(1) == first)
        True
    """
    # All GPUs by name: without names torch warns where there are several.
    started = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    count = torch.cuda.device_count() if started else 0
    with torch.random.fork_rng(devices=range(count)):
        yield


def changed(sequences: Tensor, response_mask: Tensor, token: int) -> Tensor:
    """The sequences with another id for one token of each response that has it.

    Args:
        sequences: Token ids of prompt and response.
        response_mask: True where the token of the response counts.
        token: Which token of the response.

    Returns:
        A copy; the new id stands elsewhere in the batch, if possible inside a
        response and neither at its end nor in its padding, so that it is no
        end-of-sequence token that would change a mask.

    Raises:
        ValueError: if the batch holds one id only.

    Example:
        >>> mask = torch.tensor([[True, True, True, False]])
        >>> changed(torch.tensor([[5, 7, 8, 2, 0]]), mask, 0)
        tensor([[5, 8, 8, 2, 0]])
    """
    responses = sequences[:, -response_mask.shape[1] :]
    inner = responses[response_mask & ~last_token(response_mask)]
    ends = responses[last_token(response_mask) | ~response_mask]
    inner = inner[~torch.isin(inner, ends)]
    ids = [*sorted(set(inner.tolist())), *sorted(set(sequences.flatten().tolist()))]
    if len(set(ids)) < 2:
        raise ValueError("sequences must hold at least 2 different ids, got 1")
    copy = sequences.clone()
    place = sequences.shape[1] - response_mask.shape[1] + token
    for row in response_mask[:, token].nonzero().flatten().tolist():
        old = int(sequences[row, place])
        copy[row, place] = next(new for new in ids if new != old)
    return copy


def read(name: str, function: Reader, sequences: Tensor, like: Tensor) -> Tensor:
    """What a function says of these sequences.

    Args:
        name: Of the argument that is the function.
        function: The caller's own.
        sequences: Token ids.
        like: Of the shape that must come.

    Returns:
        Its result, without gradient.

    Raises:
        TypeError: if it is no floating-point tensor of that shape.

    Example:
        >>> mask = torch.tensor([[True, True]])
        >>> read("values", lambda ids: ids[:, 1:].float(), torch.ones(1, 3), mask)
        tensor([[1., 1.]])
    """
    with same_randomness(), torch.no_grad():
        result = function(sequences)
    fits = isinstance(result, Tensor) and result.shape == like.shape
    if fits and result.is_floating_point():
        return result
    came = type(result).__name__
    if isinstance(result, Tensor):
        dtype = str(result.dtype).removeprefix("torch.")
        came = f"{dtype} of shape {list(result.shape)}"
    raise TypeError(
        f"{name} must return a floating-point tensor of shape [batch, time] = "
        f"{list(like.shape)}, got {came}"
    )


def probe(
    name: str,
    function: Reader,
    sequences: Tensor,
    response_mask: Tensor,
    probes: int,
    tolerance: float,
) -> list[Probe]:
    """Change one token after the other and see what moves.

    Args:
        name: Of the argument that is the function.
        function: The caller's own.
        sequences: Token ids of prompt and response.
        response_mask: True where the token of the response counts.
        probes: How many tokens to change, spread over the response.
        tolerance: A change up to this is none.

    Returns:
        What moved, of the slots that count.

    Raises:
        TypeError: if the function returns something else.
        ValueError: if it gives two answers to one question.

    Example:
        >>> ids, mask = torch.tensor([[5, 7, 8]]), torch.tensor([[True, True]])
        >>> probe("v", lambda ids: ids.cumsum(1)[:, :2].float(), ids, mask, 1, 0.0)
        [Probe(token=0, rows=tensor([True]), moved=tensor([[False,  True]]))]
    """
    before = read(name, function, sequences, response_mask)
    again = read(name, function, sequences, response_mask)
    noise = (again - before)[response_mask].abs().max()
    if not noise <= tolerance:
        raise ValueError(
            f"{name} must give the same numbers for the same sequences, they differ "
            f"by up to {float(noise):.2g}; pass a tolerance above that"
        )
    times = response_mask.any(0).nonzero().flatten()
    spread = torch.linspace(0, len(times) - 1, min(probes, len(times)))
    found = []
    for token in times[spread.round().long().to(times.device)].tolist():
        other = changed(sequences, response_mask, token)
        after = read(name, function, other, response_mask)
        moved = ((after - before).abs() > tolerance) & response_mask
        rows = response_mask[:, token]
        found.append(Probe(token, rows, moved & rows[:, None]))
    return found

"""Ask a reader's own function which tokens it has read."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, NamedTuple

import torch
from torch import Tensor

from ppo_ref.alignment import last_token
from ppo_ref.asserts.faults import described

Reader = Annotated[
    Callable[[Tensor], Tensor],
    "a function from sequences to one number per token of the response",
]


class Probe(NamedTuple):
    """Which slots moved when one token was changed in every row that has it."""

    token: int
    moved: Tensor


@contextmanager
def same_randomness() -> Iterator[None]:
    """Put the random state back afterwards: dropout left on drops the same each time.

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
    """A copy with another id for this token of each response that has it.

    The new id comes from elsewhere in the batch, if possible from inside a response
    and neither its end nor padding: an end-of-sequence token would change a mask.

    Example:
        >>> mask = torch.tensor([[True, True, True, False]])
        >>> changed(torch.tensor([[5, 7, 8, 2, 0]]), mask, 0)
        tensor([[5, 8, 8, 2, 0]])
    """
    responses = sequences[:, -response_mask.shape[1] :]
    last = last_token(response_mask)
    inner = responses[response_mask & ~last]
    inner = inner[~torch.isin(inner, responses[last | ~response_mask])]
    ids = [*sorted(set(inner.tolist())), *sorted(set(sequences.flatten().tolist()))]
    if len(set(ids)) < 2:
        raise ValueError("sequences must hold at least 2 different ids, got 1")
    copy = sequences.clone()
    place = sequences.shape[1] - response_mask.shape[1] + token
    for row in response_mask[:, token].nonzero().flatten().tolist():
        old = int(sequences[row, place])
        copy[row, place] = next(new for new in ids if new != old)
    return copy


def call(name: str, function: Reader, sequences: Tensor, like: Tensor) -> Tensor:
    """The function's numbers for these sequences, without gradient; ``name`` is its."""
    with same_randomness(), torch.no_grad():
        result = function(sequences)
    fits = isinstance(result, Tensor) and result.shape == like.shape
    if not (fits and result.is_floating_point()):
        raise TypeError(
            f"{name} must return a floating-point tensor of shape [batch, time] = "
            f"{list(like.shape)}, got {described(result)}"
        )
    return result


def probe(
    name: str,
    function: Reader,
    sequences: Tensor,
    response_mask: Tensor,
    probes: int,
    tolerance: float,
) -> list[Probe]:
    """Change one token after the other, spread over the response, and see what moves.

    Example:
        >>> ids, mask = torch.tensor([[5, 7, 8]]), torch.tensor([[True, True]])
        >>> probe("v", lambda ids: ids.cumsum(1)[:, :2].float(), ids, mask, 1, 0.0)
        [Probe(token=0, moved=tensor([[False,  True]]))]
    """
    before = call(name, function, sequences, response_mask)
    again = call(name, function, sequences, response_mask)
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
        after = call(name, function, other, response_mask)
        moved = ((after - before).abs() > tolerance) & response_mask
        found.append(Probe(token, moved & response_mask[:, token, None]))
    return found

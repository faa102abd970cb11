"""Which tokens your values and your log-probs have read: change one and see."""

from collections.abc import Callable
from typing import Annotated, NamedTuple

import torch
from torch import Tensor

from ppo_ref.alignment import last_token
from ppo_ref.asserts.faults import (
    fail,
    place,
    require_like,
    same_randomness,
    tolerance_for,
)
from ppo_ref.contracts.checks import require_at_least, require_tokens
from ppo_ref.contracts.shapes import SequenceIds, TokenMask, checked

Reader = Annotated[
    Callable[[Tensor], Tensor],
    "a function from sequences to one number per token of the response",
]


class Probe(NamedTuple):
    """Which slots moved when one token was changed in every row that has it."""

    token: int
    moved: Tensor


_NOT_CAUSAL = "the model looks ahead: give it a causal attention mask"


@checked
def assert_values_before_tokens(
    values: Reader,
    sequences: SequenceIds,
    response_mask: TokenMask,
    *,
    probes: int = 8,
    tolerance: float = 0.0,
) -> None:
    """Value t has read the tokens before token t, and not token t.

    Changing token t must move later values alone, the next one first. It costs
    ``probes`` + 2 calls of the function.

    Args:
        values: Your function from ids [batch, sequence] to the response's values
            [batch, time]: your critic and your slice. A mask of attention that it
            needs is that of ``sequences``; it does not change.
        sequences: Prompts and responses, the responses in the last ``time`` slots.
        response_mask: True where the token of the response counts.
        probes: How many tokens to change, spread over the response.
        tolerance: A change up to this is none, in reward units. 0 fits every model
            that gives the same bits for the same input, in bfloat16 too: what has not
            read a token does not round differently. Some mixtures of experts need
            more.

    Raises:
        AssertionError: if a value moves that must not have read the token, if the
            next one does not move, or if none does.
        ValueError: if no token counts, the ids are all the same, or the function
            gives two answers to one question.
        TypeError: if it returns something else.

    Example:
        >>> ids = torch.tensor([[5, 7, 8, 9]])
        >>> mask = torch.tensor([[True, True, True]])
        >>> critic = lambda ids: ids.cumsum(1).float()
        >>> assert_values_before_tokens(lambda ids: critic(ids)[:, -4:-1], ids, mask)
        >>> assert_values_before_tokens(lambda ids: critic(ids)[:, -3:], ids, mask)
        Traceback (most recent call last):
        AssertionError: values[0, 0] moved when token 0 was
        changed: the slice is 1 position late; cut
        [:, -T-1:-1]
    """
    require_tokens("assert_values_before_tokens", response_mask)
    require_at_least("assert_values_before_tokens", 1, probes=probes)
    found = _probe("values", values, sequences, response_mask, probes, tolerance)
    _refuse_still("values", found)
    _refuse_misplaced("values", found, 1, "the slice is {} {}; cut [:, -T-1:-1]")


@checked
def assert_log_probs_of_tokens(
    log_probs: Reader,
    sequences: SequenceIds,
    response_mask: TokenMask,
    *,
    vocab_size: int | None = None,
    probes: int = 8,
    tolerance: float = 0.0,
) -> None:
    """Token t moves ``log_probs[:, t]`` and later ones, and none before.

    Logits that are cut one position late are moved by the same tokens. They differ in
    this: over all ids that token t may have, the probabilities do not sum to 1. That is
    asked if ``vocab_size`` is given, at one token and with a call per id: take a small
    actor.

    Args:
        log_probs: Your function from ids [batch, sequence] to the log-probs of the
            response's tokens [batch, time]: your actor and your slices.
        sequences: Prompts and responses, the responses in the last ``time`` slots.
        response_mask: True where the token of the response counts.
        vocab_size: How many ids there are, all of them valid, to have the sum asked.
        probes: How many tokens to change, spread over the response.
        tolerance: A change up to this is none, in nats; as for the values.

    Raises:
        AssertionError: if a log-prob moves before its token, if that of the token or
            the next one does not, if none does, or if the sum is not 1.
        ValueError: if no token counts, the ids are all the same, or the function
            gives two answers to one question.
        TypeError: if it returns something else.

    Example:
        >>> ids = torch.tensor([[5, 7, 8, 9]])
        >>> mask = torch.tensor([[True, True, True]])
        >>> shifted = lambda ids: ids.cumsum(1).float()[:, :3]
        >>> assert_log_probs_of_tokens(shifted, ids, mask)
        Traceback (most recent call last):
        AssertionError: log_probs[0, 0] did not move when
        token 0 was changed, log_probs[0, 1] did: the ids
        are gathered 1 position early; take those of
        [:, -T:]
    """
    require_tokens("assert_log_probs_of_tokens", response_mask)
    require_at_least("assert_log_probs_of_tokens", 1, probes=probes)
    found = _probe("log_probs", log_probs, sequences, response_mask, probes, tolerance)
    _refuse_still("log_probs", found)
    cause = "the ids are gathered {} {}; take those of [:, -T:]"
    _refuse_misplaced("log_probs", found, 0, cause)
    context = [Probe(token, moved.clone()) for token, moved in found]
    for token, moved in context:
        moved[:, token] = False
    if any(p.moved.any() for p in context):
        cause = "the logits are cut {} {}; take [:, -T-1:-1]"
        _refuse_misplaced("log_probs", context, 1, cause)
    if vocab_size is not None:
        require_at_least("assert_log_probs_of_tokens", 2, vocab_size=vocab_size)
        _refuse_sum(log_probs, sequences, response_mask, vocab_size)


def _refuse_still(name: str, found: list[Probe]) -> None:
    if not any(probe.moved.any() for probe in found):
        fail(
            f"none of {name} moved, whichever token was changed",
            "the function does not read its argument, or the head is all zeros; give "
            "it random weights and the sequences as they come",
        )


class _Move(NamedTuple):
    """The first slot that moved in a row when a token was changed."""

    token: int
    row: int
    slot: int


def _refuse_misplaced(name: str, found: list[Probe], first: int, cause: str) -> None:
    """Refuse when the first slot that a token moves is not ``first`` behind it."""
    moves = [
        _Move(token, int(row), int(moved[row].long().argmax()))
        for token, moved in found
        for row in moved.any(1).nonzero().flatten()
    ]
    nearest = min(moves, key=lambda move: move.slot - move.token)
    distance = nearest.slot - nearest.token
    if distance < first:
        token, row, slot = next(m for m in moves if m.slot - m.token < first)
        text = f"{place(name, row, slot)} moved when token {token} was changed"
        ahead = any(m.slot == 0 and m.token - 2 >= first for m in moves)
        late = cause.format(_positions(first - distance), "late")
        fail(text, _NOT_CAUSAL if ahead else late)
    if distance > first:
        token, row, slot = nearest
        text = (
            f"{place(name, row, token + first)} did not move when token {token} was "
            f"changed, {place(name, row, slot)} did"
        )
        fail(text, cause.format(_positions(distance - first), "early"))


def _positions(count: int) -> str:
    return f"{count} position{'s' * (count > 1)}"


def _refuse_sum(
    log_probs: Reader, sequences: Tensor, response_mask: Tensor, vocab_size: int
) -> None:
    """Refuse probabilities of all ids at the first token that do not sum to 1."""
    at = sequences.shape[1] - response_mask.shape[1]
    rows = response_mask[:, 0]
    total = torch.zeros(len(rows), dtype=torch.float64, device=rows.device)
    tolerance = 0.0
    for token_id in range(vocab_size):
        other = sequences.clone()
        other[:, at] = token_id
        numbers = _call("log_probs", log_probs, other, response_mask)
        total += numbers[:, 0].double().exp()
        tolerance = tolerance_for(numbers)
    wrong = rows & ((total - 1).abs() > tolerance)
    if wrong.any():
        row = int(wrong.nonzero()[0])
        fail(
            f"over all ids, the probabilities of {place('token', row, 0)} sum to "
            f"{float(total[row]):.2f} instead of 1",
            "the logits are cut one position late, where that token has been read; "
            "take [:, -T-1:-1]",
        )


def _changed(sequences: Tensor, response_mask: Tensor, token: int) -> Tensor:
    """A copy with another id for this token of each response that has it.

    The new id comes from elsewhere in the batch, if possible from inside a response
    and neither its end nor padding: an end-of-sequence token would change a mask.
    """
    responses = sequences[:, -response_mask.shape[1] :]
    last = last_token(response_mask)
    inner = responses[response_mask & ~last]
    inner = inner[~torch.isin(inner, responses[last | ~response_mask])]
    ids = [*sorted(set(inner.tolist())), *sorted(set(sequences.flatten().tolist()))]
    if len(set(ids)) < 2:
        raise ValueError("sequences must hold at least 2 different ids, got 1")
    copy = sequences.clone()
    at = sequences.shape[1] - response_mask.shape[1] + token
    for row in response_mask[:, token].nonzero().flatten().tolist():
        copy[row, at] = next(new for new in ids if new != int(sequences[row, at]))
    return copy


def _call(name: str, function: Reader, sequences: Tensor, like: Tensor) -> Tensor:
    """The function's numbers for these sequences, without gradient; ``name`` is its."""
    with same_randomness(), torch.no_grad():
        result = function(sequences)
    require_like(f"{name} must return", result, like)
    return result


def _probe(
    name: str,
    function: Reader,
    sequences: Tensor,
    response_mask: Tensor,
    probes: int,
    tolerance: float,
) -> list[Probe]:
    """Change one token after the other, spread over a response, and see what moves."""
    before = _call(name, function, sequences, response_mask)
    again = _call(name, function, sequences, response_mask)
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
        other = _changed(sequences, response_mask, token)
        after = _call(name, function, other, response_mask)
        moved = ((after - before).abs() > tolerance) & response_mask
        found.append(Probe(token, moved & response_mask[:, token, None]))
    return found

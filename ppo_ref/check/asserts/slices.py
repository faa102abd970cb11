"""Asserts about slices: change a token, and see which values and log-probs move."""

from collections.abc import Callable
from typing import Annotated, NamedTuple

import torch
from torch import Tensor

from ppo_ref.alignment import last_token
from ppo_ref.check.asserts.faults import (
    counted,
    fail,
    first,
    require_like,
    same_randomness,
    tolerance_for,
)
from ppo_ref.require import SequenceIds, TokenMask, require_at_least, require_tokens

Reader = Annotated[
    Callable[[Tensor], Tensor],
    "a function from sequences to one number per token of the response",
]


class Probe(NamedTuple):
    """A token that was changed in every row that has it, and the slots that moved."""

    token: int
    moved: Tensor


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
    name, given = "assert_values_before_tokens", (sequences, response_mask)
    found = _probe(name, "values", values, *given, probes, tolerance)
    _refuse_misplaced("values", found, 1, "the slice is {} {}; cut [:, -T-1:-1]")


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
    name, given = "assert_log_probs_of_tokens", (sequences, response_mask)
    found = _probe(name, "log_probs", log_probs, *given, probes, tolerance)
    cause = "the ids are gathered {} {}; take those of [:, -T:]"
    _refuse_misplaced("log_probs", found, 0, cause)
    for token, moved in found:
        moved[:, token] = False
    if any(moved.any() for _, moved in found):
        cause = "the logits are cut {} {}; take [:, -T-1:-1]"
        _refuse_misplaced("log_probs", found, 1, cause)
    if vocab_size is not None:
        require_at_least(name, 2, vocab_size=vocab_size)
        _refuse_sum(log_probs, *given, vocab_size)


class _Move(NamedTuple):
    """The first slot that moved in a row when a token was changed."""

    token: int
    row: int
    slot: int

    @property
    def distance(self) -> int:
        return self.slot - self.token


def _refuse_misplaced(name: str, found: list[Probe], least: int, cause: str) -> None:
    """Refuse when the first slot that a token moves is not ``least`` behind it."""
    moves = [
        _Move(token, int(row), int(moved[row].long().argmax()))
        for token, moved in found
        for row in moved.any(1).nonzero()
    ]
    nearest = min(moves, key=lambda move: move.distance)
    off = abs(nearest.distance - least)
    away = counted(off, "position")
    if nearest.distance < least:
        token, row, slot = next(move for move in moves if move.distance < least)
        if any(move.slot == 0 and move.token - 2 >= least for move in moves):
            cause = "the model looks ahead: give it a causal attention mask"
        fail(
            f"{name}[{row}, {slot}] moved when token {token} was changed",
            cause.format(away, "late"),
        )
    if nearest.distance > least:
        token, row, slot = nearest
        fail(
            f"{name}[{row}, {token + least}] did not move when token {token} was "
            f"changed, {name}[{row}, {slot}] did",
            cause.format(away, "early"),
        )


def _refuse_sum(
    log_probs: Reader, sequences: Tensor, response_mask: Tensor, vocab_size: int
) -> None:
    """Refuse probabilities of all ids at the first token that do not sum to 1."""
    total = torch.zeros(len(sequences), dtype=torch.float64, device=sequences.device)
    for token_id in range(vocab_size):
        other = sequences.clone()
        other[:, -response_mask.shape[1]] = token_id
        numbers = _call("log_probs", log_probs, other, response_mask)
        total += numbers[:, 0].double().exp()
    wrong = response_mask[:, 0] & ((total - 1).abs() > tolerance_for(numbers))
    if wrong.any():
        (row,) = first(wrong)
        fail(
            f"over all ids, the probabilities of token[{row}, 0] sum to "
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
    ids = sorted(set(inner.tolist()))
    ids += sorted(set(sequences.flatten().tolist()))
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
    function: str,
    name: str,
    reader: Reader,
    sequences: Tensor,
    response_mask: Tensor,
    probes: int,
    tolerance: float,
) -> list[Probe]:
    """Change one token after the other, spread over a response, and see what moves."""
    require_tokens(function, response_mask)
    require_at_least(function, 1, probes=probes)
    before = _call(name, reader, sequences, response_mask)
    again = _call(name, reader, sequences, response_mask)
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
        after = _call(name, reader, other, response_mask)
        moved = ((after - before).abs() > tolerance) & response_mask
        found.append(Probe(token, moved & response_mask[:, token, None]))
    if not any(probe.moved.any() for probe in found):
        fail(
            f"none of {name} moved, whichever token was changed",
            "the function does not read its argument, or the head is all zeros; give "
            "it random weights and the sequences as they come",
        )
    return found

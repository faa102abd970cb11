"""A mask for answers that use tools."""

from typing import NamedTuple

import torch
from torch import Generator, Tensor

from ppo_ref.practice.hole import Hole, after, before

# Ids of a small vocabulary, and one more for a padding that is not EOS.
EOS, START, END = 0, 1, 2
PADDING = 9
LONGEST_TURN = 3  # tokens of the model, and tokens that a tool returns


class Case(NamedTuple):
    """The arguments."""

    token_ids: Tensor
    eos_id: int
    tool_start_id: int
    tool_end_id: int


def _make(rng: Generator, batch: int, time: int) -> Case:
    paddings = [[EOS], [PADDING], [PADDING, START, END, PADDING, EOS]]
    padding = paddings[_number(rng, 3)] * time
    rows = [_row(rng, time, padding) for _ in range(batch)]
    return Case(torch.tensor(rows), EOS, START, END)


def _row(rng: Generator, time: int, padding: list[int]) -> list[int]:
    """Turns of the model and of a tool, until the model ends or the row is full."""
    row: list[int] = []
    while len(row) < time:
        row += [*_words(rng), EOS]
        if _number(rng, 2):
            break
        returned = _words(rng)
        if _number(rng, 2):
            returned[_number(rng, len(returned))] = EOS
        row += [START, *returned, END]
    return [*row, *padding][:time]


def _words(rng: Generator) -> list[int]:
    count = 1 + _number(rng, LONGEST_TURN)
    return torch.randint(3, PADDING, (count,), generator=rng).tolist()


def _number(rng: Generator, below: int) -> int:
    return int(torch.randint(below, (), generator=rng))


def _right(case: Case) -> Tensor:
    result = torch.zeros(case.token_ids.shape, dtype=torch.bool)
    for row, ids in enumerate(case.token_ids.tolist()):
        in_tool = False
        for t, token in enumerate(ids):
            if token == case.tool_start_id:
                in_tool = True
            result[row, t] = not in_tool
            if token == case.tool_end_id:
                in_tool = False
            ends = token == case.eos_id and not in_tool
            if ends and ids[t + 1 : t + 2] != [case.tool_start_id]:
                break
    return result


HOLE = Hole(
    "tool_mask",
    _make,
    _right,
    ours=None,  # an engine notes who wrote what
    sizes=[(1, 2), (1, 4), (1, 6), (1, 8), (2, 8), (2, 10), (3, 12), (4, 16)],
)


@HOLE.mistake
def _ends_at_first_eos(case: Case) -> Tensor:
    """Counts up to the first EOS, as of a response without tools."""
    ends = case.token_ids == case.eos_id
    return ends.int().cumsum(1) - ends.int() == 0


@HOLE.mistake
def _eos_left_out(case: Case) -> Tensor:
    return _right(case) & (case.token_ids != case.eos_id)


@HOLE.mistake
def _last_eos_left_out(case: Case) -> Tensor:
    mask = _right(case)
    last = mask & (mask.flip(1).int().cumsum(1).flip(1) == 1)
    return mask & ~(last & (case.token_ids == case.eos_id))


@HOLE.mistake
def _turns_without_eos(case: Case) -> Tensor:
    """Leaves out the EOS of the turns that call a tool."""
    calls = after((case.token_ids == case.tool_start_id).int()).bool()
    return _right(case) & ~((case.token_ids == case.eos_id) & calls)


@HOLE.mistake
def _tool_counts(case: Case) -> Tensor:
    return ~_padding(case)


@HOLE.mistake
def _marks_count(case: Case) -> Tensor:
    ids = case.token_ids
    marks = (ids == case.tool_start_id) | (ids == case.tool_end_id)
    return _right(case) | marks & ~_padding(case)


@HOLE.mistake
def _end_mark_counts(case: Case) -> Tensor:
    return _right(case) | (case.token_ids == case.tool_end_id) & ~_padding(case)


@HOLE.mistake
def _start_mark_counts(case: Case) -> Tensor:
    return _right(case) | (case.token_ids == case.tool_start_id) & ~_padding(case)


@HOLE.mistake
def _only_marks_left_out(case: Case) -> Tensor:
    ids = case.token_ids
    marks = (ids == case.tool_start_id) | (ids == case.tool_end_id)
    return ~marks & ~_padding(case)


@HOLE.mistake
def _last_turn_only(case: Case) -> Tensor:
    """Keeps the last turn of the model only."""
    calls = (case.token_ids == case.tool_start_id).int()
    return _right(case) & (calls.flip(1).cumsum(1).flip(1) == 0)


@HOLE.mistake
def _token_after_tool_left_out(case: Case) -> Tensor:
    ended = before((case.token_ids == case.tool_end_id).int()).bool()
    return _right(case) & ~ended


@HOLE.mistake
def _padding_counts(case: Case) -> Tensor:
    return ~_in_tool(case)


@HOLE.mistake
def _up_to_last_eos(case: Case) -> Tensor:
    """Takes the last EOS of the row for the end, where EOS is the padding too."""
    ends = (case.token_ids == case.eos_id).int()
    open_end = ends.sum(1, keepdim=True) == 0
    return ((ends.flip(1).cumsum(1).flip(1) > 0) | open_end) & ~_in_tool(case)


@HOLE.mistake
def _up_to_last_eos_or_nothing(case: Case) -> Tensor:
    ends = (case.token_ids == case.eos_id).int()
    return (ends.flip(1).cumsum(1).flip(1) > 0) & ~_in_tool(case)


@HOLE.mistake
def _eos_of_tool_ends(case: Case) -> Tensor:
    """Ends at the first EOS that no tool follows, one that a tool returned too."""
    calls = after((case.token_ids == case.tool_start_id).int()).bool()
    ends = ((case.token_ids == case.eos_id) & ~calls).int()
    return (ends.cumsum(1) - ends == 0) & ~_in_tool(case)


@HOLE.mistake
def _every_eos_counts(case: Case) -> Tensor:
    return _right(case) | (case.token_ids == case.eos_id) & _in_tool(case)


@HOLE.mistake
def _cut_off_left_out(case: Case) -> Tensor:
    """Nothing counts in a response that has no end."""
    mask = _right(case)
    return mask & ~_is_cut_off(case)


@HOLE.mistake
def _cut_off_turn_left_out(case: Case) -> Tensor:
    """The last turn of a response without an end does not count."""
    calls = (case.token_ids == case.tool_start_id).int()
    last = calls.flip(1).cumsum(1).flip(1) == 0
    return _right(case) & ~(last & _is_cut_off(case))


@HOLE.mistake
def _mask_upside_down(case: Case) -> Tensor:
    return ~_right(case)


@HOLE.mistake
def _tool_instead_of_model(case: Case) -> Tensor:
    return _in_tool(case) & ~_padding(case)


@HOLE.mistake
def _run_of_eos_is_padding(case: Case) -> Tensor:
    """Takes the EOS at the end of the row, but the first of them, for the padding."""
    ends = case.token_ids == case.eos_id
    run = ends.flip(1).int().cumprod(1).flip(1).bool()
    return ~_in_tool(case) & ~(run & before(run.int()).bool())


@HOLE.mistake
def _cut_off_ends_at_first_token(case: Case) -> Tensor:
    first = torch.arange(case.token_ids.shape[1]) == 0
    return _right(case) & (first | ~_is_cut_off(case))


@HOLE.mistake
def _from_first_tool_to_last(case: Case) -> Tensor:
    """Leaves out the turns of the model between two tools as well."""
    tool = (_in_tool(case) & ~_padding(case)).int()
    begun, goes_on = tool.cumsum(1) > 0, tool.flip(1).cumsum(1).flip(1) > 0
    return _right(case) & ~(begun & goes_on)


@HOLE.mistake
def _tool_cut_off_counts(case: Case) -> Tensor:
    """Leaves out pairs of marks alone: a tool that the row cuts off counts."""
    closes = (case.token_ids == case.tool_end_id).int().flip(1).cumsum(1).flip(1) > 0
    return _right(case) | _in_tool(case) & ~closes


def _in_tool(case: Case) -> Tensor:
    """From each start to the next end, both included, wherever they stand."""
    places = torch.arange(1, case.token_ids.shape[1] + 1)
    begun = places.where(case.token_ids == case.tool_start_id, 0).cummax(1).values
    ended = places.where(case.token_ids == case.tool_end_id, 0).cummax(1).values
    return begun > before(ended)


def _padding(case: Case) -> Tensor:
    """Behind the EOS that ends the response."""
    ends = _end(case).int()
    return ends.cumsum(1) - ends > 0


def _end(case: Case) -> Tensor:
    calls = after((case.token_ids == case.tool_start_id).int()).bool()
    return (case.token_ids == case.eos_id) & ~calls & ~_in_tool(case)


def _is_cut_off(case: Case) -> Tensor:
    return ~_end(case).any(1, keepdim=True)

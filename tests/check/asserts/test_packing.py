"""Rows packed one behind the other, padded on either side, or by themselves."""

import pytest
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from ppo_ref.check.asserts.packing import assert_packed_equals_alone
from tests.check.asserts.models import (
    DTYPES,
    VOCAB,
    Network,
    fault,
    generator,
)

LENGTHS = (5, 3, 8)
SHORTER_FIRST = (3, 5, 8)


def rows(lengths: tuple[int, ...] = LENGTHS) -> list[Tensor]:
    source = generator(4)
    found = []
    for length in lengths:
        found.append(torch.randint(2, VOCAB, (length,), generator=source))
    return found


def padded(model, side: str):
    def of(rows: list[Tensor]) -> list[Tensor]:
        ids = pad_sequence(rows, batch_first=True, padding_side=side)
        cut = []
        for row, found in zip(rows, model(ids), strict=True):
            where = slice(len(row))
            if side == "left":
                where = slice(-len(row), None)
            cut.append(found[where, 0])
        return cut

    return of


def packed(model):
    def of(rows: list[Tensor]) -> tuple[Tensor, ...]:
        together = model(torch.cat(rows)[None])
        return together[0, :, 0].split([len(row) for row in rows])

    return of


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_that_do_not_see_each_other_pass(dtype):
    model = Network(1, dtype)
    assert_packed_equals_alone(padded(model, "right"), rows())

    def one_by_one(rows: list[Tensor]) -> list[Tensor]:
        return [model(row[None])[0, :, 0] for row in rows]

    assert_packed_equals_alone(one_by_one, rows())


def test_attention_over_the_boundary_of_a_pack_is_named():
    model = Network(1, torch.float32)
    text = fault(assert_packed_equals_alone, packed(model), rows())
    assert text.startswith("packed[1, 0] is ")
    assert "alone it is" in text
    assert "it reads the row before it" in text
    assert text.endswith("(cu_seqlens)")


def test_padding_that_is_read_is_named():
    model = Network(1, torch.float32)
    text = fault(assert_packed_equals_alone, padded(model, "left"), rows())
    assert text.startswith("packed[0, 0] is ")
    assert "only rows that are padded differ; pass attention_mask" in text


def test_what_runs_over_the_batch_is_named():
    def centered(rows: list[Tensor]) -> list[Tensor]:
        together = torch.cat(rows).float()
        return [row - together.mean() for row in rows]

    text = fault(assert_packed_equals_alone, centered, rows())
    assert "something runs over all rows: a mean or deviation of the batch" in text


def test_what_shows_in_the_other_order_alone_is_found():
    def first_row_padded(rows: list[Tensor]) -> list[Tensor]:
        found = [row.float() for row in rows]
        longest = max(len(row) for row in rows)
        if len(rows) > 1 and len(rows[0]) == longest:
            found[-1] = found[-1] + 1
        return found

    text = fault(assert_packed_equals_alone, first_row_padded, rows(SHORTER_FIRST))
    assert text.startswith("packed[0, 0] is ")


def test_what_is_passed_wrongly_is_refused():
    long = torch.ones(3)
    short = torch.ones(2)

    def same(rows):
        return rows

    with pytest.raises(ValueError, match="rows must be at least 2, got 1"):
        assert_packed_equals_alone(same, [long])
    with pytest.raises(ValueError, match="rows must be of unequal lengths, got 3"):
        assert_packed_equals_alone(same, [long, long])

    def one(rows):
        return rows[:1]

    def whole_numbers(rows):
        return [row.long() for row in rows]

    def cut(rows):
        return [row[: len(rows)] for row in rows]

    for function, text in (
        (one, "for each of 2 rows, gave 1"),
        (whole_numbers, "floating-point numbers for each"),
        (cut, "as many numbers among"),
    ):
        with pytest.raises(TypeError, match=text):
            assert_packed_equals_alone(function, [long, short])

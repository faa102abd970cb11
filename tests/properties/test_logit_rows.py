"""How many rows of logits are worked on at once."""

import pytest
import torch

from ppo_ref.kernels.logits import blocks, fits_few_blocks

VOCAB = 2**10


def sizes(rows: int, vocab: int, device: str) -> list[int]:
    logits = torch.empty(rows, vocab, device=device)
    ids = torch.empty(rows, 1, device=device)
    cut = [(len(some), len(own)) for some, own in blocks(logits, ids)]
    assert all(some == own for some, own in cut)
    return [some for some, _ in cut]


@pytest.mark.parametrize(
    ("device", "elements"),
    [("cpu", 262_144), ("meta", 1_048_576)],  # meta stands for whatever is no CPU
)
def test_a_block_holds_as_many_rows_as_its_elements_allow(device, elements):
    most = elements // VOCAB
    assert sizes(2 * most + 1, VOCAB, device) == [most, most, 1]
    assert sizes(3, elements + 1, device) == [1, 1, 1]
    assert sizes(3, elements // 2 - 1, device) == [2, 1]


@pytest.mark.parametrize("rows", [1023, 1024, 1025])
def test_four_blocks_are_few(rows):
    assert fits_few_blocks(torch.empty(rows, VOCAB)) == (rows <= 1024)


def test_columns_are_as_long_as_the_rows():
    with pytest.raises(ValueError, match="zip"):
        list(blocks(torch.empty(300, VOCAB), torch.empty(200)))

"""What is allocated at the worst moment, counted: no logits, or one tensor of them."""

import pytest
import torch
from torch.nn.functional import linear

from bench.memory import peak_bytes
from ppo_ref.batch import TokenStatistics
from ppo_ref.chunked import log_probs_and_entropy_from_hidden, loss_from_hidden
from ppo_ref.kernels.logits import BLOCK
from ppo_ref.log_probs import log_probs_and_entropy

TOKENS, VOCAB, WIDTH = 1024, 32000, 8
LOGITS = 4 * TOKENS * VOCAB
HEAD = 4 * VOCAB * (WIDTH + 1)


@pytest.fixture(scope="module")
def network() -> tuple[torch.Tensor, ...]:
    shapes = (8, TOKENS // 8, WIDTH), (VOCAB, WIDTH), (VOCAB,)
    return tuple(torch.randn(shape).requires_grad_() for shape in shapes)


IDS = torch.arange(TOKENS).view(8, -1)


def in_chunks(*network: torch.Tensor) -> TokenStatistics:
    return log_probs_and_entropy_from_hidden(*network, IDS)


def from_logits(*network: torch.Tensor) -> TokenStatistics:
    return log_probs_and_entropy(linear(*network), IDS)


def gradients(function, *given: torch.Tensor) -> tuple[torch.Tensor, ...]:
    statistics = function(*given)
    loss = statistics.log_probs.sum() - statistics.entropy.sum()
    return torch.autograd.grad(loss, given)


def test_from_hidden_states_an_eighth_of_the_logits_is_enough(network):
    peak = peak_bytes(lambda: gradients(in_chunks, *network))
    assert peak - HEAD <= LOGITS / 8
    with torch.no_grad():
        assert peak_bytes(lambda: in_chunks(*network)) <= LOGITS / 8


def by_loss(chunk_rows: int, *network: torch.Tensor) -> tuple[torch.Tensor, ...]:
    def loss(said: TokenStatistics, rows: slice) -> torch.Tensor:
        return said.log_probs.sum() - said.entropy.sum()

    every = torch.ones_like(IDS, dtype=torch.bool)
    made = loss_from_hidden(*network, IDS, every, loss, chunk_rows=chunk_rows).loss
    return torch.autograd.grad(made, network)


def test_a_loss_in_chunks_holds_the_logits_of_one_row_of_eight(network):
    peak = peak_bytes(lambda: by_loss(1, *network))
    assert peak - HEAD <= LOGITS * 3 / 16  # a row's, and a block in work
    whole = peak_bytes(lambda: gradients(from_logits, *network))
    assert peak <= whole / 8


@pytest.mark.slow
def test_in_bfloat16_a_chunk_has_products_and_logits_once(network):
    half = [x.detach().bfloat16().requires_grad_() for x in network]
    chunk = 2 * VOCAB * TOKENS // 8  # of products; twice that, of logits
    block = 4 * BLOCK["cpu"]
    # Of the gradients of the head: float32, and what is handed over.
    peak = peak_bytes(lambda: by_loss(1, *half)) - HEAD * 3 // 2
    assert 3 * chunk <= peak <= 3 * chunk + 3 * block
    alone = peak_bytes(lambda: in_chunks(*half))
    with torch.no_grad():
        assert peak_bytes(lambda: in_chunks(*half)) <= alone <= LOGITS / 8


def test_logits_that_are_given_cost_their_gradient(network):
    with torch.no_grad():
        logits = linear(*network)
        assert peak_bytes(lambda: log_probs_and_entropy(logits, IDS)) <= LOGITS / 8
    logits.requires_grad_()
    peak = peak_bytes(
        lambda: gradients(lambda x: log_probs_and_entropy(x, IDS), logits)
    )
    assert LOGITS <= peak <= LOGITS * 9 / 8


def test_the_peak_is_that_of_what_lives_at_once():
    assert peak_bytes(lambda: torch.ones(2**20)) == 4 * 2**20
    assert peak_bytes(lambda: [torch.ones(2**20) for _ in range(3)]) == 12 * 2**20

    def in_turn() -> None:
        for _ in range(3):
            torch.ones(2**20)

    assert peak_bytes(in_turn) == 4 * 2**20

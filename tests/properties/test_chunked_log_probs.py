"""Log-probs and entropy in blocks and in chunks, against loops and autograd."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import linear
from torch.testing import assert_close

from ppo_ref.chunked import log_probs_and_entropy_from_hidden
from ppo_ref.kernels import logits as logit_rows
from ppo_ref.kernels.chunks import HeadProducts
from ppo_ref.log_probs import log_probs_and_entropy
from ppo_ref.training.config import PPOConfig
from ppo_ref.training.tasks import CHARACTERS
from ppo_ref.training.tokenizer import CharacterTokenizer
from tests import oracles
from tests.strategies import numbers

VOCAB, WIDTH = 7, 3
IDS = torch.tensor([[0, 3, 6, 1, 1], [2, 5, 4, 0, 3]])
TOKENS = IDS.numel()


def network(seed: int) -> list[torch.Tensor]:
    """Hidden states, weight and bias, which ask for gradient."""
    shapes = (*IDS.shape, WIDTH), (VOCAB, WIDTH), (VOCAB,)
    return [numbers(seed, *shape).requires_grad_() for shape in shapes]


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rows a block."""
    monkeypatch.setattr(logit_rows, "BLOCK", {"cpu": 2 * VOCAB})
    monkeypatch.setattr(logit_rows, "FEW", 1)


def of_rows(logits: torch.Tensor, ids: torch.Tensor, temperature: float):
    """Both statistics by loops over the vocabulary."""
    rows = (logits.detach() / temperature).flatten(0, -2).tolist()
    pairs = zip(rows, ids.flatten().tolist(), strict=True)
    chosen = [oracles.log_softmax(row)[token] for row, token in pairs]
    entropy = [oracles.entropy(row) for row in rows]
    return [torch.tensor(x).double().view(ids.shape) for x in (chosen, entropy)]


temperatures = st.sampled_from([1, 0.5, 2.0])


@settings(max_examples=20)
@given(st.integers(0, 99), st.integers(1, TOKENS + 2), temperatures, st.booleans())
def test_any_chunk_gives_what_the_loops_give(seed, chunk_tokens, temperature, biased):
    hidden, weight, bias = network(seed)
    bias = bias if biased else None
    statistics = log_probs_and_entropy_from_hidden(
        hidden, weight, bias, IDS, temperature, chunk_tokens
    )
    expected = of_rows(linear(hidden, weight, bias), IDS, temperature)
    for came, wanted in zip(statistics, expected, strict=True):
        assert_close(came.detach(), wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.usefixtures("small_blocks")
def test_gradients_of_blocks_are_those_of_the_formulas():
    logits = numbers(1, *IDS.shape, VOCAB).requires_grad_()
    assert torch.autograd.gradcheck(
        lambda x: tuple(log_probs_and_entropy(x, IDS, 0.7)), logits
    )
    statistics = log_probs_and_entropy(logits, IDS, 0.7)
    for came, wanted in zip(statistics, of_rows(logits, IDS, 0.7), strict=True):
        assert_close(came.detach(), wanted, rtol=1e-5, atol=1e-6)
    assert torch.autograd.gradcheck(
        lambda *x: tuple(log_probs_and_entropy_from_hidden(*x, IDS, 0.7, 4)), network(0)
    )


def from_hidden(hidden, weight, bias, chunk_tokens):
    return log_probs_and_entropy_from_hidden(
        hidden, weight, bias, IDS, chunk_tokens=chunk_tokens
    )


@pytest.mark.parametrize("chunk_tokens", [3, TOKENS])
def test_a_gradient_of_the_gradient_is_refused(chunk_tokens):
    hidden, *head = network(4)
    entropy = from_hidden(hidden, *head, chunk_tokens).entropy
    with pytest.raises(RuntimeError, match=r"^log_probs_and_entropy_from_hidden: has"):
        torch.autograd.grad(entropy.sum(), hidden, create_graph=True)


@pytest.mark.parametrize("chunk_tokens", [3, TOKENS])
def test_a_token_forbidden_by_the_bias_leaves_all_finite_but_its_own(chunk_tokens):
    hidden, weight, bias = network(5)
    bias = torch.where(torch.arange(VOCAB) == 3, -math.inf, bias.detach())
    bias.requires_grad_()
    log_probs, entropy = from_hidden(hidden, weight, bias, chunk_tokens)
    assert torch.equal(log_probs == -math.inf, IDS == 3)
    assert entropy.isfinite().all()
    (log_probs[IDS != 3].sum() + 5 * entropy.sum()).backward()
    assert all(x.grad.isfinite().all() for x in (hidden, weight, bias))
    assert bias.grad[3] == 0


@pytest.mark.parametrize("frozen", [{0}, {1, 2}])
def test_what_is_frozen_gets_no_gradient_and_changes_none(frozen):
    free, given = network(8), network(8)
    for k in frozen:
        given[k].requires_grad_(False)
    for some in (free, given):
        sum(x.sum() for x in from_hidden(*some, 4)).backward()
    for k in range(3):
        assert (given[k].grad is None) == (k in frozen)
        assert k in frozen or torch.equal(given[k].grad, free[k].grad)


@pytest.mark.parametrize("half", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("autocast", [False, True])
def test_half_precision_is_that_of_the_heads_products_alone(half, autocast):
    given = [x.detach().to(half).requires_grad_() for x in network(10)]
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        came = from_hidden(*given, 3)
    hidden, weight, bias = given  # whose sum is float32
    wanted = log_probs_and_entropy(linear(hidden, weight).float() + bias, IDS)
    for one, other in zip(came, wanted, strict=True):
        assert one.dtype == torch.float32
        assert_close(one, other, rtol=0, atol=1e-6)
    ours, theirs = (
        torch.autograd.grad(sum(x.sum() for x in some), given)
        for some in (came, wanted)
    )
    for one, other in zip(ours, theirs, strict=True):
        assert one.dtype == half
        assert_close(one, other, rtol=0.05, atol=0.05)


def test_stored_runs_are_not_cut_into_blocks():
    """Autograd's own rounding is in them; the longest has 24 slots."""
    vocab = CharacterTokenizer(CHARACTERS).vocab
    logits = torch.empty(PPOConfig().batch_size, 24, vocab)
    assert logit_rows.fits_few_blocks(logits)


@pytest.mark.parametrize(("chunk_tokens", "made"), [(299, 4), (300, 1), (1000, 1)])
def test_logits_of_one_chunk_are_made_once(monkeypatch, chunk_tokens, made):
    """Those of more are made again in the backward pass."""
    tokens, calls, logits = 300, [], HeadProducts.logits

    def counted(self, chunk):
        calls.append(1)
        return logits(self, chunk)

    monkeypatch.setattr(HeadProducts, "logits", counted)
    hidden, weight = torch.ones(1, tokens, 2, requires_grad=True), torch.ones(5, 2)
    ids = torch.zeros(1, tokens, dtype=torch.int64)
    log_probs, _ = log_probs_and_entropy_from_hidden(
        hidden, weight, None, ids, 1.0, chunk_tokens
    )
    log_probs.sum().backward()
    assert len(calls) == made

"""Log-probs, entropy and losses, whole and in chunks; what top-p and top-k leave."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import linear
from torch.testing import assert_close

from ppo_ref import loops
from ppo_ref.batch import TokenStatistics
from ppo_ref.chunked import log_probs_and_entropy_from_hidden, loss_from_hidden
from ppo_ref.kernels import logits as logit_rows
from ppo_ref.kernels.chunks import HeadProducts
from ppo_ref.log_probs import (
    kept_log_probs,
    kept_tokens,
    log_probs_and_entropy,
    token_entropy,
    token_log_probs,
)
from ppo_ref.losses import policy_loss
from ppo_ref.masking import masked_mean
from ppo_ref.train.config import PPOConfig
from ppo_ref.train.sums import CHARACTERS
from ppo_ref.train.tokenizer import CharacterTokenizer
from tests.strategies import numbers

ROWS, TIME, VOCAB, WIDTH = 4, 3, 7, 3
TOKENS = ROWS * TIME
IDS = torch.tensor([[0, 3, 6], [2, 5, 4], [1, 1, 3], [6, 0, 2]])
# Of every length, with a gap.
MASK = torch.tensor([[1, 1, 1], [1, 0, 1], [0, 1, 0], [1, 1, 0]]).bool()
OLD_LOG_PROBS, ADVANTAGES = numbers(1, ROWS, TIME) - 2, numbers(2, ROWS, TIME)
CLIP, ENTROPY_COEF = 0.2, 0.05
EVERY = [1, 3, ROWS, ROWS + 1]
temperatures = st.sampled_from([1, 0.5, 2.0])


def network(seed: int) -> list[torch.Tensor]:
    """Hidden states, weight and bias, which ask for gradient."""
    shapes = (ROWS, TIME, WIDTH), (VOCAB, WIDTH), (VOCAB,)
    return [numbers(seed, *shape).requires_grad_() for shape in shapes]


def share(losses: torch.Tensor, response_mask: torch.Tensor) -> torch.Tensor:
    return torch.where(response_mask, losses, 0).sum() / MASK.sum()


def of_rows(said, rows):
    """Clipped, with a bonus for entropy: what a trainer would give."""
    clipped = policy_loss(
        log_probs=said.log_probs,
        old_log_probs=OLD_LOG_PROBS[rows],
        advantages=ADVANTAGES[rows],
        response_mask=MASK[rows],
        clip_range=CLIP,
        aggregate=share,
    ).loss
    return clipped - ENTROPY_COEF * share(said.entropy, MASK[rows])


def without_entropy(said, rows):
    return share(-said.log_probs * ADVANTAGES[rows], MASK[rows])


def without_log_probs(said, rows):
    return share(-said.entropy, MASK[rows])


def whole(network, temperature=1.0, loss=of_rows):
    """The same of all logits, by torch alone: the loss, and log-probs and entropy."""
    log_softmax = (linear(*network) / temperature).log_softmax(-1)
    log_probs = log_softmax.gather(-1, IDS[..., None]).squeeze(-1)
    entropy = torch.special.entr(log_softmax.exp()).sum(-1)
    said = TokenStatistics(*(torch.where(MASK, x, 0) for x in (log_probs, entropy)))
    return loss(said, slice(None)), said


def in_chunks(network, chunk_rows=3, temperature=1.0, loss=of_rows):
    return loss_from_hidden(*network, IDS, MASK, loss, temperature, chunk_rows)


def gradients(loss, network):
    return torch.autograd.grad(loss, [x for x in network if x is not None])


def assert_all_close(ones, others):
    for one, other in zip(ones, others, strict=True):
        assert_close(one, other)


def looped(logits: torch.Tensor, temperature: float) -> list[torch.Tensor]:
    """Log-probs and entropy by loops over the vocabulary."""
    rows = (logits.detach() / temperature).flatten(0, -2).tolist()
    pairs = zip(rows, IDS.flatten().tolist(), strict=True)
    chosen = [loops.log_softmax(row)[token] for row, token in pairs]
    entropy = [loops.entropy(row) for row in rows]
    return [torch.tensor(x).double().view(IDS.shape) for x in (chosen, entropy)]


@settings(max_examples=20)
@given(st.integers(0, 99), st.integers(1, TOKENS + 2), temperatures, st.booleans())
def test_statistics_are_those_of_loops(seed, chunk_tokens, temperature, biased):
    """Of whole logits, each alone and both, and of any chunk."""
    hidden, weight, bias = network(seed)
    bias = bias if biased else None
    logits = 5 * linear(hidden, weight, bias)
    whole = log_probs_and_entropy(logits, IDS, temperature)
    alone = (
        token_log_probs(logits, IDS, temperature),
        token_entropy(logits, temperature),
    )
    assert all(map(torch.equal, whole, alone))
    for one, other in zip(whole, looped(logits, temperature), strict=True):
        assert_close(one.detach(), other)
    found = log_probs_and_entropy_from_hidden(
        hidden, weight, bias, IDS, temperature, chunk_tokens
    )
    for one, other in zip(found, looped(logits / 5, temperature), strict=True):
        assert_close(one.detach(), other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("rows", [2, TOKENS])
def test_gradients_of_blocks_are_those_of_the_formulas(monkeypatch, rows):
    """So many rows a block."""
    monkeypatch.setattr(logit_rows, "BLOCK", {"cpu": rows * VOCAB})
    monkeypatch.setattr(logit_rows, "FEW", 1)
    logits = numbers(1, *IDS.shape, VOCAB).requires_grad_()
    assert torch.autograd.gradcheck(
        lambda x: tuple(log_probs_and_entropy(x, IDS, 0.7)), logits
    )
    found = log_probs_and_entropy(logits, IDS, 0.7)
    for one, other in zip(found, looped(logits, 0.7), strict=True):
        assert_close(one.detach(), other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("chunk_tokens", [5, 7, TOKENS])
def test_gradients_from_hidden_states_are_those_of_the_formulas(chunk_tokens):
    """In three chunks, in two, and in one, whose logits are kept."""
    assert torch.autograd.gradcheck(
        lambda *x: tuple(log_probs_and_entropy_from_hidden(*x, IDS, 0.7, chunk_tokens)),
        network(0),
    )


def test_stored_runs_are_not_cut_into_blocks():
    """Autograd's own rounding is in them; the longest has 24 slots."""
    vocab = CharacterTokenizer(CHARACTERS).vocab
    logits = torch.empty(PPOConfig().batch_size, 24, vocab)
    assert logit_rows.fits_few_blocks(logits)


@pytest.fixture
def made(monkeypatch) -> list[int]:
    """For how many tokens logits are made, each time."""
    made, logits = [], HeadProducts.logits

    def counted(self, chunk):
        made.append(len(chunk))
        return logits(self, chunk)

    monkeypatch.setattr(HeadProducts, "logits", counted)
    return made


@settings(max_examples=20)
@given(
    st.integers(0, 99),
    st.sampled_from(EVERY),
    temperatures,
    st.booleans(),
    st.sampled_from([of_rows, of_rows, without_entropy, without_log_probs]),
)
def test_losses_of_any_chunk_are_those_of_whole_logits(
    seed, chunk_rows, temperature, biased, loss
):
    given = network(seed)
    given[2] = given[2] if biased else None
    found = in_chunks(given, chunk_rows, temperature, loss)
    wanted, said = whole(given, temperature, loss)
    assert_close(found.loss, wanted)
    assert_all_close(found.statistics, [x.detach() for x in said])
    theirs = torch.autograd.grad(
        wanted, [x for x in given if x is not None], allow_unused=True
    )
    for one, other in zip(gradients(found.loss, given), theirs, strict=True):
        assert_close(one, torch.zeros_like(one) if other is None else other)


@pytest.mark.parametrize("chunk_rows", EVERY)
def test_every_row_is_asked_for_once_and_no_logits_are_made_for_padding(
    chunk_rows, made
):
    asked = []

    def loss(said, rows):
        asked.extend(range(ROWS)[rows])
        return of_rows(said, rows)

    in_chunks(network(4), chunk_rows, loss=loss)
    assert asked == list(range(ROWS))
    assert sum(made) == MASK.sum() and max(made) <= chunk_rows * TIME


def test_rows_without_a_token_between_them_have_no_part():
    given = network(18)
    mask = MASK & torch.tensor([[True], [False], [False], [True]])

    def loss(said, rows):
        # It refuses rows without a token.
        return masked_mean(said.log_probs, mask[rows]) * mask[rows].sum()

    found = loss_from_hidden(*given, IDS, mask, loss, chunk_rows=1)
    wanted = torch.where(mask, whole(given)[1].log_probs, 0)
    assert_close(found.statistics.log_probs, wanted.detach())
    assert_close(found.loss, wanted.sum())
    assert_all_close(gradients(found.loss, given), gradients(wanted.sum(), given))


def test_hidden_states_of_padding_are_not_read_and_get_gradient_0():
    clean, given = network(20), network(20)
    padding = ~MASK[..., None]
    given[0] = given[0].detach().masked_fill(padding, math.nan).requires_grad_()
    found, other = (in_chunks(some) for some in (given, clean))
    assert torch.equal(found.loss, other.loss)
    assert all(map(torch.equal, found.statistics, other.statistics))
    slopes = gradients(found.loss, given)
    assert all(map(torch.equal, slopes, gradients(other.loss, clean)))
    assert not slopes[0][~MASK].any()


def test_a_token_forbidden_by_the_bias_leaves_all_finite_but_its_own():
    given = network(5)
    forbidden = torch.arange(VOCAB) == 3
    given[2] = torch.where(forbidden, -math.inf, given[2].detach()).requires_grad_()

    def loss(said, rows):
        allowed = torch.where(IDS[rows] == 3, 0, said.log_probs)
        return allowed.sum() + said.entropy.sum() / 2

    found, wanted = in_chunks(given, loss=loss), whole(given, loss=loss)[0]
    assert_close(found.loss, wanted)
    every = [
        log_probs_and_entropy(linear(*given), IDS),
        log_probs_and_entropy_from_hidden(*given, IDS, 1.0, 3),
        log_probs_and_entropy_from_hidden(*given, IDS, 1.0, TOKENS),
    ]
    for said in (found.statistics, *every):
        counts = MASK if said is found.statistics else torch.ones_like(MASK)
        assert torch.equal(said.log_probs == -math.inf, (IDS == 3) & counts)
        assert said.entropy.isfinite().all()
    for total in (found.loss, *(loss(x, slice(None)) for x in every)):
        slopes = gradients(total, given)
        assert all(x.isfinite().all() for x in slopes)
        assert slopes[2][3] == 0 and not slopes[1][3].any()


@pytest.mark.parametrize("frozen", [{0}, {1, 2}])
def test_what_is_frozen_gets_no_gradient_and_changes_none(frozen):
    def from_hidden(given):
        return sum(map(torch.sum, log_probs_and_entropy_from_hidden(*given, IDS, 1, 5)))

    for loss in (lambda given: in_chunks(given).loss, from_hidden):
        free, given = network(8), network(8)
        for k in frozen:
            given[k].requires_grad_(False)
        for some in (free, given):
            loss(some).backward()
        for k in range(3):
            assert (given[k].grad is None) == (k in frozen)
            assert k in frozen or torch.equal(given[k].grad, free[k].grad)


def test_without_gradient_there_is_the_loss_alone():
    """And so the loss may be a number that knows no gradient."""
    wanted, said = whole(network(9))
    with torch.no_grad():
        found = in_chunks(network(9), loss=lambda *of: of_rows(*of).detach())
    assert not found.loss.requires_grad
    assert_close(found.loss, wanted.detach())
    assert_all_close(found.statistics, [x.detach() for x in said])


@pytest.mark.parametrize("factor", [0.0, -1.0, 7.0])
def test_a_loss_that_is_multiplied_and_added_to_scales_its_gradient(factor):
    given = network(11)
    first = gradients(in_chunks(given).loss, given)
    critic = given[0].square().sum()
    slopes = gradients(factor * in_chunks(given).loss + critic, given)
    assert_close(slopes[0], factor * first[0] + 2 * given[0].detach())
    assert_all_close(slopes[1:], [factor * x for x in first[1:]])


@pytest.mark.parametrize("autocast", [False, True])
def test_half_precision_is_that_of_the_heads_products_alone(autocast):
    given = [x.detach().bfloat16().requires_grad_() for x in network(14)]
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        found = in_chunks(given)
        said = log_probs_and_entropy_from_hidden(*given, IDS, 1.0, 3)
    exact = [x.detach().double().requires_grad_() for x in given]
    wanted, statistics = whole(exact)
    assert_close(found.loss.double(), wanted, rtol=0, atol=0.02)
    for one, other in zip(found.statistics, statistics, strict=True):
        assert one.dtype == torch.float32
        assert_close(one.double(), other.detach(), rtol=0, atol=0.05)
    theirs = gradients(wanted, exact)
    for one, other in zip(gradients(found.loss, given), theirs, strict=True):
        assert one.dtype == torch.bfloat16
        assert_close(one.double(), other, rtol=0.05, atol=0.02)
    hidden, weight, bias = given  # whose sum is float32
    rounded = log_probs_and_entropy(linear(hidden, weight).float() + bias, IDS)
    for one, other in zip(said, rounded, strict=True):
        assert one.dtype == torch.float32
        assert_close(one, other, rtol=0, atol=1e-6)


def test_under_autocast_hidden_states_in_float32_keep_their_precision():
    given = [x.detach().float().requires_grad_() for x in network(14)]

    def made():
        found = in_chunks(given)
        said = log_probs_and_entropy_from_hidden(*given, IDS, 1.0, 3)
        return *said, found.loss, *gradients(found.loss, given)

    plain = made()
    with torch.autocast("cpu", torch.bfloat16):
        assert_all_close(made(), plain)


def test_the_gradient_of_the_weight_is_added_up_in_float32():
    """In bfloat16 128 + 0.5 is 128, and the sum over rows would stay there."""
    rows = 300
    hidden = torch.ones(rows, 1, 1, dtype=torch.bfloat16)
    weight = torch.zeros(2, 1, requires_grad=True)
    ids = torch.zeros(rows, 1, dtype=torch.int64)
    every = torch.ones_like(ids, dtype=torch.bool)
    loss = loss_from_hidden(
        hidden, weight, None, ids, every, lambda said, _: said.log_probs.sum()
    ).loss
    loss.backward()
    assert_close(weight.grad, torch.tensor([[rows / 2], [-rows / 2]]))


def test_a_factor_is_not_rounded_to_the_precision_of_the_hidden_states():
    """bfloat16(1 / 3) is a thousandth off, and so would be all of the gradient."""
    hidden = numbers(23, ROWS, TIME, 256).bfloat16().requires_grad_()
    given = hidden, numbers(24, VOCAB, 256) / 16, None
    once, times = (
        torch.autograd.grad(f * in_chunks(given).loss, hidden)[0][MASK].double()
        for f in (1, 1 / 3)
    )
    # Each number is rounded, up or down; their errors cancel, a factor's do not.
    slope = (times * once).sum() / once.square().sum()
    assert abs(3 * slope - 1) < 5e-4


def test_without_gradient_a_loss_may_change_what_it_is_handed():
    given = network(16)

    def spoils(said, rows):
        loss = of_rows(said, rows)
        for x in said:
            x.zero_()
        return loss

    with torch.no_grad():
        found, wanted = in_chunks(given, loss=spoils), in_chunks(given)
    assert_close(found, wanted)


def test_a_second_backward_pass_and_a_gradient_of_the_gradient_are_refused():
    given = network(15)
    said = log_probs_and_entropy_from_hidden(*given, IDS, 1.0, 3)
    made = {
        "loss_from_hidden": in_chunks(given).loss,
        "log_probs_and_entropy_from_hidden": said.entropy.sum(),
    }
    for name, loss in made.items():
        with pytest.raises(RuntimeError, match=f"^{name}: has no gradient"):
            torch.autograd.grad(loss, given, create_graph=True)
    loss = in_chunks(given).loss
    loss.backward(retain_graph=True)
    first = [x.grad.clone() for x in given]
    text = "^loss_from_hidden: backward can run once, got a second$"
    with pytest.raises(RuntimeError, match=text):
        loss.backward()
    assert all(torch.equal(x.grad, was) for x, was in zip(given, first, strict=True))


@pytest.mark.parametrize("factor", [1, 5, 1e4])
def test_a_forbidden_token_leaves_the_gradient_of_a_scaled_entropy_alone(factor):
    logits = torch.tensor([[[1.0, 2.0, -math.inf]]], requires_grad=True)
    entropy = factor * token_entropy(logits).sum()
    (gradient,) = torch.autograd.grad(entropy, logits)
    two = logits[..., :2].detach().requires_grad_()
    (right,) = torch.autograd.grad(factor * token_entropy(two).sum(), two)
    assert_close(gradient[..., :2], right)
    assert gradient[..., 2] == 0


WORDS = 9
options = pytest.mark.parametrize(
    ("temperature", "top_p", "top_k"),
    [(1, 1, 0), (0.6, 0.9, 0), (1.3, 0.5, 0), (1, 1, 4), (0.7, 0.8, 3), (1, 0, 0)],
)


def some_logits(seed: int) -> torch.Tensor:
    return 2 * numbers(seed, 2, 3, WORDS)


def drawn_from(row: list[float], temperature: float, top_p: float, top_k: int):
    """One slot: the ids that may be drawn, and the probability of each among them."""
    powers = {token: math.exp(x / temperature) for token, x in enumerate(row)}
    ranked = sorted(powers, key=lambda token: -powers[token])[: top_k or None]
    total, before, kept = math.fsum(powers[token] for token in ranked), 0.0, []
    for token in ranked:
        if kept and top_p < 1 and before >= top_p:
            break
        kept.append(token)
        before += powers[token] / total
    mass = math.fsum(powers[token] for token in kept)
    return {token: powers[token] / mass for token in kept}


@options
@given(seed=st.integers(0, 99))
def test_kept_tokens_and_their_log_probs_are_those_of_loops(
    seed, temperature, top_p, top_k
):
    x = some_logits(seed)
    kept = kept_tokens(x, temperature=temperature, top_p=top_p, top_k=top_k)
    for token in range(WORDS):
        responses = torch.full((2, 3), token)
        found = kept_log_probs(x, responses, kept, temperature).exp()
        for row, slot in torch.cartesian_prod(torch.arange(2), torch.arange(3)):
            probs = drawn_from(x[row, slot].tolist(), temperature, top_p, top_k)
            assert kept[row, slot, token] == (token in probs)
            assert_close(found[row, slot].item(), probs.get(token, 0.0))


@pytest.mark.parametrize(
    ("top_p", "count"), [(0.25, 1), (0.5, 2), (0.51, 3), (0.75, 3)]
)
def test_a_token_before_which_exactly_top_p_stands_is_cut(top_p, count):
    """Of four equal tokens, whose probabilities are exact in binary."""
    kept = kept_tokens(torch.zeros(1, 1, 4), top_p=top_p)
    assert kept[0, 0].tolist() == [token < count for token in range(4)]


def test_of_equal_logits_the_lower_ids_are_kept():
    """Of 17: a sort that is not stable turns them round from there on."""
    kept = kept_tokens(torch.zeros(1, 1, 17), top_k=4)
    assert kept[0, 0].nonzero().flatten().tolist() == [0, 1, 2, 3]


@options
def test_kept_tokens_are_transformers(temperature, top_p, top_k):
    warpers = pytest.importorskip("transformers.generation.logits_process")
    x = some_logits(0).flatten(0, 1)
    cut = warpers.TemperatureLogitsWarper(float(temperature))(None, x)
    if top_k:
        cut = warpers.TopKLogitsWarper(top_k)(None, cut)
    if top_p < 1:
        cut = warpers.TopPLogitsWarper(top_p)(None, cut)
    kept = kept_tokens(x[None], temperature=temperature, top_p=top_p, top_k=top_k)
    assert torch.equal(kept[0], cut > -torch.inf)


def test_gradient_reaches_the_kept_logits_alone():
    x = some_logits(2).requires_grad_()
    kept = kept_tokens(x.detach(), top_k=3)
    responses = x.detach().argmax(-1)
    kept_log_probs(x, responses, kept).sum().backward()
    assert torch.equal(x.grad != 0, kept)


def test_kept_mass_gradient():
    r"""
    \sum_{a \in K} q(a)\, \nabla \log \pi(a) = \nabla \log \sum_{a \in K} \pi(a)
    """
    x = some_logits(3)[0, 0].requires_grad_()
    ids = torch.arange(WORDS)[None]
    wide = x.expand(1, WORDS, WORDS)
    kept = kept_tokens(wide.detach(), top_p=0.8)
    drawn = kept[0, 0]
    full = token_log_probs(wide, ids)[0, drawn]
    among_kept = kept_log_probs(wide, ids, kept)[0, drawn]
    q = among_kept.detach().exp()
    (score,) = torch.autograd.grad(q @ full, x, retain_graph=True)
    (rise,) = torch.autograd.grad(x.softmax(0)[drawn].sum().log(), x)
    assert score.abs().max() > 0.01
    assert_close(score, rise)
    (nothing,) = torch.autograd.grad(q @ among_kept, x)
    assert_close(nothing, torch.zeros_like(nothing))

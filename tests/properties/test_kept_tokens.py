"""What top-p and top-k leave, by loops and by transformers; log-probs over it."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from ppo_ref.log_probs import kept_log_probs, kept_tokens, token_log_probs
from tests.strategies import numbers

VOCAB = 9
options = pytest.mark.parametrize(
    ("temperature", "top_p", "top_k"),
    [(1, 1, 0), (0.6, 0.9, 0), (1.3, 0.5, 0), (1, 1, 4), (0.7, 0.8, 3), (1, 0, 0)],
)


def logits(seed: int) -> torch.Tensor:
    return 2 * numbers(seed, 2, 3, VOCAB)


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
    x = logits(seed)
    kept = kept_tokens(x, temperature=temperature, top_p=top_p, top_k=top_k)
    for token in range(VOCAB):
        responses = torch.full((2, 3), token)
        found = kept_log_probs(x, responses, kept, temperature).exp()
        for row, slot in torch.cartesian_prod(torch.arange(2), torch.arange(3)):
            probs = drawn_from(x[row, slot].tolist(), temperature, top_p, top_k)
            assert kept[row, slot, token] == (token in probs)
            assert_close(found[row, slot].item(), probs.get(token, 0.0))


@options
def test_kept_tokens_are_transformers(temperature, top_p, top_k):
    warpers = pytest.importorskip("transformers.generation.logits_process")
    x = logits(0).flatten(0, 1)
    cut = warpers.TemperatureLogitsWarper(float(temperature))(None, x)
    if top_k:
        cut = warpers.TopKLogitsWarper(top_k)(None, cut)
    if top_p < 1:
        cut = warpers.TopPLogitsWarper(top_p)(None, cut)
    kept = kept_tokens(x[None], temperature=temperature, top_p=top_p, top_k=top_k)
    assert torch.equal(kept[0], cut > -torch.inf)


def test_all_kept_is_the_log_prob_over_all():
    x, responses = logits(1), torch.tensor([[0, 1, 2], [3, 4, 5]])
    kept = kept_tokens(x, temperature=0.7)
    assert kept.all()
    whole = token_log_probs(x, responses, 0.7)
    assert_close(kept_log_probs(x, responses, kept, 0.7), whole)


def test_gradient_reaches_the_kept_logits_alone():
    x = logits(2).requires_grad_()
    kept = kept_tokens(x.detach(), top_k=3)
    responses = x.detach().argmax(-1)
    kept_log_probs(x, responses, kept).sum().backward()
    assert torch.equal(x.grad != 0, kept)


def test_kept_mass_gradient():
    r"""
    \sum_{a \in K} q(a)\, \nabla \log \pi(a) = \nabla \log \sum_{a \in K} \pi(a)
    """
    x = logits(3)[0, 0].requires_grad_()
    ids = torch.arange(VOCAB)[None]
    wide = x.expand(1, VOCAB, VOCAB)
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

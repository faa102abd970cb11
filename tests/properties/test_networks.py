"""The networks of actor and critic see what came before; what they say of a rollout."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import pad
from torch.testing import assert_close

from ppo_ref.training.networks import (
    Actor,
    Transformer,
    actor_statistics,
    critic_values,
    initialised,
    models_from,
)
from tests import networks, oracles
from tests.networks import CONTEXT, VOCAB, ragged_rollout, seeded

ACTOR, CRITIC = networks.actor(), networks.critic()
seeds = st.integers(0, 2**16)
few = settings(max_examples=25)


def ids_of(seed: int, batch: int, length: int) -> torch.Tensor:
    return torch.randint(VOCAB, (batch, length), generator=seeded(seed))


def whole(ids: torch.Tensor) -> torch.Tensor:
    return torch.ones_like(ids, dtype=torch.bool)


@few
@given(seeds, st.integers(2, CONTEXT), st.data())
def test_a_token_moves_no_earlier_output_and_moves_its_own(seed, length, data):
    ids = ids_of(seed, 2, length)
    t = data.draw(st.integers(0, length - 1))
    other = ids.clone()
    other[:, t] = (ids[:, t] + 1) % VOCAB
    before, after = ACTOR(ids, whole(ids)), ACTOR(other, whole(other))
    assert torch.equal(before[:, :t], after[:, :t])
    moved = (before[:, t:] - after[:, t:]).abs().amax((0, 2))
    assert (moved > 1e-9).all()


@few
@given(seeds, st.integers(1, 6), st.integers(1, CONTEXT - 6), seeds)
def test_padding_on_the_left_changes_nothing_whatever_it_holds(
    seed, length, padding, garbage
):
    ids = ids_of(seed, 2, length)
    padded = torch.cat([ids_of(garbage, 2, padding), ids], 1)
    mask = pad(whole(ids), (padding, 0))
    for network in (ACTOR, CRITIC):
        assert_close(network(padded, mask)[:, padding:], network(ids, whole(ids)))


@few
@given(seeds, st.integers(1, 6), st.integers(1, CONTEXT - 6), seeds)
def test_padding_on_the_right_changes_nothing_whatever_it_holds(
    seed, length, padding, garbage
):
    ids = ids_of(seed, 2, length)
    padded = torch.cat([ids, ids_of(garbage, 2, padding)], 1)
    mask = pad(whole(ids), (0, padding))
    for network in (ACTOR, CRITIC):
        assert_close(network(padded, mask)[:, :length], network(ids, whole(ids)))


def softmax_attention(queries, keys, values, attn_mask):
    """Written out; a position that may see nothing gets nan, as in older PyTorch."""
    scores = queries @ keys.mT / math.sqrt(queries.shape[-1])
    weights = scores.masked_fill(~attn_mask, -math.inf).softmax(-1)
    return weights @ values


def test_attention_is_a_softmax_over_what_a_position_sees(monkeypatch):
    ids = ids_of(0, 2, 6)
    mask = torch.tensor([[False, False, True, True, False, False], [False] * 6])
    found = ACTOR(ids, mask)
    name = "ppo_ref.training.networks.scaled_dot_product_attention"
    monkeypatch.setattr(name, softmax_attention)
    assert_close(ACTOR(ids, mask), found)
    assert found.isfinite().all()


@few
@given(
    seeds,
    st.lists(st.integers(1, 4), min_size=2, max_size=4),
    st.lists(st.integers(0, 3), min_size=3, max_size=3),
)
def test_the_cache_gives_what_the_whole_sequence_gives(seed, parts, padding):
    """Float64: sums of another order differ by about 1e-15, a wrong place by 1e-2."""
    length = min(sum(parts), CONTEXT)
    ids = ids_of(seed, 3, length)
    mask = torch.arange(length) >= torch.tensor(padding)[:, None]
    mask[:, -1] = True
    cache, said, read = [], [], 0
    for part in parts:
        new = ids[:, read : read + part]
        read += new.shape[1]
        if new.shape[1]:
            said.append(ACTOR(new, mask[:, :read], cache))
    together = ACTOR(ids, mask)
    assert_close(torch.cat(said, 1)[mask], together[mask], rtol=1e-10, atol=1e-10)
    assert len(cache) == len(ACTOR.transformer.layers)
    assert cache[0][0].shape[2] == length


def test_every_weight_gets_gradient():
    ids = ids_of(2, 4, CONTEXT)
    for network in (networks.actor(), networks.critic()):
        network(ids, whole(ids)).square().sum().backward()
        assert all(weight.grad.any() for weight in network.parameters())


@pytest.mark.parametrize("length", [CONTEXT + 1, CONTEXT + 5])
def test_a_sequence_longer_than_the_context_is_refused(length):
    ids = ids_of(0, 1, length)
    text = f"Transformer: a sequence must fit the context of 12 tokens, got {length}"
    with pytest.raises(ValueError, match=f"^{text}$"):
        ACTOR(ids, whole(ids))


def test_a_width_that_heads_do_not_divide_is_refused():
    text = "^Transformer: width must be a multiple of heads 3, got 8$"
    with pytest.raises(ValueError, match=text):
        Transformer(VOCAB, CONTEXT, width=8, layers=1, heads=3)


def test_the_same_generator_gives_the_same_network_whatever_it_was():
    one, other = networks.actor(3), networks.actor(4)
    ids = ids_of(3, 1, 4)
    assert not torch.equal(one(ids, whole(ids)), other(ids, whole(ids)))
    with torch.no_grad():
        for weight in other.parameters():
            weight.add_(1)
    again = initialised(other.float(), seeded(3)).double()
    assert torch.equal(one(ids, whole(ids)), again(ids, whole(ids)))


def test_weights_are_drawn_with_the_stated_spread():
    network = initialised(Actor(Transformer(50, 9, 64, 1, 2), 50), seeded(0))
    body = network.transformer
    assert body.tokens.weight.std().item() == pytest.approx(0.1, rel=0.1)
    assert network.head.weight.std().item() == pytest.approx(1 / 8, rel=0.1)
    narrowed = body.layers[0].feed_forward_output.weight
    assert narrowed.std().item() == pytest.approx(1 / 16, rel=0.1)
    assert not network.head.bias.any()


def test_the_four_modules_begin_as_the_actor_and_are_four():
    actor = networks.actor()
    models = models_from(actor)
    ids = ids_of(4, 2, 5)
    assert models.actor is actor
    assert torch.equal(models.reference(ids, whole(ids)), actor(ids, whole(ids)))
    hidden = models.critic.transformer(ids, whole(ids))
    assert torch.equal(hidden, actor.transformer(ids, whole(ids)))
    assert not models.critic(ids, whole(ids)).any()
    weights = [list(network.parameters()) for network in models]
    learning = [any(weight.requires_grad for weight in own) for own in weights]
    assert learning == [True, True, False, False]
    places = [{weight.data_ptr() for weight in own} for own in weights]
    assert sum(map(len, places)) == len(set.union(*places))


def test_bfloat16_multiplies_while_the_weights_stay_float32():
    body = Transformer(VOCAB, CONTEXT, 8, 1, 2, torch.bfloat16)
    actor = initialised(Actor(body, VOCAB), seeded(0))
    exact = initialised(Actor(networks.body(1), VOCAB), seeded(0))
    ids = ids_of(5, 2, 6)
    logits = actor(ids, whole(ids))
    logits.float().square().sum().backward()
    assert logits.dtype == torch.bfloat16
    assert {w.dtype for w in actor.parameters()} == {torch.float32}
    assert {w.grad.dtype for w in actor.parameters()} == {torch.float32}
    # Eight bits of mantissa, a few roundings deep.
    assert_close(logits.float(), exact(ids, whole(ids)), rtol=0.05, atol=0.05)
    assert not torch.equal(logits.float(), exact(ids, whole(ids)))


ROLLOUT = ragged_rollout(1, 3, 5, 9)


def rows():
    """Each row's tokens without padding, and how many belong to its prompt."""
    for row, mask in enumerate(ROLLOUT.attention_mask):
        ids = ROLLOUT.sequences[row][mask]
        yield row, ids[None], len(ids) - int(ROLLOUT.response_mask[row].sum())


@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_log_probs_and_entropy_are_those_of_a_loop(temperature):
    actor = networks.actor()
    found = actor_statistics(actor, ROLLOUT, temperature)
    for row, ids, prompt in rows():
        logits = actor(ids, torch.ones_like(ids).bool())[0]
        for t in range(prompt, ids.shape[1]):
            before = [x / temperature for x in logits[t - 1].tolist()]
            chosen = oracles.log_softmax(before)[ids[0, t]]
            assert found.log_probs[row, t - prompt].item() == pytest.approx(chosen)
            entropy = oracles.entropy(before)
            assert found.entropy[row, t - prompt].item() == pytest.approx(entropy)


def test_values_are_read_before_each_token():
    critic = networks.critic()
    found = critic_values(critic, ROLLOUT)
    for row, ids, prompt in rows():
        outputs = critic(ids, torch.ones_like(ids).bool())[0]
        for t in range(prompt, ids.shape[1]):
            assert_close(found[row, t - prompt], outputs[t - 1])


def test_gradient_flows_into_every_weight():
    actor, critic = networks.actor(), networks.critic()
    actor_statistics(actor, ROLLOUT).log_probs.square().sum().backward()
    critic_values(critic, ROLLOUT).square().sum().backward()
    for network in (actor, critic):
        assert all(weight.grad.any() for weight in network.parameters())


def test_bfloat16_outputs_are_widened():
    actor = networks.actor().bfloat16()
    assert actor_statistics(actor, ROLLOUT).log_probs.dtype == torch.float32
    critic = networks.critic().bfloat16()
    assert critic_values(critic, ROLLOUT).dtype == torch.float32

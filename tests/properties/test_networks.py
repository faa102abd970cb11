"""The networks of actor and critic see what came before; what they say of a rollout."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

from ppo_ref.training.networks import (
    Actor,
    Transformer,
    actor_statistics,
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


def test_a_sequence_longer_than_the_context_is_refused():
    ids = ids_of(0, 1, CONTEXT + 1)
    text = "Transformer: a sequence must fit the context of 12 tokens, got 13"
    with pytest.raises(ValueError, match=f"^{text}$"):
        ACTOR(ids, whole(ids))


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


WIDTH, LAYERS, HEADS = 12, 2, 3
# Padding may stand before the tokens and behind them.
MASK = torch.tensor(
    [
        [True, True, True, True, True, True],
        [False, False, True, True, True, True],
        [True, True, True, False, False, False],
        [False, True, True, True, False, False],
    ]
)


@pytest.fixture
def body() -> Transformer:
    torch.manual_seed(0)
    made = Transformer(VOCAB, CONTEXT, WIDTH, LAYERS, HEADS).double()
    for parameter in made.parameters():  # norms and biases begin at 0 and 1
        nn.init.normal_(parameter, std=0.5)
    return made


def encoder(body: Transformer) -> nn.TransformerEncoder:
    layer = nn.TransformerEncoderLayer(
        WIDTH,
        HEADS,
        4 * WIDTH,
        dropout=0.0,
        activation="gelu",
        batch_first=True,
        norm_first=True,
        dtype=torch.float64,
    )
    norm = nn.LayerNorm(WIDTH, dtype=torch.float64)
    made = nn.TransformerEncoder(layer, LAYERS, norm, enable_nested_tensor=False)
    made.norm.load_state_dict(body.norm.state_dict())
    for theirs, ours in zip(made.layers, body.layers, strict=True):
        pairs = {
            theirs.norm1: ours.attention_norm,
            theirs.norm2: ours.feed_forward_norm,
            theirs.linear1: ours.feed_forward_input,
            theirs.linear2: ours.feed_forward_output,
            theirs.self_attn.out_proj: ours.attention_output,
        }
        for module, source in pairs.items():
            module.load_state_dict(source.state_dict())
        projections = ours.queries_keys_values
        theirs.self_attn.in_proj_weight.data = projections.weight.data
        theirs.self_attn.in_proj_bias.data = projections.bias.data
    return made


def test_hidden_states_are_those_of_torchs_encoder(body):
    ids = torch.randint(
        1, VOCAB, MASK.shape, generator=torch.Generator().manual_seed(1)
    )
    judge = encoder(body)
    found = body(ids, MASK)
    for row, counts in enumerate(MASK):
        own = ids[row][counts][None]
        time = own.shape[1]
        later = torch.ones(time, time, dtype=torch.bool).triu(1)
        embedded = body.tokens.weight[own] + body.positions.weight[:time]
        assert_close(found[row][counts], judge(embedded, mask=later)[0])

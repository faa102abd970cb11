"""The networks of actor and critic see what came before, and are four."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

from ppo_ref.training.networks import Transformer, models_from
from tests import networks
from tests.networks import CONTEXT, VOCAB, seeded

ACTOR, CRITIC = networks.actor(), networks.critic()
seeds = st.integers(0, 2**16)


def ids_of(seed: int, batch: int, length: int) -> torch.Tensor:
    return torch.randint(VOCAB, (batch, length), generator=seeded(seed))


def whole(ids: torch.Tensor) -> torch.Tensor:
    return torch.ones_like(ids, dtype=torch.bool)


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
    last = ACTOR(ids, mask, last=parts[0])
    assert_close(last, together[:, -parts[0] :], rtol=1e-10, atol=1e-10)
    assert len(cache) == len(ACTOR.transformer.layers)
    assert cache[0][0].shape[2] == length


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


# Padding may stand before the tokens and behind them.
MASK = torch.tensor(
    [[1, 1, 1, 1, 1, 1], [0, 0, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0], [0, 1, 1, 1, 0, 0]]
).bool()


def encoder(body: Transformer) -> nn.TransformerEncoder:
    """Torch's own, with the same weights."""
    width, layers = body.norm.normalized_shape[0], len(body.layers)
    options = {"activation": "gelu", "batch_first": True, "norm_first": True}
    sizes = width, 2, 4 * width, 0.0
    layer = nn.TransformerEncoderLayer(*sizes, **options, dtype=torch.float64)
    norm = nn.LayerNorm(width, dtype=torch.float64)
    made = nn.TransformerEncoder(layer, layers, norm, enable_nested_tensor=False)
    made.norm.load_state_dict(body.norm.state_dict())
    for theirs, ours in zip(made.layers, body.layers, strict=True):
        theirs.norm1.load_state_dict(ours.attention_norm.state_dict())
        theirs.norm2.load_state_dict(ours.feed_forward_norm.state_dict())
        theirs.linear1.load_state_dict(ours.feed_forward_input.state_dict())
        theirs.linear2.load_state_dict(ours.feed_forward_output.state_dict())
        theirs.self_attn.out_proj.load_state_dict(ours.attention_output.state_dict())
        theirs.self_attn.in_proj_weight.data = ours.queries_keys_values.weight.data
        theirs.self_attn.in_proj_bias.data = ours.queries_keys_values.bias.data
    return made


def test_hidden_states_are_those_of_torchs_encoder():
    body = networks.actor().transformer
    for parameter in body.parameters():  # norms and biases begin at 0 and 1
        nn.init.normal_(parameter, std=0.5)
    ids, judge = ids_of(1, *MASK.shape), encoder(body)
    found = body(ids, MASK)
    for row, counts in enumerate(MASK):
        own = ids[row][counts][None]
        time = own.shape[1]
        later = torch.ones(time, time, dtype=torch.bool).triu(1)
        embedded = body.tokens.weight[own] + body.positions.weight[:time]
        assert_close(found[row][counts], judge(embedded, mask=later)[0])

"""The transformer beside torch's own encoder, which is given the same weights."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from ppo_ref.training.networks import Transformer

VOCAB, CONTEXT, WIDTH, LAYERS, HEADS = 7, 9, 12, 2, 3
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

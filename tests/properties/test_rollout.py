"""The networks see what came before; what is sampled, how often, and where it ends."""

import math
import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

from ppo_ref import loops
from ppo_ref.train.networks import Transformer, actor_statistics, models_from
from ppo_ref.train.rollout import sample_responses
from ppo_ref.train.tokenizer import EOS_TOKEN_ID, PAD_TOKEN_ID, Prompts
from tests import networks
from tests.networks import CONTEXT, VOCAB, Scripted, prompts, seeded

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
    cache = []
    said = []
    read = 0
    for part in parts:
        new = ids[:, read : read + part]
        read += new.shape[1]
        if new.shape[1]:
            said.append(ACTOR(new, mask[:, :read], cache))
    together = ACTOR(ids, mask)
    in_parts = torch.cat(said, 1)
    assert_close(in_parts[mask], together[mask], rtol=1e-10, atol=1e-10)
    last = ACTOR(ids, mask, last=parts[0])
    assert_close(last, together[:, -parts[0] :], rtol=1e-10, atol=1e-10)
    assert len(cache) == len(ACTOR.transformer.layers)
    assert cache[0][0].shape[2] == length


def test_the_four_modules_begin_as_the_actor_and_are_four():
    actor = networks.actor()
    models = models_from(actor)
    ids = ids_of(4, 2, 5)
    mask = whole(ids)
    assert models.actor is actor
    assert torch.equal(models.reference(ids, mask), actor(ids, mask))
    hidden = models.critic.transformer(ids, mask)
    assert torch.equal(hidden, actor.transformer(ids, mask))
    assert not models.critic(ids, mask).any()
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
    width = body.norm.normalized_shape[0]
    layer = nn.TransformerEncoderLayer(
        d_model=width,
        nhead=2,
        dim_feedforward=4 * width,
        dropout=0.0,
        activation="gelu",
        batch_first=True,
        norm_first=True,
        dtype=torch.float64,
    )
    norm = nn.LayerNorm(width, dtype=torch.float64)
    made = nn.TransformerEncoder(
        layer, num_layers=len(body.layers), norm=norm, enable_nested_tensor=False
    )
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
    ids = ids_of(1, *MASK.shape)
    judge = encoder(body)
    found = body(ids, MASK)
    for row, counts in enumerate(MASK):
        own = ids[row][counts][None]
        time = own.shape[1]
        later = torch.ones(time, time, dtype=torch.bool).triu(1)
        embedded = body.tokens.weight[own] + body.positions.weight[:time]
        (expected,) = judge(embedded, mask=later)
        assert_close(found[row][counts], expected)


def certain(*rows: str) -> Scripted:
    """Says the digits of each row, one per step."""
    steps = torch.tensor([[int(token) for token in row] for row in rows])
    one_hot = torch.nn.functional.one_hot(steps, VOCAB).double()
    return Scripted((one_hot - 1) * 1e4)


@given(st.integers(0, 2**16), st.lists(st.integers(1, 4), min_size=1, max_size=5))
@settings(max_examples=30)
def test_a_rollout_is_what_a_plain_loop_makes_of_its_tokens(seed, lengths):
    asked = prompts(*lengths, seed=seed)
    rollout = sample_responses(ACTOR, asked, response_length=6, generator=seeded(seed))
    assert torch.equal(rollout.sequences[:, :-6], asked.token_ids)
    assert torch.equal(rollout.attention_mask[:, :-6], asked.attention_mask)
    for row, tokens in enumerate(rollout.responses.tolist()):
        ended = EOS_TOKEN_ID in tokens
        length = 6
        if ended:
            length = tokens.index(EOS_TOKEN_ID) + 1
        expected = [t < length for t in range(6)]
        log_probs = rollout.rollout_log_probs[row]
        assert rollout.response_mask[row].tolist() == expected
        assert rollout.attention_mask[row, -6:].tolist() == expected
        assert rollout.truncated[row].item() == (not ended)
        assert tokens[length:] == [PAD_TOKEN_ID] * (6 - length)
        assert not log_probs[length:].any()
        assert (log_probs[:length] < 0).all()


def test_an_end_in_the_last_slot_is_no_truncation_and_all_ends_are_the_end():
    actor = certain("2231", "2234", "1222")
    rollout = sample_responses(actor, prompts(1, 2, 3), response_length=4)
    assert rollout.truncated.tolist() == [False, True, False]
    assert rollout.response_mask.sum(1).tolist() == [4, 4, 1]
    assert rollout.responses.tolist() == [[2, 2, 3, 1], [2, 2, 3, 4], [1, 0, 0, 0]]
    actor = certain("2122", "2212")
    rollout = sample_responses(actor, prompts(1, 1), response_length=4)
    assert actor.asked == 3
    assert rollout.responses.tolist() == [[2, 1, 0, 0], [2, 2, 1, 0]]
    assert rollout.response_mask.shape == rollout.rollout_log_probs.shape == (2, 4)


@given(st.integers(0, 2**16), st.sampled_from([0.5, 1.0, 2.0]))
@settings(max_examples=30)
def test_log_probs_are_those_that_the_trainer_recomputes(seed, temperature):
    """With a cache and without: float64 sums of another order."""
    rollout = sample_responses(
        ACTOR,
        prompts(3, 1, 4, 2, seed=seed),
        response_length=6,
        temperature=temperature,
        generator=seeded(seed),
    )
    again = actor_statistics(ACTOR, rollout, temperature).log_probs
    mask = rollout.response_mask
    sampled = rollout.rollout_log_probs
    assert_close(sampled[mask], again[mask], rtol=1e-10, atol=1e-10)
    other = actor_statistics(ACTOR, rollout, 1.5 * temperature).log_probs
    assert (sampled - other)[mask].abs().max() > 1e-3


@pytest.mark.parametrize("temperature", [0.3, 0.5, 1.0, 2.0])
def test_tokens_come_as_often_as_the_softmax_says(temperature):
    """Pearson's chi-square, 4 degrees of freedom: above 18.5 in one of 1000 seeds."""
    logits = [0.0, 1.0, -1.0, 0.5, 0.2]
    count = 20000
    asked = torch.full((count, 1), 2)
    rollout = sample_responses(
        Scripted(torch.tensor(logits)),
        Prompts(asked, whole(asked)),
        response_length=1,
        temperature=temperature,
        generator=seeded(1),
    )
    tokens = rollout.responses[:, 0]
    seen = torch.bincount(tokens, minlength=VOCAB).tolist()
    log_probs = loops.log_softmax([x / temperature for x in logits])
    distance = 0.0
    for token, log_prob in enumerate(log_probs):
        expected = count * math.exp(log_prob)
        distance += (seen[token] - expected) ** 2 / expected
    assert distance < 18.5
    said = rollout.rollout_log_probs[:, 0].tolist()
    chosen = [log_probs[token] for token in tokens.tolist()]
    assert said == pytest.approx(chosen, abs=1e-6)


@given(st.integers(0, 2**16))
@settings(max_examples=20)
def test_greedy_is_the_argmax_of_a_loop_without_a_cache(seed):
    asked = prompts(2, 4, 1, seed=seed)
    rollout = sample_responses(ACTOR, asked, response_length=6, temperature=0)
    for row, mask in enumerate(asked.attention_mask):
        ids = asked.token_ids[row][mask].tolist()
        answer = []
        while len(answer) < 6 and EOS_TOKEN_ID not in answer:
            sequence = torch.tensor([ids + answer])
            logits = ACTOR(sequence, whole(sequence))[0, -1].tolist()
            answer.append(logits.index(max(logits)))
        answer += [PAD_TOKEN_ID] * (6 - len(answer))
        assert rollout.responses[row].tolist() == answer
    assert not rollout.rollout_log_probs.any()


def test_the_seed_decides_and_nothing_else():
    asked = prompts(2, 3, 4, 1)

    def sampled(seed):
        return sample_responses(ACTOR, asked, response_length=6, generator=seeded(seed))

    first = sampled(0)
    state = torch.get_rng_state()
    torch.rand(7)
    again = sampled(0)
    assert all(map(torch.equal, first, again))
    assert not torch.equal(first.responses, sampled(1).responses)
    torch.set_rng_state(state)
    sampled(2)
    assert torch.equal(torch.get_rng_state(), state)


def test_nothing_has_gradient_and_the_actor_stays_in_its_mode():
    for training in (True, False):
        actor = networks.actor().train(training)
        rollout = sample_responses(actor, prompts(2), response_length=3)
        assert not any(x.requires_grad for x in rollout)
        assert actor.training == training


FIT = "prompt and response must fit the actor's context of 12 tokens, got 3 + 10"
PADDED = Prompts(
    torch.full((3, 2), 3), torch.tensor([[False, True], [True, False], [True, False]])
)
EMPTY = Prompts(torch.empty(0, 3, dtype=torch.long), torch.empty(0, 3).bool())
REFUSED = {
    FIT: {"response_length": CONTEXT - 2},
    "response_length must be at least 1, got 0": {"response_length": 0},
    "temperature must be at least 0, got -0.5": {"temperature": -0.5},
    "temperature must be at least 0, got nan": {"temperature": math.nan},
    "prompts must be padded on the left and end in a token, "
    "got padding in the last slot of row 1": {"prompts": PADDED},
    "prompts must be at least one, of at least one token, got [0, 3]": {
        "prompts": EMPTY
    },
}


def refused(text, **options):
    given = {"actor": ACTOR, "prompts": prompts(2, 3, 1), "response_length": 4}
    with pytest.raises(ValueError, match=f"^{re.escape('sample_responses: ' + text)}$"):
        sample_responses(**{**given, **options})


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_sampled_is_refused(text):
    refused(text, **REFUSED[text])
    sample_responses(ACTOR, prompts(2, 3), response_length=CONTEXT - 3)  # it fits


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_an_actor_that_has_diverged_is_named(bad):
    table = torch.zeros(3, 3, VOCAB)
    table[:, 2, 4] = bad
    table[1:, 1, 4] = bad
    finite = "actor must give logits whose log-sum-exp is finite, got"
    told = f"{finite} {bad} for token 1 of row 1"
    refused(told, actor=Scripted(table), generator=seeded(1))

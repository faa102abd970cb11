"""A model from a folder says what transformers says of each row by itself."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from ppo_ref.alignment import response_mask
from ppo_ref.train.networks import Actor, actor_statistics
from ppo_ref.train.pretrained import pretrained_actor
from ppo_ref.train.rollout import as_rollout, sample_responses
from ppo_ref.train.tokenizer import Prompts
from tests.pretrained.folders import EOS, IDS, PAD, VOCAB, pretrained

pytestmark = pretrained
LENGTHS = (1, 4, 6)


def theirs(folder: Path, **options: Any):
    """The model as transformers loads it."""
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(folder, **options).eval()


def rows(*lengths: int) -> list[Tensor]:
    generator = torch.Generator().manual_seed(sum(lengths))
    return [torch.randint(8, VOCAB, (n,), generator=generator) for n in lengths]


def padded(given: list[Tensor], padding: int = IDS[PAD]) -> Prompts:
    width = max(map(len, given)) + 1  # one slot holds padding alone
    ids = torch.full((len(given), width), padding)
    mask = torch.zeros(ids.shape, dtype=torch.bool)
    for place, row in enumerate(given):
        start = width - len(row)
        ids[place, start:] = row
        mask[place, start:] = True
    return Prompts(ids, mask, IDS[EOS], IDS[PAD])


def own_rows(logits: Tensor, given: list[Tensor]) -> list[Tensor]:
    own = []
    for x, row in zip(logits, given, strict=True):
        own.append(x[-len(row) :])
    return own


@torch.no_grad()
def test_padded_rows_say_what_each_says_by_itself(folder):
    given = rows(*LENGTHS)
    model = theirs(folder)
    actor = pretrained_actor(folder)
    prompts = padded(given)
    found = actor(prompts.token_ids, prompts.attention_mask)
    assert found.shape == (*prompts.token_ids.shape, VOCAB)
    assert found.isfinite().all()
    hidden = actor.hidden(prompts.token_ids, prompts.attention_mask)
    assert_close(actor.head(hidden), found)
    other = padded(given, padding=9)
    again = own_rows(actor(other.token_ids, other.attention_mask), given)
    for place, ours in enumerate(own_rows(found, given)):
        alone = model(input_ids=given[place][None]).logits[0]
        assert_close(ours, alone, atol=1e-5, rtol=1e-5)
        assert torch.equal(ours, again[place])


@torch.no_grad()
def test_a_cache_changes_nothing(folder):
    actor = pretrained_actor(folder)
    ids, mask, *_ = padded(rows(*LENGTHS))
    cache = []
    read = []
    done = 0
    for step in (1, 1, 1, 4):
        new = ids[:, done : done + step]
        done += step
        read.append(actor(new, mask[:, :done], cache))
    whole = actor(ids, mask)
    assert_close(torch.cat(read, 1)[mask], whole[mask], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("attention", ("eager", "sdpa"))
@pytest.mark.parametrize("cache", (False, True))
@torch.no_grad()
def test_positions_cut_a_pack_unless_there_is_a_cache(folder, attention, cache):
    """As the page on packing says of transformers; it gets no mask."""
    given = rows(4, 3)
    model = theirs(folder, attn_implementation=attention)
    at = torch.cat([torch.arange(len(row)) for row in given])[None]
    ids = torch.cat(given)[None]
    packed = model(input_ids=ids, position_ids=at, use_cache=cache)
    found = packed.logits[0, 4:]
    alone = model(input_ids=given[1][None]).logits[0]
    assert found.allclose(alone, atol=1e-5) != cache


def test_flash_attention_cuts_a_pack_only_where_it_is_one_row():
    """As the same page says; it needs no GPU to decide that."""
    from transformers.modeling_flash_attention_utils import _is_packed_sequence

    at = torch.cat([torch.arange(n) for n in (4, 3)])[None]
    assert _is_packed_sequence(at, 1)
    assert not _is_packed_sequence(torch.arange(7)[None], 1)
    assert not _is_packed_sequence(at.expand(2, -1), 2)
    with pytest.raises(IndexError):
        _is_packed_sequence(at[0], 1)


def sampled(actor: Actor, given: list[Tensor], **options: Any):
    draws = torch.Generator().manual_seed(0)
    return sample_responses(
        actor, padded(given), response_length=24, generator=draws, **options
    )


def test_log_probs_are_those_of_float64_logits(folder):
    given = rows(*LENGTHS)
    model = theirs(folder).double()
    actor = pretrained_actor(folder)
    temperature = 0.7
    rollout = sampled(actor, given, temperature=temperature)
    mask = response_mask(rollout.responses, IDS[EOS])
    assert torch.equal(rollout.response_mask, mask)
    assert not mask.all()
    assert (rollout.responses[~mask] == IDS[PAD]).all()
    unended = (rollout.responses != IDS[EOS]).all(1)
    assert torch.equal(rollout.truncated, unended)
    found = actor_statistics(actor, rollout, temperature)
    assert found.log_probs.requires_grad
    for i, row in enumerate(given):
        counts = mask[i]
        answer = rollout.responses[i][counts]
        sequence = torch.cat([row, answer])
        with torch.no_grad():
            logits = model(input_ids=sequence[None]).logits[0]
        before_answer = logits[len(row) - 1 : -1]
        said = (before_answer / temperature).log_softmax(-1)
        wanted = said.gather(1, answer[:, None])[:, 0].float()
        entropy = -(said.exp() * said).sum(-1).float()
        sampled_log_probs = rollout.rollout_log_probs[i][counts]
        assert_close(found.log_probs[i][counts], wanted, atol=1e-5, rtol=1e-5)
        assert_close(sampled_log_probs, wanted, atol=1e-5, rtol=0)
        assert_close(found.entropy[i][counts], entropy, atol=1e-5, rtol=1e-5)


def test_gradients_are_those_of_transformers(folder):
    actor = pretrained_actor(folder)
    model = theirs(folder)
    (row,) = rows(8)
    prompt = row[:3]
    answer = row[3:]
    unknown = torch.zeros(1, len(answer))
    rollout = as_rollout(padded([prompt]), answer[None], unknown)
    actor_statistics(actor, rollout).log_probs.sum().backward()
    said = model(input_ids=row[None]).logits[0].log_softmax(-1)
    said[2:-1].gather(1, answer[:, None]).sum().backward()
    wanted = dict(model.base_model.named_parameters())
    found = dict(actor.transformer.network.named_parameters())
    assert wanted.keys() == found.keys()
    assert len(wanted) > 10
    for name, weight in wanted.items():
        gradient = found[name].grad
        assert_close(gradient, weight.grad, atol=1e-5, rtol=1e-4, msg=name)


def test_it_never_drops_out(folders):
    actor = pretrained_actor(folders["gpt2"])
    ids, mask, *_ = padded(rows(*LENGTHS))
    assert actor.transformer.network.config.resid_pdrop > 0
    in_training = actor.train()(ids, mask)
    assert torch.equal(in_training, actor.eval()(ids, mask))


def test_products_in_bfloat16(folder):
    exact = pretrained_actor(folder)
    actor = pretrained_actor(folder, torch.bfloat16)
    ids, mask, *_ = padded(rows(*LENGTHS))
    found = actor(ids, mask)
    wanted = exact(ids, mask)
    assert found.dtype == torch.bfloat16
    assert_close(found.float()[mask], wanted[mask], atol=0.1, rtol=0.1)


def test_a_sequence_beyond_the_context(folder):
    actor = pretrained_actor(folder)
    (row,) = rows(60)
    with pytest.raises(ValueError, match=r"fit the actor's context of 64 tokens, got"):
        sample_responses(actor, padded([row]), response_length=4)
    ids = torch.ones(1, 65).long()
    text = "^PretrainedBody: a sequence must fit the context of 64 tokens, got 65$"
    with pytest.raises(ValueError, match=text):
        actor(ids, ids.bool())


SAME = torch.tensor([9, 10, 11, 12])  # what all rows begin with


def begun_alike(lengths: tuple[int, ...] = (5, 5, 5)) -> list[Tensor]:
    return [torch.cat([SAME, row]) for row in rows(*lengths)]


def test_what_all_rows_begin_with_is_read_once(folder, monkeypatch):
    actor = pretrained_actor(folder)
    read = []
    forward = actor.transformer.network.forward

    def watched(**given: Any) -> Any:
        read.append(tuple(given["input_ids"].shape))
        return forward(**given)

    monkeypatch.setattr(actor.transformer.network, "forward", watched)
    ids = torch.stack(begun_alike())
    mask = torch.ones_like(ids).bool()
    actor(ids, mask, last=3)
    assert read == [(1, 4), (3, 5)]
    read.clear()
    actor(ids, mask, last=8)  # all but one of the positions are asked for
    assert read == [(1, 1), (3, 8)]
    for given in ((ids, mask), (ids[:1], mask[:1])):
        read.clear()
        actor(*given, last=0 if len(given[0]) > 1 else 3)
        assert read == [tuple(given[0].shape)]
    padded_row = mask.clone()
    padded_row[1, :2] = False
    read.clear()
    actor(ids, padded_row, last=3)
    assert read == [(3, 9)]


def test_to_read_it_once_changes_neither_outputs_nor_gradients(folder, monkeypatch):
    ids = torch.stack(begun_alike())
    mask = torch.ones_like(ids).bool()
    found = []
    for once in (True, False):
        actor = pretrained_actor(folder)
        if not once:
            monkeypatch.setattr(
                "ppo_ref.train.pretrained._same_beginning", lambda *given: 0
            )
        logits = actor(ids, mask, last=4)
        torch.autograd.backward(logits.log_softmax(-1)[..., 3].sum())
        gradients = [weight.grad for weight in actor.parameters()]
        found.append([logits.detach(), *gradients])
    whole = theirs(folder)(input_ids=ids).logits[:, -4:]
    assert_close(found[0][0], whole.detach(), atol=1e-5, rtol=1e-5)
    for ours, expected in zip(*found, strict=True):
        assert_close(ours, expected, atol=1e-4, rtol=1e-4)


def test_answers_are_those_of_a_prompt_that_is_read_row_by_row(folder):
    actor = pretrained_actor(folder)
    given = torch.stack(begun_alike((2, 2, 2)))
    prompts = Prompts(given, torch.ones_like(given).bool(), IDS[EOS], IDS[PAD])
    together = sample_responses(actor, prompts, response_length=4, temperature=0)
    for row, ids in enumerate(given):
        alone = Prompts(ids[None], torch.ones(1, len(ids)).bool(), IDS[EOS], IDS[PAD])
        said = sample_responses(actor, alone, response_length=4, temperature=0)
        mask = said.response_mask[0]
        assert torch.equal(together.responses[row][mask], said.responses[0][mask])

"""Settings and their bounds; which questions there are; text to ids and back."""

import re
from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ppo_ref.train.config import PPOConfig
from ppo_ref.train.sums import (
    CHARACTERS,
    EXAMPLE,
    PROMPT_LENGTH,
    all_questions,
    demonstrations,
    phrased_sums,
    two_digit_sums,
)
from ppo_ref.train.tasks import Question
from ppo_ref.train.tokenizer import EOS_TOKEN_ID, PAD_TOKEN_ID, CharacterTokenizer
from tests.networks import seeded

# A batch of 1 can be divided by a mini-batch of 1 alone, and so on.
SMALLEST = dict.fromkeys(
    ("width", "heads", "batch_size", "mini_batch_size", "micro_batch_size"), 1
)


@pytest.mark.parametrize(
    ("name", "within", "beyond", "bound"),
    [
        ("kl_coef", 0, -0.1, "at least 0"),
        ("batch_size", 1, 0, "at least 1"),
        ("temperature", 5e-324, 0, "above 0"),
        ("gamma", 1, 1.0000001, "at most 1"),
        ("clip_range", 0.9999999, 1.0, "below 1"),
    ],
)
def test_a_number_may_go_to_its_bound_and_not_beyond(name, within, beyond, bound):
    assert getattr(PPOConfig(**{**SMALLEST, name: within}), name) == within
    with pytest.raises(ValueError, match=f"^PPOConfig: {name} must be {bound}, got"):
        PPOConfig(**{name: beyond})


REFUSED = {
    "batch_size must be a multiple of mini_batch_size 64, got 100": {"batch_size": 100},
    "width must be a multiple of heads 4, got 10": {"width": 10, "heads": 4},
    "kl_horizon must be above a fifth of batch_size 256, got 51.2": {
        "kl_horizon": 51.2
    },
    "precision must be one of float32, bfloat16, got 'float16'": {
        "precision": "float16"
    },
    "critic_warm_up must be 0 without critic_epochs, got 3": {
        "critic_warm_up": 3,
        "critic_epochs": 0,
    },
    "batch_size must be an int, got float 256.0": {"batch_size": 256.0},
    "seed must be an int, got bool True": {"seed": True},
    "gamma must be a float, got str '1'": {"gamma": "1"},
}


@pytest.mark.parametrize("text", REFUSED)
def test_settings_of_another_type_or_that_do_not_fit_are_refused(text):
    with pytest.raises(
        (ValueError, TypeError), match=f"^PPOConfig: {re.escape(text)}$"
    ):
        PPOConfig(**REFUSED[text])


def test_the_constants_hold_every_question_and_answer():
    questions = all_questions()
    assert max(len(question.text) for question in questions) == PROMPT_LENGTH
    slots = PPOConfig().response_length
    assert max(len(question.answer) for question in questions) < slots
    written = "".join(question.text + question.answer for question in questions)
    assert set(written) == set(CHARACTERS)


@given(st.integers(0, 2**32))
def test_one_phrasing_of_every_sum_is_held_out(seed):
    train, held_out, *_ = phrased_sums(seeded(seed))
    everything = Counter(all_questions())
    assert Counter(train) + Counter(held_out) == everything
    assert Counter(question.answer for question in held_out) == {
        f"{a}+{b}={a + b}": 1 for a in range(10) for b in range(10)
    }
    assert {q.answer for q in train} == {q.answer for q in held_out}


@given(st.integers(0, 2**32))
def test_two_digit_sums_are_held_out_in_both_orders(seed):
    train, held_out, *_ = two_digit_sums(seeded(seed))
    assert (len(train), len(held_out)) == (40 * 40 - 2 - 100, 100)
    pairs = []
    for question in (*train, *held_out):
        found = re.fullmatch(r"(\d\d) \+ (\d\d) = ", question.text)
        a, b = map(int, found.groups())
        assert 10 <= a < 50 and 10 <= b < 50
        assert question.answer == str(a + b)
        pairs.append((a, b))
    assert len(set(pairs)) == len(pairs)
    unseen = set(pairs[len(train) :])
    assert {(b, a) for a, b in unseen} == unseen
    (shown,) = re.findall(r"(\d\d) \+ (\d\d) = 39\n", EXAMPLE)
    assert tuple(map(int, shown)) not in pairs


def test_a_teacher_counts_one_too_many_now_and_then():
    asked = [Question("what is 9+9?", "9+9=18")] * 1000
    told = Counter(demonstrations(asked, 0.6, seeded(0)))
    assert told.keys() == {"9+9=18", "9+9=19"}
    assert told["9+9=19"] == pytest.approx(600, abs=60)


TOKENIZER = CharacterTokenizer(CHARACTERS)
texts = st.text(st.sampled_from(sorted(set(CHARACTERS))), max_size=12)
asked = texts.filter(bool)


@given(texts)
def test_text_comes_back(text):
    ids = TOKENIZER.encode(text)
    assert len(ids) == len(text)
    assert TOKENIZER.decode(ids) == text
    assert TOKENIZER.decode([*ids, EOS_TOKEN_ID, *ids]) == text
    assert not {PAD_TOKEN_ID, EOS_TOKEN_ID} & set(ids)


@given(st.lists(asked, min_size=1, max_size=4))
def test_prompts_end_together_and_hold_their_text(rows):
    token_ids, mask, *_ = TOKENIZER.prompts(rows)
    width = max(len(text) for text in rows)
    assert token_ids.shape == mask.shape == (len(rows), width)
    for text, ids, counts in zip(rows, token_ids, mask.tolist(), strict=True):
        assert counts == [False] * (width - len(text)) + [True] * len(text)
        assert ids[width - len(text) :].tolist() == TOKENIZER.encode(text)
        assert not ids[: width - len(text)].any()


@given(st.lists(texts, min_size=1, max_size=4), st.integers(0, 3))
def test_responses_end_and_hold_their_text(rows, room):
    slots = max(len(text) for text in rows) + 1 + room
    ids = TOKENIZER.responses(rows, slots)
    assert ids.shape == (len(rows), slots)
    assert ids.dtype == torch.long
    for text, row in zip(rows, ids.tolist(), strict=True):
        padding = [PAD_TOKEN_ID] * (slots - len(text) - 1)
        assert row == [*TOKENIZER.encode(text), EOS_TOKEN_ID, *padding]


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (
            lambda: CharacterTokenizer("012").encode("10x1"),
            "encode: text must be made of '012', got 'x' at 2 in '10x1'",
        ),
        (
            lambda: TOKENIZER.responses(["1", "1+1=2"], 5),
            "responses: a text and its end must fit 5 slots, got 6 tokens for '1+1=2'",
        ),
    ],
)
def test_refusals(call, told):
    with pytest.raises(ValueError, match=f"^{re.escape(told)}$"):
        call()

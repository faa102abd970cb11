"""Text to ids and back; what has no id, or no room, is named."""

import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ppo_ref.training.tasks import CHARACTERS
from ppo_ref.training.tokenizer import (
    EOS_TOKEN_ID,
    PAD_TOKEN_ID,
    CharacterTokenizer,
)

TOKENIZER = CharacterTokenizer(CHARACTERS)
texts = st.text(st.sampled_from(sorted(set(CHARACTERS))), max_size=12)
asked = texts.filter(bool)
few = settings(max_examples=40)


@few
@given(texts)
def test_text_comes_back(text):
    ids = TOKENIZER.encode(text)
    assert len(ids) == len(text)
    assert TOKENIZER.decode(ids) == text
    assert TOKENIZER.decode([*ids, EOS_TOKEN_ID, *ids]) == text
    assert not {PAD_TOKEN_ID, EOS_TOKEN_ID} & set(ids)


@few
@given(st.lists(asked, min_size=1, max_size=4))
def test_prompts_end_together_and_hold_their_text(rows):
    token_ids, mask, *_ = TOKENIZER.prompts(rows)
    width = max(len(text) for text in rows)
    assert token_ids.shape == mask.shape == (len(rows), width)
    for text, ids, counts in zip(rows, token_ids, mask.tolist(), strict=True):
        assert counts == [False] * (width - len(text)) + [True] * len(text)
        assert ids[width - len(text) :].tolist() == TOKENIZER.encode(text)
        assert not ids[: width - len(text)].any()


@few
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

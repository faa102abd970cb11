"""Which questions there are, which are held out, and how a teacher errs."""

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppo_ref.training.config import PPOConfig
from ppo_ref.training.tasks import (
    CHARACTERS,
    PROMPT_LENGTH,
    RESPONSE_LENGTH,
    Question,
    all_questions,
    demonstrations,
    split,
)
from tests.networks import seeded


def test_the_constants_hold_every_question_and_answer():
    questions = all_questions()
    assert max(len(question.text) for question in questions) == PROMPT_LENGTH
    assert max(len(question.answer) for question in questions) < RESPONSE_LENGTH
    assert PPOConfig().response_length == RESPONSE_LENGTH
    written = "".join(question.text + question.answer for question in questions)
    assert set(written) == set(CHARACTERS)


@given(st.integers(0, 2**32))
def test_one_phrasing_of_every_sum_is_held_out(seed):
    train, held_out = split(seeded(seed))
    everything = Counter(all_questions())
    assert Counter(train) + Counter(held_out) == everything
    assert Counter((q.a, q.b) for q in held_out) == {
        (a, b): 1 for a in range(10) for b in range(10)
    }
    assert {(q.a, q.b) for q in train} == {(q.a, q.b) for q in held_out}


@pytest.mark.parametrize("error_rate", [0, 0.6, 1])
def test_a_teacher_counts_one_too_many_as_often_as_stated(error_rate):
    questions = [Question("9+9=", 9, 9)] * 4000
    told = Counter(demonstrations(questions, error_rate, seeded(0)))
    assert set(told) <= {"9+9=18", "9+9=19"}
    spread = math.sqrt(4000 * error_rate * (1 - error_rate))
    assert abs(told["9+9=19"] - 4000 * error_rate) <= 4 * spread

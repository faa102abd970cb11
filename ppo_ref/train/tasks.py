"""Questions of the kind 1+1=2, as the dialogues put them, in Chinese and English."""

from typing import NamedTuple

import torch

from ppo_ref.require import require_at_least, require_unit_interval

PHRASINGS = (
    "请问{a}+{b}=？",
    "你知道{a}+{b}=几吗？",
    "{a}+{b}等于几？",
    "{a}加{b}等于几？",
    "{a}加{b}是多少？",
    "{a}加上{b}得几？",
    "请算{a}+{b}",
    "{a}+{b}=",
    "what is {a}+{b}?",
    "do you know {a}+{b}?",
    "{a} plus {b} is?",
    "{a} and {b} make?",
    "compute {a}+{b}",
    "add {a} and {b}",
    "{a}+{b} is?",
    "{a}+{b} equals?",
)
# Every character that a question or a right answer can hold.
CHARACTERS = "".join(PHRASINGS).replace("{a}", "").replace("{b}", "") + "0123456789+="
PROMPT_LENGTH = max(len(phrasing.format(a=0, b=0)) for phrasing in PHRASINGS)


class Question(NamedTuple):
    """A question in words and the two numbers that it asks for."""

    text: str
    a: int
    b: int

    @property
    def answer(self) -> str:
        """The right answer in full, as in ``1+1=2``."""
        return f"{self.a}+{self.b}={self.a + self.b}"


class Split(NamedTuple):
    """Questions to learn from, and others that are never trained on."""

    train: list[Question]
    held_out: list[Question]


def all_questions() -> list[Question]:
    """Every sum of two digits in every phrasing."""
    return [
        Question(phrasing.format(a=a, b=b), a, b)
        for a in range(10)
        for b in range(10)
        for phrasing in PHRASINGS
    ]


def split(generator: torch.Generator) -> Split:
    """Hold out one phrasing of every sum: all sums are seen, these questions never."""
    questions = all_questions()
    sums = len(questions) // len(PHRASINGS)
    chosen = torch.randint(len(PHRASINGS), (sums,), generator=generator).tolist()
    out = {i * len(PHRASINGS) + phrasing for i, phrasing in enumerate(chosen)}
    train = [question for i, question in enumerate(questions) if i not in out]
    return Split(train, [questions[i] for i in sorted(out)])


def draw(
    questions: list[Question], count: int, generator: torch.Generator
) -> list[Question]:
    """Draw questions with replacement."""
    require_at_least("draw", 1, count=count)
    if not questions:
        raise ValueError("draw: questions must be at least one, got none")
    chosen = torch.randint(len(questions), (count,), generator=generator)
    return [questions[i] for i in chosen.tolist()]


def demonstrations(
    questions: list[Question], error_rate: float, generator: torch.Generator
) -> list[str]:
    """Answers of a teacher who often counts one too many.

    Imitation learns the mistakes with the rest; the reward will not.
    """
    require_unit_interval("demonstrations", error_rate=error_rate)
    wrong = torch.rand(len(questions), generator=generator) < error_rate
    return [
        f"{question.a}+{question.b}={question.a + question.b + off}"
        for question, off in zip(questions, wrong.long().tolist(), strict=True)
    ]

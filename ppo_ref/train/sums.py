"""Sums to ask: 1+1=2 in sixteen phrasings, and plain ones for a model that speaks.

The phrasings are those of the dialogues, in Chinese and English. A small new network
learns to answer them by imitation before PPO; its teacher often counts one too many.
"""

import torch

from ppo_ref.require import require_unit_interval
from ppo_ref.train.scores import first_number, stated_sum
from ppo_ref.train.tasks import Question, Task

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
HELD_OUT_PAIRS = 50  # of two-digit sums, each asked in both orders
# What a prompt may begin with, so that the answer is a number and a line's end. It is
# never asked.
EXAMPLE = "14 + 25 = 39\n"
SHOWN = {(14, 25), (25, 14)}


def all_questions() -> list[Question]:
    """Every sum of two digits in every phrasing."""
    return [
        Question(phrasing.format(a=a, b=b), f"{a}+{b}={a + b}")
        for a in range(10)
        for b in range(10)
        for phrasing in PHRASINGS
    ]


def phrased_sums(generator: torch.Generator) -> Task:
    """Hold out one phrasing of every sum: all sums are seen, these questions never."""
    questions = all_questions()
    sums = len(questions) // len(PHRASINGS)
    chosen = torch.randint(len(PHRASINGS), (sums,), generator=generator).tolist()
    out = {i * len(PHRASINGS) + phrasing for i, phrasing in enumerate(chosen)}
    train = [question for i, question in enumerate(questions) if i not in out]
    held_out = [questions[i] for i in sorted(out)]
    return Task(train, held_out, score=stated_sum, right=stated_sum)


def two_digit_sums(generator: torch.Generator) -> Task:
    """Sums of 10 to 49; those held out are trained on in neither order of their parts.

    Each question ends where the answer begins, as in ``23 + 31 = ``.
    """
    numbers = range(10, 50)
    pairs = [(a, b) for a in numbers for b in numbers if a < b and (a, b) not in SHOWN]
    order = torch.randperm(len(pairs), generator=generator).tolist()
    out = {pairs[i] for i in order[:HELD_OUT_PAIRS]}
    train: list[Question] = []
    held_out: list[Question] = []
    for a in numbers:
        for b in numbers:
            if (a, b) in SHOWN:
                continue
            question = Question(f"{a} + {b} = ", str(a + b))
            unseen = (min(a, b), max(a, b)) in out
            (held_out if unseen else train).append(question)
    return Task(train, held_out, score=first_number, right=first_number)


# By the name that the command knows them under.
READY = {"phrased-sums": phrased_sums, "two-digit-sums": two_digit_sums}


def demonstrations(
    questions: list[Question], error_rate: float, generator: torch.Generator
) -> list[str]:
    """Answers of a teacher who often counts one too many.

    Imitation learns the mistakes with the rest; the reward will not.
    """
    require_unit_interval("demonstrations", error_rate=error_rate)
    wrong = torch.rand(len(questions), generator=generator) < error_rate
    texts = []
    for question, off in zip(questions, wrong.long().tolist(), strict=True):
        asked, _, total = question.answer.partition("=")
        texts.append(f"{asked}={int(total) + off}")
    return texts

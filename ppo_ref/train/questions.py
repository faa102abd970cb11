"""Questions from a file of lines, each a JSON object with a prompt and its answer."""

import json
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import torch

from ppo_ref.train.tasks import Question

SPLITS = "train", "held-out"
MOST_BYTES = 10**8
LONGEST = 40  # characters of a line in a refusal


class Line(NamedTuple):
    """A question, and which part of the questions its line says it belongs to."""

    question: Question
    split: str | None


def read_questions(path: Path) -> list[Line]:
    """The questions of a file, in order; a line that is none is refused by its number.

    A line has ``prompt`` and ``answer``, a text or a number, and may have ``split``,
    train or held-out; what else it has is not read. Either all lines say their split or
    none does.
    """
    if not path.is_file():
        raise ValueError(f"questions: {path} must be a file, and is not there")
    if (size := path.stat().st_size) > MOST_BYTES:
        raise ValueError(
            f"questions: {path} must have at most {MOST_BYTES} bytes, got {size}"
        )
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"questions: {path} must be UTF-8, and is not") from None
    lines = [
        _line(text, path, number)
        for number, text in enumerate(text.split("\n"), 1)
        if text.strip()
    ]
    if not lines:
        raise ValueError(f"questions: {path} must hold a question, and is empty")
    if len({line.split is None for line in lines}) > 1:
        raise ValueError(
            f"questions: every line of {path} must say its split or none of them, and "
            "some do"
        )
    return lines


def split_questions(
    lines: list[Line], held_out: str, generator: torch.Generator
) -> tuple[list[Question], list[Question]]:
    """Questions to learn from and others to be held out; no prompt is in both.

    ``held_out`` is a file of them, or a share of the questions; left empty it is what
    the lines say, and a tenth if they say nothing.
    """
    questions = [line.question for line in lines]
    says = lines[0].split is not None
    share = _share(held_out or "0.1") if is_share(held_out or "0.1") else None
    if says and held_out and share is not None:
        raise ValueError(
            f"held_out: the questions say their split themselves, got {held_out}; "
            "leave one of the two out"
        )
    if share is None:
        out = [line.question for line in read_questions(Path(held_out))]
        train = questions
    elif says:
        train = [line.question for line in lines if line.split == "train"]
        out = [line.question for line in lines if line.split == "held-out"]
    else:
        train, out = _drawn(questions, share, generator)
    if not train or not out:
        raise ValueError(
            "questions: some must be trained on and some held out, got "
            f"{len(train)} and {len(out)}"
        )
    seen = {question.text for question in train}
    if both := [question.text for question in out if question.text in seen]:
        raise ValueError(
            "questions: none that is held out may be trained on, got "
            f"{both[0][:LONGEST]!r} in both"
        )
    return train, out


def _drawn(
    questions: list[Question], share: float, generator: torch.Generator
) -> tuple[list[Question], list[Question]]:
    """A share of the prompts is held out, with all questions that have them."""
    prompts = list(dict.fromkeys(question.text for question in questions))
    count = round(share * len(prompts))
    order = torch.randperm(len(prompts), generator=generator).tolist()
    out = {prompts[i] for i in order[:count]}
    train = [question for question in questions if question.text not in out]
    return train, [question for question in questions if question.text in out]


def is_share(text: str) -> bool:
    """True for a number, which the name of a file is not."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _share(text: str) -> float:
    share = float(text)
    if not 0 < share < 1:
        raise ValueError(f"held_out: a share must lie between 0 and 1, got {text}")
    return share


def _line(text: str, path: Path, number: int) -> Line:
    def refuse(told: str) -> NoReturn:
        raise ValueError(f"questions: {path}, line {number}: {told}")

    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        refuse(f"must be a JSON object, got {text[:LONGEST]!r}")
    prompt = found.get("prompt")
    if not isinstance(prompt, str) or not prompt:
        refuse(f"prompt must be a text, got {_shown(prompt)}")
    answer = found.get("answer")
    if isinstance(answer, bool) or not isinstance(answer, str | int | float):
        refuse(f"answer must be a text or a number, got {_shown(answer)}")
    split = found.get("split")
    if split is not None and split not in SPLITS:
        refuse(f"split must be one of {', '.join(SPLITS)}, got {_shown(split)}")
    return Line(Question(prompt, str(answer)), split)


def _shown(value: Any) -> str:
    return "none" if value is None else repr(value)[:LONGEST]

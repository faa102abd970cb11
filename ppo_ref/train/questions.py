"""Questions from a file of lines, each a JSON object with a prompt and its answer."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import torch

from ppo_ref.train.tasks import Question

SPLITS = "train", "held-out"
MOST_BYTES = 10**8
LONGEST = 40  # characters of a line in a refusal
USUAL_SHARE = "0.1"  # of the prompts, held out


class Line(NamedTuple):
    """A question, the part of the questions that it says it belongs to, its place."""

    question: Question
    split: str | None
    place: str  # the file and the number of the line


def read_questions(path: Path) -> list[Line]:
    """The questions of a file, in order; a line that is none is refused by its number.

    A line has ``prompt`` and ``answer``, a text or a number, and may have ``split``,
    train or held-out; what else it has is not read. Either all lines say their split or
    none does. A prompt may stand twice, with the same answer.
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
    _require_one_answer(lines)
    return lines


def _require_one_answer(lines: Sequence[Line]) -> None:
    first: dict[str, Line] = {}
    for line in lines:
        before = first.setdefault(line.question.text, line)
        answer, other = line.question.answer, before.question.answer
        if answer != other:
            raise ValueError(
                f"questions: {line.place}: a prompt must have one answer, got "
                f"{_shown(answer)} here and {_shown(other)} in {before.place}"
            )


def split_questions(
    lines: Sequence[Line], held_out: str | Sequence[Line], generator: torch.Generator
) -> tuple[list[Question], list[Question]]:
    """Questions to learn from and others to be held out; no prompt is in both.

    ``held_out`` is a share of the questions, or lines of another file; left empty it is
    what the lines say, and a tenth if they say nothing.
    """
    questions = [line.question for line in lines]
    says = lines[0].split is not None
    if not isinstance(held_out, str):
        train = questions
        out = [line.question for line in held_out]
    elif says and held_out:
        raise ValueError(
            "questions: held_out must be left out where the questions say their split, "
            f"got {held_out}"
        )
    elif says:
        train = [line.question for line in lines if line.split == "train"]
        out = [line.question for line in lines if line.split == "held-out"]
    else:
        train, out = _drawn(questions, _share(held_out or USUAL_SHARE), generator)
    if not train or not out:
        raise ValueError(
            "questions: some questions must be trained on and some held out, got "
            f"{len(train)} and {len(out)}"
        )
    seen = {question.text for question in train}
    if both := [question.text for question in out if question.text in seen]:
        raise ValueError(
            "questions: no question that is held out may be trained on, got "
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
        raise ValueError(
            f"questions: held_out must be a file or a share between 0 and 1, got {text}"
        )
    return share


def _line(text: str, path: Path, number: int) -> Line:
    place = f"{path}, line {number}"
    twice: list[str] = []

    def refuse(told: str) -> NoReturn:
        raise ValueError(f"questions: {place}: {told}")

    def as_dict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                twice.append(key)
            found[key] = value
        return found

    try:
        found = json.loads(text, object_pairs_hook=as_dict)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        refuse(f"must be a JSON object, got {text[:LONGEST]!r}")
    if twice:
        refuse(f"must have each key once, got {_shown(twice[0])} twice")
    prompt = found.get("prompt")
    if not isinstance(prompt, str) or not prompt:
        refuse(f"prompt must be a text, got {_shown(prompt)}")
    answer = found.get("answer")
    if isinstance(answer, bool) or not isinstance(answer, str | int | float):
        refuse(f"answer must be a text or a number, got {_shown(answer)}")
    if not str(answer).strip():
        refuse(f"answer must not be empty, got {_shown(answer)}")
    for name, value in (("prompt", prompt), ("answer", str(answer))):
        if not _is_whole(value):
            refuse(f"{name} must be of whole characters, got {_shown(value)}")
    split = found.get("split")
    if split is not None and split not in SPLITS:
        refuse(f"split must be one of {', '.join(SPLITS)}, got {_shown(split)}")
    return Line(Question(prompt, str(answer)), split, place)


def _is_whole(text: str) -> bool:
    """False where half of a character stands, which JSON can write and UTF-8 cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shown(value: Any) -> str:
    return "none" if value is None else repr(value)[:LONGEST]

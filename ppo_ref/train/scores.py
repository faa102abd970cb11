"""How much of the full score a response deserves: ready ways, and one of your own."""

import re
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from ppo_ref.train.tasks import Question, Score

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
COMMAS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")  # those of 1,234,567
FAILURES = Exception, SystemExit  # whatever a stranger's code may raise


def stated_sum(question: Question, response: str) -> float:
    """The right sum after the last =, and nothing else there.

    What stands before is not looked at, as with verl's rule for GSM8K, which reads the
    number behind ####.

    Example:
        >>> asked = Question("5+7=", "5+7=12")
        >>> [stated_sum(asked, text) for text in ("5+7=12", "9+9=12", "5+7= 12", "12")]
        [1.0, 1.0, 0.0, 0.0]
    """
    _, _, total = question.answer.rpartition("=")
    _, sign, stated = response.rpartition("=")
    return float(sign == "=" and stated == total)


def first_number(question: Question, response: str) -> float:
    """The response begins with the right number, blanks before it aside.

    Example:
        >>> asked = Question("5+7=", "12")
        >>> texts = "12", " 12.", "12.0", "it is 12", "123", "-12"
        >>> [first_number(asked, text) for text in texts]
        [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    """
    found = NUMBER.match(COMMAS.sub("", response.strip()))
    return float(found is not None and _same(found[0], question.answer))


def last_number(question: Question, response: str) -> float:
    """The last number of the response is the right one.

    Example:
        >>> asked = Question("5+7=", "12")
        >>> [last_number(asked, text) for text in ("5 + 7 is 12.", "12, not 13", "no")]
        [1.0, 0.0, 0.0]
    """
    found = NUMBER.findall(COMMAS.sub("", response))
    return float(bool(found) and _same(found[-1], question.answer))


def exact(question: Question, response: str) -> float:
    """The response is the answer, blanks around it aside.

    Example:
        >>> [exact(Question("?", "Paris"), text) for text in (" Paris", "Paris.")]
        [1.0, 0.0]
    """
    return float(response.strip() == question.answer.strip())


def pattern(question: Question, response: str) -> float:
    """The answer is a regular expression, and the whole response matches it.

    Example:
        >>> asked = Question("?", r"(the )?answer is \\d+\\.?")
        >>> [pattern(asked, text) for text in ("answer is 12", "answer is twelve")]
        [1.0, 0.0]
    """
    return float(re.fullmatch(question.answer, response.strip()) is not None)


READY: dict[str, Score] = {
    "stated-sum": stated_sum,
    "first-number": first_number,
    "last-number": last_number,
    "exact": exact,
    "pattern": pattern,
}


def score_named(name: str) -> Score:
    """A ready score by its name, or ``FILE.py:function``, whose code is then run.

    The function takes a ``Question`` and the text of a response that has ended, and
    returns a number from 0 to 1. Nothing that is not there, or not that, is taken: it
    is a ValueError, at the latest when it is asked for a score.
    """
    if name in READY:
        return READY[name]
    if not is_file(name):
        raise ValueError(
            f"score must be one of {', '.join(READY)}, or FILE.py:function, got {name}"
        )
    function = name.rpartition(":")[2]
    return _checked(name, _from_file(Path(file_of(name)), function))


def is_file(name: str) -> bool:
    """True if the name of a score is that of a function in a file."""
    path, _, function = name.rpartition(":")
    return name not in READY and path != "" and function != ""


def file_of(name: str) -> str:
    """The file in which such a function stands."""
    return name.rpartition(":")[0]


def _from_file(path: Path, function: str) -> Callable[..., object]:
    if not path.is_file():
        raise ValueError(f"score: {path} must be a file of Python, and is not there")
    spec = spec_from_file_location("score", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"score: {path} must be a file of Python, and end in .py")
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except FAILURES as error:
        reason = f"{type(error).__name__}: {error}"
        raise ValueError(f"score: {path} must run, got {reason}") from error
    found = getattr(module, function, None)
    if not callable(found):
        known = [name for name, it in vars(module).items() if callable(it)]
        names = ", ".join(known) or "no function"
        raise ValueError(f"score: {path} must hold {function}, but holds {names}")
    return found  # type: ignore[no-any-return]


def _checked(name: str, function: Callable[..., object]) -> Score:
    """A stranger's function, whose mistakes name it, the question and the response."""

    def score(question: Question, response: str) -> float:
        where = f"for the response {response!r} to {question.text!r}"
        try:
            given = function(question, response)
        except FAILURES as error:
            reason = f"{type(error).__name__}: {error}"
            raise ValueError(f"score: {name} must run, got {reason} {where}") from error
        # It is no number if it is nan, and a bool is one.
        if not (isinstance(given, int | float) and 0 <= given <= 1):
            raise ValueError(
                f"score: {name} must give a number from 0 to 1, got {given!r} {where}"
            )
        return float(given)

    return score


def _same(stated: str, answer: str) -> bool:
    """True if two texts are the same number, however it is written."""
    wanted = NUMBER.fullmatch(COMMAS.sub("", answer.strip()))
    return wanted is not None and float(stated) == float(wanted[0])

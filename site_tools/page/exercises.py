"""The exercises and the puzzle of a page: task lists of the answers that people give.

An exercise is a fold ``??? question`` with such a list, above which nothing but the
words of the question may stand; a puzzle is a box ``!!! question`` that ends with one.
An item is an answer and what there is to say to who gives it, marked ``[x]`` where it
is right. How the items begin says of which kind the answer is: a ``number`` is a bound
figure, a ``choice`` is bold, ``code`` is plain inline code.
"""

from collections.abc import Iterator
from typing import NamedTuple

from bs4 import Tag
from bs4.element import PageElement

TASK_LIST = "task-list"
EXERCISE, PUZZLE = "exercise", "puzzle"
PUZZLE_END = "next"  # the section in which a puzzle is come back to
BEFORE_HINT = " :：,，.。;；—–-\n"  # an answer and its hint


class GivenAnswer(NamedTuple):
    """One answer that people give."""

    item: Tag
    right: bool
    kind: str  # "" where the item begins with no answer
    shown: str
    hint: str


class Exercise(NamedTuple):
    """A list of answers, and the box it stands in."""

    place: str  # exercise, puzzle, or "" where it is neither
    box: Tag
    list: Tag
    answers: tuple[GivenAnswer, ...]

    @property
    def kind(self) -> str:
        """The kind of its first answer."""
        return self.answers[0].kind

    @property
    def can_judge(self) -> bool:
        """True if an answer can be found right or wrong by it, as no draft need be."""
        alike = {answer.kind for answer in self.answers} == {self.kind or None}
        return bool(self.place) and alike and any(a.right for a in self.answers)


def find_exercises(tree: Tag) -> Iterator[Exercise]:
    """Every task list of a page's tree, in order."""
    for found in tree.find_all(class_=TASK_LIST):
        box = found.parent
        assert box
        answers = tuple(map(_answer, found.find_all("li", recursive=False)))
        yield Exercise(_place_of(found, box), box, found, answers)


def _place_of(found: Tag, box: Tag) -> str:
    classes = box.get_attribute_list("class")
    parts = box.find_all(True, recursive=False)
    if "question" not in classes or found.name != "ul":
        return ""
    above = {part.name for part in found.find_previous_siblings()}
    if box.name == "details" and above <= {"summary", "p"}:
        return EXERCISE
    if "admonition" in classes and parts[-1] is found:
        return PUZZLE
    return ""


def _answer(item: Tag) -> GivenAnswer:
    mark, nodes = mark_and_words(item)
    kind = shown = ""
    if nodes and isinstance(nodes[0], Tag):
        kind, shown = _kind(nodes[0]), nodes[0].get_text()
    hint = "".join(node.get_text() for node in nodes[1:]).strip(BEFORE_HINT)
    right = mark is not None and mark.has_attr("checked")
    return GivenAnswer(item, right, kind if mark else "", shown, hint)


def mark_and_words(item: Tag) -> tuple[Tag | None, list[PageElement]]:
    """The box that is ticked or not, if there is one, and what stands behind it."""
    first = item.find(True, recursive=False)
    within = first if isinstance(first, Tag) and first.name == "p" else item
    nodes = [n for n in within.children if isinstance(n, Tag) or n.get_text().strip()]
    if nodes and isinstance(nodes[0], Tag) and nodes[0].name == "input":
        return nodes[0], nodes[1:]
    return None, nodes


def _kind(answer: Tag) -> str:
    if answer.name == "strong":
        return "choice"
    if answer.name != "code":
        return ""
    return "number" if answer.has_attr("data-is") else "code"

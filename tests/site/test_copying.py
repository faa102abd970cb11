"""What is copied from a block: its chain, and that it runs alone."""

from site_tools.page.page import Page
from site_tools.running import verdict
from site_tools.say import Problem
from tests.site.sample import page

CONT, RAISES = "{ .python .cont }", "{ .python .cont .raises }"


def blocks(*fences: str | tuple[str, str]) -> Page:
    """A page of fences; a bare text is a plain Python block."""
    pairs = [("python", f) if isinstance(f, str) else f for f in fences]
    text = "\n\n".join(f"```{info}\n{code}\n```" for info, code in pairs)
    read = page(text)
    assert read.problems == ()
    return read


def chain(*fences: str | tuple[str, str]) -> list[int]:
    """Which of the fences the last one brings along, by their place."""
    read = blocks(*fences)
    return [read.blocks.index(block) for block in read.copies[-1].chain]


def problems(*fences: str | tuple[str, str]) -> list[Problem]:
    verified = verdict.run(blocks(*fences))
    found = [verdict.check_block(verified, b) for b in verified.running]
    return [problem for problem in found if problem]


def test_a_chain_goes_back_to_the_last_block_that_runs_alone():
    fences = "a = 1", "b = 2", (CONT, "c = b"), (CONT, "assert c == 2")
    assert chain(*fences) == [1, 2, 3]
    assert blocks(*fences).copies[3].text == "b = 2\n\nc = b\n\nassert c == 2"


def test_a_block_that_raises_leaves_nothing_behind():
    fences = "a = 1", (RAISES, "a = 2\nassert a == 1"), (CONT, "print(a)")
    assert chain(*fences) == [0, 2]
    assert problems(fences[0], fences[1], ("output", "AssertionError:"))[1:] == []


def test_a_chain_that_misses_a_name_fails():
    (needless,) = problems((CONT, "x = 1"))
    assert needless.found == ".cont on a block that needs nothing of those above it"
    (problem,) = problems("x = 1", "y = 2", (CONT, "assert y\nassert x"))
    assert problem.found == (
        "copied, the code of lines 5, 9 ends with\nNameError: name 'x' is not defined"
    )
    assert problem.line == 11
    assert "alone and in a fresh process:\nno output" in problem.expected


def test_a_chain_that_prints_something_else_fails():
    seeded = "import random\nrandom.seed(0)"
    draws = "import random\nplaces = 3\nrandom.random()"
    last = (CONT, "print(round(random.random(), places))"), ("output", "0.758")
    assert problems(seeded, (CONT, draws), *last) == []
    (problem,) = problems(seeded, draws, *last)
    assert problem.expected.endswith("0.758")
    assert "a seed of its own" in problem.fix


def test_a_chain_runs_once_however_many_copies_begin_with_it():
    count = "with open('runs', 'a') as f:\n    f.write('x')\n    print(f.tell())"
    fences = "from __future__ import annotations", (CONT, count), (RAISES, "None.x")
    run = verdict.start(blocks(*fences, (CONT, "def f(x: later): pass\nf"))).wait()
    printed = [copy.printed for copy in run.copies]
    assert printed == ["", "1\n", "2\n", "1\n"]  # what raises has a process of its own
    assert [bool(copy.failure) for copy in run.copies] == [False, False, True, False]
    ended = ("a = 1", (CONT, "import os\nos._exit(0)"), (CONT, "a"))
    run = verdict.start(blocks(*ended)).wait()
    assert [bool(copy.failure) for copy in run.copies] == [False, True, True]


def test_what_is_wrong_above_is_told_once():
    fences = "a = 1\nprint(a)", ("output", "2"), (CONT, "print(a)"), ("output", "1")
    assert [p.line for p in problems(*fences)] == [7]

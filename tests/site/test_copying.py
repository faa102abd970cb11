"""What is copied from a block: its chain by names, and that it runs alone."""

import pytest

from site_tools.page.page import Page
from site_tools.problems import Problem
from site_tools.running import verdict
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


def test_a_plain_block_is_copied_as_it_stands() -> None:
    assert blocks("a = 1", "b = 2\n\nc = b").copies[1].text == "b = 2\n\nc = b"


def test_what_a_block_does_not_need_stays_behind() -> None:
    fences = "a = 1", "b = 2", (CONT, "assert a == 1")
    assert chain(*fences) == [0, 2]
    assert blocks(*fences).copies[2].text == "a = 1\n\nassert a == 1"


@pytest.mark.parametrize(
    ("above", "last", "needed"),
    [
        (["x = 1", "x = 2"], "x", [1, 2]),  # the latest that binds it
        (["x = 1", "x = 2"], "x = 3; x", [2]),  # it binds the name itself, first
        (["x = 1"], "x = x + 1", [0, 1]),
        (["x = 1", "if False: x = 2"], "x", [0, 1, 2]),  # perhaps it binds it
        (["x = 1", "for x in []: pass"], "x", [0, 1, 2]),
        (["with open('f') as x: y = 1", "z = 1"], "y", [0, 2]),
        (["import math", "import os.path"], "math.pi", [0, 2]),
        (["import math", "import os.path"], "os", [1, 2]),
        (["import math\nx = 1", "import math"], "math.pi + x", [0, 2]),
        (["import math\nx = 1", "import cmath as math"], "math.pi + x", [0, 1, 2]),
        (["def f(): return 1", "f2 = 0"], "f()", [0, 2]),
        (["class A: pass", "B = 0"], "A()", [0, 2]),
        (["T = 1", "U = 2"], "def f(): return T", [0, 2]),
        (["T = 1", "U = 2"], "f = lambda T: T + U", [1, 2]),
        (["T = 1", "U = 2"], "[U for T in range(2)]", [1, 2]),
        (["T = 1", "U = 2"], "def f(x=T) -> int: return x", [0, 2]),
        (["T = 1", "U = 2"], "class A:\n    def f(self): return U", [1, 2]),
        (["a = b = 1", "(c, *d), e = [1], 2"], "d", [1, 2]),
        (["a = 1", "print(b := 2)"], "b", [1, 2]),
        (["len = max", "x = 1"], "x", [1, 2]),
    ],
)
def test_the_chain_is_found_by_names(
    above: list[str], last: str, needed: list[int]
) -> None:
    assert chain(*above, (CONT, last)) == needed


def test_a_function_of_the_chain_reads_what_stands_when_it_is_called() -> None:
    base, rebinds = "T = 1\ndef f(): return T", "T = 2"
    assert chain(base, rebinds, "U = 3", (CONT, "f()")) == [0, 1, 3]
    at_once = "T = 1\nx = [T for _ in range(2)]"
    assert chain(at_once, rebinds, (CONT, "x")) == [0, 2]


def test_a_chain_has_links() -> None:
    links = "a = 1", (CONT, "b = a"), "c = 1", (CONT, "b")
    assert chain(*links) == [0, 1, 3]


@pytest.mark.parametrize(
    "change",
    [
        "a[0] = 9",
        "a.x = 9",
        "del a[0]",
        "a.append(1)",
        "b = a.add_(1)",
        "a += [1]",
        "import torch\ntorch.neg(a, out=a)",
        "for _ in a: update(a)",
    ],
)
def test_a_link_that_may_change_an_object_is_kept(change: str) -> None:
    base = "a = [1]\ndef update(x): pass"
    assert chain(base, (CONT, change), (CONT, "print(a)")) == [0, 1, 2]


def test_a_link_that_only_looks_stays_behind() -> None:
    looks = "b = a + [1]\nfor x in b:\n    print(x)\nassert a"
    assert chain("a = [1]", (CONT, looks), (CONT, "print(a)")) == [0, 2]


def test_an_object_of_another_chain_may_change_in_peace() -> None:
    fences = "a = [1]", "b = [1]", (CONT, "b.append(2)"), (CONT, "print(a)")
    assert chain(*fences) == [0, 3]


def test_a_block_that_raises_leaves_nothing_behind() -> None:
    fences = "a = 1", (RAISES, "a = 2\nassert a == 1"), (CONT, "print(a)")
    assert chain(*fences) == [0, 2]
    assert problems(fences[0], fences[1], ("output", "AssertionError:"))[1:] == []


def test_the_outputs_of_a_chain_are_joined() -> None:
    read = blocks(
        "a = 1\nprint(a)", ("output", "1"), (CONT, "print(a, 2)"), ("output", "1 2")
    )
    assert read.copies[2].states == "1\n1 2"


def test_a_session_is_copied_without_prompts() -> None:
    session = ">>> def f():\n...     return 1\n...\n>>> f()\n1\n>>> print(2)\n2"
    copy = blocks(("pycon", session)).copies[0]
    assert copy.text == "def f():\n    return 1\n\nf()\nprint(2)"
    assert copy.states == "2"
    assert problems(("pycon", session)) == []


def test_annotations_are_not_copied() -> None:
    text = "x = 1  # (1)!\ny = 2  # kept"
    assert blocks(("{ .python .annotate }", text)).copies[0].text == (
        "x = 1\ny = 2  # kept"
    )


def test_other_fences_are_copied_as_they_stand() -> None:
    reason = '{ .python .norun data-reason="four GPUs" }'
    for info in ("bash", "yaml", "text", reason):
        assert blocks((info, "a: b")).copies[0].text == "a: b"


def test_a_chain_that_misses_a_name_fails() -> None:
    hidden = "globals()['hidden'] = 3", (CONT, "assert hidden == 3")
    assert [p.found for p in problems("x = 1", *hidden)] == [
        ".cont on a block that needs nothing of those above it"
    ]
    (problem,) = problems("x = 1", hidden[0], (CONT, "assert x\nassert hidden == 3"))
    assert problem.found == (
        "copied, the code of lines 1, 9 ends with\n"
        "NameError: name 'hidden' is not defined"
    )
    assert problem.line == 11
    assert "alone and in a fresh process:\nno output" in problem.expected


def test_a_chain_that_prints_something_else_fails() -> None:
    seeded = "import random\nrandom.seed(0)\nplaces = 3"
    draws = "import random\nrandom.random()"
    last = (CONT, "print(round(random.random(), places))"), ("output", "0.758")
    assert problems(seeded, (CONT, "random.random()"), *last) == []
    (problem,) = problems(seeded, draws, *last)
    assert problem.found.endswith("0.844") and problem.expected.endswith("0.758")
    assert "a seed of its own" in problem.fix


def test_a_function_never_called_must_find_its_names_too() -> None:
    (problem,) = problems("def f(): return missing")
    assert "NameError: name 'missing' is not defined" in problem.found


def test_what_is_wrong_above_is_told_once() -> None:
    fences = "a = 1\nprint(a)", ("output", "2"), (CONT, "print(a)"), ("output", "1")
    assert [p.line for p in problems(*fences)] == [7]


def test_a_session_that_needs_the_blocks_above_fails() -> None:
    (problem,) = problems("a = 1", ("pycon", ">>> a\n1"))
    assert "NameError: name 'a' is not defined" in problem.found

"""Blocks that run: exceptions, seeds, limits, what they leave, and what is copied."""

import time
from contextlib import suppress
from pathlib import Path

import pytest
import torch

from site_tools.judge.all import check_run
from site_tools.judge.figures import check_figures
from site_tools.judge.outputs import check_block
from site_tools.messages import LANGUAGES, Problem
from site_tools.page.page import Page
from site_tools.run.block import FIRST_SEED, IN_ORDER
from site_tools.run.execution import RunningPage, run_page, start_pages
from site_tools.run.results import Failure, PageToRun, Source
from site_tools.run.worker import Running
from tests.site.sample import EN, ZH, broken, page


def judged(read: Page, seconds: float = 20) -> list[Problem]:
    assert read.problems == ()
    verified = run_page(read, seconds)
    found = [check_block(verified, b) for b in verified.running]
    return [problem for problem in found if problem]


def problems(text: str, seconds: float = 20, language: str = "en") -> list[Problem]:
    return judged(page(text, language), seconds)


# What contributors get wrong most is in tests/contributing/mistakes.yml.


def test_a_block_that_raises_for_another_reason_is_a_problem():
    (problem,) = problems(broken("assert total == 3", "assert totl == 3"))
    assert problem.found == "NameError: name 'totl' is not defined"
    assert problem.expected.endswith("states: AssertionError: got 2")


def test_an_unseeded_draw_is_told_even_where_the_page_shows_what_it_printed():
    draw = "import torch\ntotal = 2\nprint(int(torch.rand(()) * 10**6))"
    old = 'total = 1 + 1\nprint("total", total)'
    for text, lang in ((EN, "en"), (ZH, "zh")):
        drawn = broken(old, draw, text)
        shown = problems(drawn, language=lang)[0].found
        alone = FIRST_SEED + LANGUAGES.index(lang)
        alone_and_in_order = []
        for seed in (alone, alone + IN_ORDER):
            torch.manual_seed(seed)
            alone_and_in_order.append(int(torch.rand(()) * 10**6))
        there, here = alone_and_in_order
        assert shown == (
            "random numbers from the generator of torch, which the block has not "
            f'seeded; line 1 of what it prints is in one run "{here}", '
            f'in the other "{there}"'
        )
        for printed in (here, there):
            as_printed = drawn.replace("total 2", str(printed))
            assert problems(as_printed, language=lang)[0].found == shown


def test_a_block_that_hangs_is_stopped_and_the_rest_is_not_run():
    text = broken("total = 1 + 1", "while True: pass")
    first, second = problems(text, seconds=0.5)
    assert first.found == (
        "TimeLimit: a timeout: this block ran longer than 0.5 s, and was stopped"
    )
    assert "NotRun: a block above did not end" in second.expected


def test_a_value_must_be_one_number():
    sources = [Source("import torch\nx = torch.ones(2)\ny = True")]
    both = (
        Running(PageToRun(sources, ["x", "y", "x[0]", "x.sum()"]))
        .wait()
        .values.values()
    )
    assert [str(v.message) if isinstance(v, Failure) else v for v in both] == [
        "the expression must give one number, got a tensor of 2 numbers",
        "the expression must give one number, got bool",
        1.0,
        2.0,
    ]


def test_a_block_does_not_see_what_another_did_to_its_modules():
    meddle = Source("import math\nmath.pi = 3")
    alone = Source("import math\nassert math.pi > 3.1, 'meddled'")
    results = Running(PageToRun([meddle, alone])).wait().results
    assert results[1].failure is not None  # seen, since the page runs in order too
    raising = Source("import math\nmath.pi = 3\nassert 0", raises=True)
    results = Running(PageToRun([raising, alone])).wait().results
    assert results[1].failure is None


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc to ask")
def test_no_process_and_no_folder_of_a_page_outlives_its_run():
    where = Source("import os\nprint(os.getppid(), os.getcwd())")
    hangs = Source("while True: pass")
    first, second = Running(PageToRun([where, hangs], seed=0, seconds=1)).wait().results
    assert second.failure and second.failure.type == "TimeLimit"
    watcher, folder = first.printed.split()
    assert not Path(folder).exists()
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # gone since
            assert file.read_text().rpartition(")")[2].split()[1] != watcher


def found(*fences: str | tuple[str, str]) -> list[tuple[str, str]]:
    """The key of each problem of some fences, and what was found."""
    keys = []
    for problem in of_fences(*fences):
        keys.append((problem.message.key, problem.found))
    return keys


def test_no_clock_is_seen():
    for now in (
        "import time; print(time.gmtime(time.time()).tm_year)",
        "import time; print(time.strftime('%Y'))",
        "import datetime; print(datetime.date.today().year)",
        "from datetime import datetime; print(datetime.now().year)",
    ):
        keys = [words for _, words in found(now)]
        assert keys and keys[0].startswith("line 1 of what it prints is in one run"), (
            now
        )
    assert "in one run" not in str(
        found("import datetime; print(datetime.date(1, 2, 3))")
    )


def test_no_hash_of_a_text_is_seen():
    ((_, words),) = found("print(hash('a') != 0, hash('a'))")
    assert words.startswith('line 1 of what it prints is in one run "True ')


def test_an_assertion_that_fails_in_one_run_says_so():
    soon = int(time.time()) + 86_400  # the other clock is months ahead
    (told,) = found(f"import time\nassert time.time() < {soon}")
    assert told[0] == "block_fails_once"
    assert told[1].startswith("in one of two runs AssertionError: assert time.time()")


def test_a_wrong_answer_that_fails_by_chance_is_told():
    raising = ("{ .python .raises }", "import random\nraise KeyError(random.random())")
    ((_, words),) = found(raising, ("output", "KeyError: 0.5"))
    assert words.startswith("random numbers from the generator of random, which")


# What is copied from a block: its chain, and that it runs alone.

CONT, RAISES = "{ .python .cont }", "{ .python .cont .raises }"


def blocks(*fences: str | tuple[str, str]) -> Page:
    """A page of fences; a bare text is a plain Python block."""
    pairs = [("python", f) if isinstance(f, str) else f for f in fences]
    text = "\n\n".join(f"```{info}\n{code}\n```" for info, code in pairs)
    return page(text)


def of_fences(*fences: str | tuple[str, str]) -> list[Problem]:
    return judged(blocks(*fences))


def chain(*fences: str | tuple[str, str]) -> list[int]:
    """Which of the fences the last one brings along, by their place."""
    read = blocks(*fences)
    return [read.blocks.index(block) for block in read.copies[-1].chain]


def test_a_chain_goes_back_to_the_last_block_that_runs_alone():
    fences = "a = 1", "b = 2", (CONT, "c = b"), (CONT, "assert c == 2")
    assert chain(*fences) == [1, 2, 3]
    assert blocks(*fences).copies[3].text == "b = 2\n\nc = b\n\nassert c == 2"


def test_a_block_that_raises_leaves_nothing_behind():
    fences = "a = 1", (RAISES, "a = 2\nassert a == 1"), (CONT, "print(a)")
    assert chain(*fences) == [0, 2]
    assert of_fences(fences[0], fences[1], ("output", "AssertionError:"))[1:] == []


def test_a_chain_that_misses_a_name_fails():
    (needless,) = of_fences((CONT, "x = 1"))
    assert needless.found == ".cont on a block that needs nothing of those above it"
    (problem,) = of_fences("x = 1", "y = 2", (CONT, "assert y\nassert x"))
    assert problem.found == (
        "copied, the code of lines 5, 9 ends with\nNameError: name 'x' is not defined"
    )
    assert problem.line == 11
    assert "alone and in a fresh process:\nno output" in problem.expected


def test_a_chain_that_prints_something_else_fails():
    meddles = "import math\nmath.tau = 3"
    reads = "import math\nplaces = 3"
    last = (CONT, "print(round(math.tau, places))"), ("output", "3")
    assert of_fences(meddles, (CONT, reads), *last) == []
    (problem,) = of_fences(meddles, reads, *last)
    assert problem.expected.endswith("\n3")
    assert "a seed of its own" in problem.fix


def test_a_chain_runs_once_however_many_copies_begin_with_it():
    told = "import os\nprint(os.getpid())"
    fences = "from __future__ import annotations", (CONT, told), (RAISES, "None.x")
    run = RunningPage(blocks(*fences, (CONT, "def f(x: later): pass\nf"))).verified.run
    first, second, raises, last = (copy.printed for copy in run.copies)
    assert (first, second) == ("", last) and len(last.split()) == 1
    assert len(raises.split()) == 1 and raises != last  # it has a process of its own
    assert [bool(copy.failure) for copy in run.copies] == [False, False, True, False]
    ended = ("a = 1", (CONT, "import os\nos._exit(0)"), (CONT, "a"))
    run = RunningPage(blocks(*ended)).verified.run
    assert [bool(copy.failure) for copy in run.copies] == [False, True, True]


def test_what_is_wrong_above_is_told_once():
    fences = "a = 1\nprint(a)", ("output", "2"), (CONT, "print(a)"), ("output", "1")
    assert [p.line for p in of_fences(*fences)] == [7]


# A pair's languages share the run.


def pair(zh: str, en: str) -> list[RunningPage]:
    """Both languages of a page, set running together."""
    return start_pages([page(zh, "zh"), page(en, "en")])


def test_a_pair_whose_blocks_are_the_same_runs_once():
    zh, en = pair(ZH, EN)
    assert en.verified.run is zh.verified.run and not zh.verified.run.drew
    zh, en = pair(ZH, broken("total = 1 + 1", "total = 1 * 2"))
    assert en.verified.run is not zh.verified.run


def test_a_figure_that_hangs_on_an_unseeded_draw_is_found():
    """No output shows it, and what one seed gives is what the page says."""
    draw = 'import torch\ntotal = 2\nprint("total", total)\nx = torch.rand(())'
    old = 'total = 1 + 1\nprint("total", total)'
    asked = PageToRun([Source(draw)], ["float(x)"], [0], seed=LANGUAGES.index("zh"))
    run = Running(asked).wait()
    for values in (run.values, run.elsewhere):
        figure = f'`{values["float(x)"]:.4f}`{{ data-is="float(x)" }}'
        texts = [f"{broken(old, draw, text)}\n{figure}\n" for text in (ZH, EN)]
        zh, en = pair(*texts)
        assert zh.verified.run.drew and en.verified.run is not zh.verified.run
        (problem,) = check_figures(zh.verified)
        assert problem.message.key == "figure_varies"
        for value in (run.values, run.elsewhere):
            assert str(value["float(x)"]) in problem.found
        (problem,) = check_figures(en.verified)
        assert problem.message.key == "figure_differs"


def test_a_block_that_seeds_its_own_draws_may_draw():
    draw = 'import torch\ntotal = 2\nprint("total", total)\ntorch.manual_seed(3)'
    old = 'total = 1 + 1\nprint("total", total)'
    for each in pair(broken(old, draw, ZH), broken(old, draw, EN)):
        assert check_run(each.verified) == []

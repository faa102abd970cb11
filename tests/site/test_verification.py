"""Blocks that run: exceptions, seeds, limits, and what they leave behind."""

from contextlib import suppress
from pathlib import Path

import pytest
import torch

from site_tools.running import verdict
from site_tools.running.results import Failure, PageToRun, Source
from site_tools.running.worker import Running
from site_tools.say import LANGUAGES, Problem
from tests.site.sample import EN, ZH, broken, page


def problems(text: str, seconds: float = 20, language: str = "en") -> list[Problem]:
    read = page(text, language)
    assert read.problems == ()
    verified = verdict.run(read, seconds)
    found = [verdict.check_block(verified, b) for b in verified.running]
    return [problem for problem in found if problem]


# What contributors get wrong most is in tests/contributing/mistakes.yml.
def test_a_block_that_ends_its_process_is_named():
    problem = problems(broken("total = 1 + 1", "import os; os._exit(0)"))[0]
    assert problem.found == "ProcessEnded: the block ended its process"


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
        assert shown.startswith("Unseeded: with another seed it prints\n")
        torch.manual_seed(LANGUAGES.index(lang))
        as_printed = drawn.replace("total 2", str(int(torch.rand(()) * 10**6)))
        assert as_printed != drawn
        assert problems(as_printed, language=lang)[0].found == shown


def test_a_block_that_hangs_is_stopped_and_the_rest_is_not_run():
    text = broken("total = 1 + 1", "while True: pass")
    first, second = problems(text, seconds=0.5)
    assert first.found == "TimeLimit: stopped after 0.5 s"
    assert "NotRun: a block above did not end" in second.expected


def test_a_value_must_be_one_number():
    sources = [Source("import torch\nx = torch.ones(2)\ny = True")]
    both = Running(PageToRun(sources, ["x", "y", "x[0]", "x.sum()"])).wait().values
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

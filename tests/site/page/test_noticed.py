"""An assertion by which no change of the code is noticed is refused."""

import pytest

from site_tools.judge.noticed import check_noticed, check_refutations
from site_tools.page.page import Page, read_page
from site_tools.run.mutants import ChangedCode
from tests.layout import ROOT
from tests.record_assertions import LONG, pages
from tests.site.sample import page

CODE = "import torch\n\nx = torch.tensor([1.0, 2.0])\nmean = x.mean()\n"


def of(*blocks: str) -> Page:
    """A page with these blocks, each going on from the one above."""
    first, *others = blocks
    text = f"---\ntitle: T\n---\n\n```python\n{first}\n```\n"
    for other in others:
        text += f"\n```{{ .python .cont }}\n{other}\n```\n"
    return page(text)


@pytest.mark.parametrize(
    "claim",
    [
        "assert mean > -100",
        "assert mean.numel() >= 1",
        "assert x.shape == (2,)",
        "assert mean == mean.clone()",
    ],
)
def test_an_assertion_that_holds_through_all_changes_is_refused(claim):
    (problem,) = check_noticed(of(CODE + claim), LONG)
    assert problem.message.key == "assertion_unnoticed"
    assert problem.line == 10
    said = str(problem)
    assert claim in said and "in place of" in said and "alignment/sample.md:" in said


@pytest.mark.parametrize(
    "claim",
    [
        "assert mean == 1.5",
        "assert mean.allclose(x[1] - 0.5)",
        "assert not mean > 1.6",
        "for y in x:\n    assert abs(y - mean) == 0.5",
    ],
)
def test_an_assertion_that_a_change_makes_fail_is_not(claim):
    assert check_noticed(of(CODE + claim), LONG) == []


def test_a_function_that_a_later_block_calls_is_tried_there():
    asserts = CODE + "\ndef f(n):\n    assert n == 1.5"
    assert check_noticed(of(asserts, "f(mean)"), LONG) == []
    (problem,) = check_noticed(of(asserts, "print(mean)"), LONG)
    assert problem.line == 12


def test_an_assertion_before_which_nothing_can_be_changed_is_told():
    (problem,) = check_noticed(of("import math\n\nassert math.isfinite(math.pi)"))
    assert problem.message.key == "assertion_alone"


@pytest.mark.parametrize(
    "claim",
    [
        "rows = []\nfor y in rows:\n    assert y == 5",
        "if mean == 5:\n    assert mean == 5",
        "def f():\n    assert mean == 5\n\nif mean == 5:\n    f()",
    ],
)
def test_an_assertion_that_is_never_reached_is_refused(claim):
    (problem,) = check_noticed(of(CODE + claim), LONG)
    assert problem.message.key == "assertion_unreached"


RAISES = "{ .python .raises }"


@pytest.mark.parametrize(
    ("claim", "key"),
    [
        ("assert mean == 1, 'A'", None),
        ("assert mean == 1, 'A'\nprint(mean.missing)", "refutation_breaks"),
        ("assert mean == 1, 'A'\nassert mean == 2, 'B'", "refutation_several"),
        ("assert mean == 1.5\nassert mean == 1, 'A'", None),
    ],
)
def test_a_block_meant_to_fail_does_so_on_one_assertion_alone(claim, key):
    block = f"```{RAISES}\n{CODE}{claim}\n```\n\n```output\nAssertionError: A\n```\n"
    problems = check_refutations(page(f"---\ntitle: T\n---\n\n{block}"))
    assert [each.message.key for each in problems] == ([key] if key else [])


def test_what_takes_too_long_is_stopped_and_not_judged():
    assert check_noticed(of(CODE + "assert mean > -100"), 0.0) == []
    endless = "n = 1\nwhile n < 1:\n    n += 0\nassert n == 1"  # once n starts at 0
    assert check_noticed(of(endless), LONG) == []
    weak = "n = 1\nwhile n < 1:\n    n += 0\nassert n > -9"
    assert check_noticed(of(weak), LONG) == []


def test_a_change_is_of_the_code_and_not_of_what_it_is_compared_with():
    code = ChangedCode("x = 2\nassert x == 2\n")
    assert {(change.was, change.now) for change in code.changes(0)} == {
        ("2", "3"),
        ("2", "1"),
    }
    assert all(change.line == 1 for change in code.changes(0))


def test_each_kind_of_change_is_tried():
    code = ChangedCode("y = -a.sum() * b[0]\nz = y < 1 and c\nassert z\n")
    changed = {change.now for change in code.changes(0)}
    assert {"a.mean", "+a.sum()", "-a.sum() / b[0]", "y >= 1", "y < 1 or c"} <= changed
    assert {"1", "-1", "2", "0"} <= changed


def test_a_statement_a_call_and_an_inversion_are_left_out():
    code = ChangedCode("f(a, b)\nc = float(a.clone()[~d])\nassert c == 2\n")
    changed = {(change.was, change.now) for change in code.changes(0)}
    assert changed == {
        ("f(a, b)", "pass"),
        ("float(a.clone()[~d])", "a.clone()[~d]"),
        ("a.clone()", "a"),
        ("~d", "d"),
    }


@pytest.mark.parametrize(
    "claim",
    [
        "assert not x.equal(y)",
        "assert not (2 * x).allclose(y)",
        "assert x[0] != y[0]",
        "assert not y[~mask].any()",
    ],
)
def test_a_claim_of_difference_is_asked_of_one_thing_and_itself(claim):
    code = CODE + "y = 3 * x\nmask = x > 0\n" + claim
    assert check_noticed(of(code), LONG) == []


def test_a_copy_that_no_assertion_misses_is_seen_by_one_that_does():
    code = "import torch\n\na = torch.zeros(2)\nb = a.clone()\na += 1\n"
    assert check_noticed(of(code + "assert b.equal(torch.zeros(2))"), LONG) == []


@pytest.mark.slow
def test_each_assertion_of_the_site_notices_a_change():
    found = []
    for path in pages(ROOT):
        found += check_noticed(read_page(ROOT, path), LONG)
    assert found == []


@pytest.mark.slow
def test_each_block_that_is_meant_to_fail_does_so_on_one_assertion_alone():
    found = []
    for path in pages(ROOT):
        found += check_refutations(read_page(ROOT, path))
    assert found == []

"""Assertions that cannot fail are named by their form; those that can are left."""

import pytest

from site_tools.judge.all import RULES
from site_tools.judge.assertions import check_assertions
from tests.site.sample import EN, page

BEGINNING = "import contextlib\nimport torch\n\nx = torch.ones(3)\nn = 0.6\n"
IDLE = {
    "assert True": "decided",
    "assert 1 == 1": "decided",
    "assert not 0": "decided",
    "assert 'no error'": "decided",
    "assert (n == 0.7, 'a tuple')": "decided",
    "assert f'{n}'": "decided",
    "assert n == n": "itself",
    "assert torch.allclose(x, x)": "itself",
    "assert x.equal(x)": "itself",
    "assert (x == x).all()": "itself",
    "torch.testing.assert_close(x, x)": "itself",
    "assert all(y == y for y in x)": "itself",
    "assert n == 0.7 or True": "or holds",
    "assert n == 0.7 or n == n": "or holds",
    "assert n == 0.6 and True": "as it is written",
    "def f():\n    return n\n\nassert f": "call it",
    "assert lambda: n == 0.7": "call it",
    "assert (x == 2).all": "call it",
    "try:\n    assert n == 0.7\nexcept AssertionError:\n    pass": "caught",
    "try:\n    assert n == 0.7\nexcept (ValueError, Exception):\n    ...": "caught",
    "try:\n    assert n == 0.7\nexcept:\n    pass": "caught",
    "with contextlib.suppress(AssertionError):\n    assert n == 0.7": "caught",
    "for y in []:\n    assert y == 0.7": "nothing is run",
    "for y in range(0):\n    assert y == 0.7": "nothing is run",
    "if False:\n    assert n == 0.7": "nothing is run",
    "while 0:\n    assert n == 0.7": "nothing is run",
    "assert all(y == 2 for y in ())": "nothing is run",
    "with pytest.raises(Exception):\n    print(n)": "any exception",
    "assert x is not None": "what a thing is",
    "assert isinstance(n, float)": "what a thing is",
    "assert abs(n) >= 0": "never negative",
    "assert len(x) > -1": "never negative",
    "assert 0 <= n**2": "never negative",
    "assert torch.allclose(x, 2 * x, rtol=1)": "tolerance",
    "assert x.allclose(2 * x, atol=torch.inf)": "tolerance",
    "def f():\n    assert n == 0.7": "calls the function",
    "assert torch.allclose(x, 2 * x, rtol=0.9)": "tolerance",
    "try:\n    assert n == 0.7\nexcept AssertionError:\n    ok = False": "caught",
    "ys = []\nassert all(y == 2 for y in ys)": "nothing is run",
    "ys = {}\nfor y in ys:\n    assert y == 2": "nothing is run",
    "assert hasattr(x, 'shape')": "what a thing is",
}
SOUND = (
    "assert n == 0.6",
    "assert x.equal(torch.ones(3))",
    "assert 0.1 + 0.2 != 0.3",
    "assert abs(n) >= 0.5",
    "torch.testing.assert_close(x, torch.ones(3))",
    "assert x.allclose(x + 1e-6, atol=1e-5)",
    "assert n == 0.6 or n == 0.7",
    "assert x.allclose(x * 1.1, rtol=0.2)",
    "assert not hasattr(x, 'values')",
    "ys = []\nys += [1]\nassert all(y == 1 for y in ys)",
    "ys = []\nys.append(1)\nfor y in ys:\n    assert y == 1",
    "try:\n    assert n == 1\nexcept AssertionError:\n    ok = False\nprint(ok)",
    "assert (n == 0.6) is True",
    "assert all(y == 1 for y in x)",
    "def f():\n    assert n == 0.6\n\nf()",
    "for y in [n]:\n    assert y == 0.6",
    "if n:\n    assert n == 0.6\nelse:\n    print(1)",
    "try:\n    assert n == 0.6\nexcept AssertionError as error:\n    print(error)",
    "try:\n    n = 1 / n\nexcept ZeroDivisionError:\n    pass\nassert n > 1",
)


def said_of(code, info="python"):
    """What is said of the assertions of a page with this block at its end."""
    text = f"{EN}\n```{info}\n{BEGINNING}{code}\n```\n"
    return [*check_assertions(page(text))]


@pytest.mark.parametrize("code", IDLE)
def test_an_assertion_that_cannot_fail_is_named_with_its_form(code):
    (problem,) = said_of(code)
    assert IDLE[code] in problem.expected
    assert problem.found in map(str.strip, code.splitlines())


@pytest.mark.parametrize("code", SOUND)
def test_an_assertion_that_can_fail_is_left_alone(code):
    assert said_of(code) == []


def test_a_function_that_a_later_block_calls_is_called():
    later = "```\n\n```{ .python .cont }\nf()"
    assert said_of(f"def f():\n    assert n == 0.6\n{later}") == []


def test_what_does_not_run_asserts_nothing():
    assert said_of("assert True", '{ .python .norun data-reason="a GPU" }') == []


def test_every_page_is_asked():
    assert check_assertions in RULES

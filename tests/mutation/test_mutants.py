"""What counts as a mutant, and how it is told."""

import pytest

pytest.importorskip("cosmic_ray", reason="cosmic-ray is not here: make mutation")

from tests.mutation.mutants import mutants

SOURCE = '''"""Doubles 2 + 2."""

def double(x: int | None) -> float:
    """Add 1 + 1."""
    return x * 2
'''


def changes(source: str) -> list[tuple[int, str]]:
    return [(mutant.line, mutant.change) for mutant in mutants(source)]


def test_every_operator_and_number_is_changed_and_no_docstring():
    of_code = [change for line, change in changes(SOURCE) if line == 5]
    wanted = ["x + 2", "x - 2", "x / 2", "x // 2", "x % 2", "x ** 2", "x * 3", "x * 1"]
    assert sorted(of_code) == sorted(f"return x * 2 -> return {new}" for new in wanted)
    assert {line for line, _ in changes(SOURCE)} == {3, 5}


def test_a_mutant_is_the_module_with_one_line_changed():
    for mutant in mutants(SOURCE):
        old, new = SOURCE.splitlines(), mutant.text.splitlines()
        differing = [
            n
            for n, pair in enumerate(zip(old, new, strict=True), 1)
            if pair[0] != pair[1]
        ]
        assert differing == [mutant.line]


def test_what_is_no_python_is_no_mutant():
    """A star alone in a signature is no product."""
    assert changes("def f(*, a, b):\n    return a\n") == []


def test_what_does_the_same_is_no_mutant():
    """Python evaluates annotations of arguments, and none of a local variable."""
    assert changes("def f():\n    x: int | None = g()\n    return x\n") == []
    assert changes("def f(x: int | None):\n    return x\n") != []
    assert changes("x = 1\n") == [(1, "x = 1 -> x = 2"), (1, "x = 1 -> x = 0")]


def test_a_decorator_goes_and_a_condition_turns():
    source = "@checked\ndef f(x):\n    if x > 0:\n        pass\n"
    found = [change for _, change in changes(source)]
    assert "@checked -> " in found
    assert "if x > 0: -> if not x > 0:" in found
    assert "if x > 0: -> if x >= 0:" in found

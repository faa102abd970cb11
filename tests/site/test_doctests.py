"""The examples in the docstrings of site_tools are true."""

import doctest
import importlib
import pkgutil
from types import ModuleType

import pytest

import site_tools

MODULES = [
    module.name for module in pkgutil.walk_packages(site_tools.__path__, "site_tools.")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_give_what_they_say(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples() -> None:
    modules = map(importlib.import_module, MODULES)
    assert sum(doctest.testmod(module).attempted for module in modules) > 20


def test_a_wrong_example_is_seen() -> None:
    wrong = ModuleType("wrong", ">>> 1 + 1\n3\n")
    assert doctest.testmod(wrong, report=False).failed == 1

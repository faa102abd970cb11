"""Every public function says what it is, takes, gives and refuses, and shows a run."""

import ast
import doctest
import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import NoReturn

import pytest
import torch

from tests.layout import FOLDERS, MODULES, SOURCES

SECTIONS = ["Args", "Returns", "Raises", "Source", "Example"]
# Nobody calls these from outside the package: one true sentence is enough.
INSIDE = (
    *("chart", "command", "dump", "inside_verl", "pretrained"),
    *("asserts.faults", "asserts.probing"),
)


def public_functions() -> Iterator[tuple[str, FunctionType]]:
    for name in MODULES:
        module = importlib.import_module(f"ppo_ref.{name}")
        for attribute, value in vars(module).items():
            own = getattr(value, "__module__", None) == module.__name__
            if own and inspect.isfunction(value) and not attribute.startswith("_"):
                yield f"{name}.{attribute}", value


def public_methods() -> Iterator[tuple[str, FunctionType]]:
    for name in MODULES:
        module = importlib.import_module(f"ppo_ref.{name}")
        for owner in vars(module).values():
            own = getattr(owner, "__module__", None) == module.__name__
            if not (own and inspect.isclass(owner)):
                continue
            for attribute, value in vars(owner).items():
                value = value.__func__ if isinstance(value, staticmethod) else value
                if inspect.isfunction(value) and not attribute.startswith("_"):
                    yield f"{name}.{owner.__name__}.{attribute}", value


def public_classes() -> Iterator[tuple[str, type]]:
    for name in MODULES:
        module = importlib.import_module(f"ppo_ref.{name}")
        for attribute, value in vars(module).items():
            own = getattr(value, "__module__", None) == module.__name__
            if own and inspect.isclass(value) and not attribute.startswith("_"):
                yield f"{name}.{attribute}", value


def raising_functions(sources: dict[str, str]) -> set[str]:
    """``module.function`` for each one that raises, or calls one that does."""
    raising, calls = set(), {}
    for module, source in sources.items():
        tree = ast.parse(source)
        origin = {
            alias.name: str(node.module).removeprefix("ppo_ref.")
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        for function in tree.body:
            if not isinstance(function, ast.FunctionDef):
                continue
            name, nodes = f"{module}.{function.name}", list(ast.walk(function))
            if any(isinstance(node, ast.Raise) for node in nodes):
                raising.add(name)
            calls[name] = {
                f"{origin.get(node.func.id, module)}.{node.func.id}"
                for node in nodes
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            }
    while more := {name for name in calls.keys() - raising if calls[name] & raising}:
        raising |= more
    return raising


def sections(doc: str) -> dict[str, str]:
    """Section title to text; what stands before the first has the title ''."""
    parts = re.split(r"^([A-Z]\w+):$", inspect.cleandoc(doc), flags=re.MULTILINE)
    return dict(zip(["", *parts[1::2]], parts[::2], strict=True))


def docstring_faults(function: Callable[..., object], raises: bool) -> list[str]:
    """What a docstring lacks, or says too much, as short sentences."""
    found = sections(function.__doc__ or "")
    summary, *rest = found[""].splitlines() or [""]
    signature = inspect.signature(function)
    documented = re.findall(r"^    (\w+): ", found.get("Args", ""), flags=re.MULTILINE)
    parameters = [name for name in signature.parameters if name != "self"]
    returns = signature.return_annotation not in (None, NoReturn)
    checks = {
        "the first line must be a sentence that ends with a period": (
            summary.endswith(".") and summary[0].isupper()
        ),
        "the first line must stand alone": not rest or rest[0] == "",
        "say what it is, not 'This function'": "This function" not in found[""],
        f"sections must come from {SECTIONS}, in this order": (
            [*found][1:] == [title for title in SECTIONS if title in found]
        ),
        f"Args must be {parameters}, got {documented}": documented == parameters,
        "Returns must stand if and only if something returns": (
            ("Returns" in found) == returns
        ),
        "Raises must stand if and only if something raises": (
            ("Raises" in found) == raises
        ),
        "Example must show a run": ">>> " in found.get("Example", ""),
    }
    return [fault for fault, holds in checks.items() if not holds]


def example_failures(name: str, function: Callable[..., object]) -> tuple[int, str]:
    """How many lines ran, and the report of those that printed something else."""
    names = {**vars(inspect.getmodule(function)), "torch": torch}
    parser, report = doctest.DocTestParser(), []
    test = parser.get_doctest(function.__doc__ or "", names, name, None, 0)
    runner = doctest.DocTestRunner(verbose=False)
    results = runner.run(test, out=report.append, clear_globs=False)
    return results.attempted, "".join(report)


FUNCTIONS = dict(public_functions())
METHODS = dict(public_methods())
CLASSES = dict(public_classes())
RAISING = raising_functions(SOURCES)


def test_all_modules_with_functions_are_seen():
    with_functions = {
        name
        for name in MODULES
        for node in ast.parse(SOURCES[name]).body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    }
    assert {name.rpartition(".")[0] for name in FUNCTIONS} == with_functions


def is_inside(name: str) -> bool:
    """Whether a sentence is enough, as ``INSIDE`` says."""
    return any(name.startswith(f"{inside}.") for inside in INSIDE)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_docstring_is_complete(name):
    faults = docstring_faults(FUNCTIONS[name], raises=name in RAISING)
    if is_inside(name):
        faults = [fault for fault in faults if fault.startswith("the first line must")]
    assert faults == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_example_prints_what_it_shows(name):
    attempted, report = example_failures(name, FUNCTIONS[name])
    assert attempted > 0 or is_inside(name)
    assert report == ""


@pytest.mark.parametrize("name", CLASSES)
def test_the_example_of_a_class_prints_what_it_shows(name):
    _, report = example_failures(name, CLASSES[name])
    assert report == ""


@pytest.mark.parametrize("name", METHODS)
def test_docstring_of_a_method_is_complete(name):
    """What it raises is not followed through objects; an example is a courtesy."""
    faults = docstring_faults(METHODS[name], "Raises:" in METHODS[name].__doc__)
    if is_inside(name):
        faults = [fault for fault in faults if fault.startswith("the first line must")]
    assert set(faults) <= {"Example must show a run"}
    _, report = example_failures(name, METHODS[name])
    assert report == ""


@pytest.mark.parametrize("name", [*MODULES, *sorted(FOLDERS)])
def test_modules_and_classes_have_a_first_line(name):
    module = importlib.import_module(f"ppo_ref.{name}")
    classes = [
        value
        for value in vars(module).values()
        if inspect.isclass(value) and value.__module__ == module.__name__
    ]
    for thing in (module, *classes):
        assert inspect.cleandoc(thing.__doc__).splitlines()[0].endswith(".")


def complete(x: int) -> int:
    """Double a number.

    Args:
        x: Any number.

    Returns:
        Twice the number.

    Example:
        >>> complete(2)
        4
    """
    return 2 * x


PLANTED = {
    ("a number.", "a number"): "ends with a period",
    ("Double a number.", "double a number."): "ends with a period",
    ("Double a number.\n", "Double a number.\nTwice.\n"): "must stand alone",
    ("Double", "This function doubles"): "'This function'",
    ("    x: Any", "    y: Any"): r"Args must be \['x'\], got \['y'\]",
    ("    x: Any number.\n", ""): r"Args must be \['x'\], got \[\]",
    ("Returns", "Yields"): "sections must come from",
    ("Returns:\n    Twice the number.\n", ""): "Returns must stand",
    ("Example:", "Raises:\n    E: no.\n\nExample:"): "Raises must",
    ("Args:", "Example:\n    >>> 1\n\nArgs:"): "in this order",
    (">>> ", ""): "Example must show a run",
}


@pytest.mark.parametrize(("old", "new"), PLANTED)
def test_planted_faults_are_found(old, new):
    assert docstring_faults(complete, raises=False) == []
    # Python 3.13 takes the indentation away itself.
    plain = inspect.cleandoc(complete.__doc__)
    assert old in plain
    planted = FunctionType(complete.__code__, globals())
    planted.__annotations__ = complete.__annotations__
    planted.__doc__ = plain.replace(old, new, 1)
    faults = docstring_faults(planted, raises=False)
    assert re.search(PLANTED[old, new], "; ".join(faults))


def test_a_missing_raises_section_is_found():
    (fault,) = docstring_faults(complete, raises=True)
    assert fault == "Raises must stand if and only if something raises"


def test_raising_is_followed_through_calls_and_modules():
    sources = {
        "low": "def check():\n    raise ValueError\ndef calm(): pass",
        "high": "from ppo_ref.low import calm, check\n"
        "def _inner(): check()\ndef outer(): _inner()\ndef quiet(): calm()",
        "folder.top": "from ppo_ref.high import outer, quiet\n"
        "def all(): outer()\ndef none(): quiet()",
    }
    raising = {"low.check", "high._inner", "high.outer", "folder.top.all"}
    assert raising_functions(sources) == raising


def test_a_wrong_example_is_found():
    def wrong():
        """Nothing.

        Example:
            >>> 1 + 1
            3
        """

    attempted, report = example_failures("wrong", wrong)
    assert attempted == 1
    assert "Expected:\n    3\nGot:\n    2" in report

"""Runs a module's own tests in this process, the quick ones first."""

import doctest
import gc
import inspect
import io
import os
from collections.abc import Iterable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from types import ModuleType

import pytest
import torch
from hypothesis import given, is_hypothesis_test, settings
from hypothesis import strategies as st

from tests.mutation.own import REGISTRIES, ROOT, Own

OPTIONS = ["-x", "-q", "-o", "addopts=", "--assert=plain", "-p", "no:cacheprovider"]


def warm_up() -> None:
    """Do once what every fork would do again: the tools' start."""
    with redirect_stdout(io.StringIO()):
        pytest.main([*OPTIONS, "--collect-only", str(ROOT / "tests/__init__.py")])
    drawn = given(st.floats(), st.integers(), st.booleans())(lambda a, b, c: None)
    settings(max_examples=2, database=None)(drawn)()
    torch.set_num_threads(1)
    torch.ones(1, requires_grad=True).square().sum().backward()
    gc.freeze()


def examples_fail(module: ModuleType) -> bool:
    """Whether an example in a docstring of the module prints something else."""
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False)
    for thing in documented(module):
        names = {**vars(module), "torch": torch}
        test = parser.get_doctest(thing.__doc__ or "", names, "", None, 0)
        if runner.run(test, out=lambda _: None).failed:
            return True
    return False


def documented(module: ModuleType) -> Iterator:
    """Its functions, and those of its classes."""
    for value in [*vars(module).values()]:
        if getattr(value, "__module__", None) == module.__name__:
            yield value
            if inspect.isclass(value):
                yield from filter(inspect.isroutine, vars(value).values())


def tests_fail(own: Own, seconds: dict[str, float]) -> bool:
    """Whether a test fails: of the module's files, then of the registries.

    Args:
        own: The module.
        seconds: What each test took so far; what they take now is put in. Where some
            are known, registries without a case of the module are left alone.
    """
    known = {test.partition("::")[0] for test in seconds}
    registries = [file for file in REGISTRIES if file not in own.tests]
    if known:
        registries = [file for file in registries if file in known]
    return any(
        pytest_fails("quick", files, Chosen(own, seconds))
        for files in (own.tests, registries)
        if files
    )


def generated_tests_fail(own: Own, seconds: dict[str, float]) -> bool:
    """Whether a test with generated inputs fails when it gets all of them."""
    return pytest_fails("project", own.tests, Chosen(own, seconds, generated=True))


def pytest_fails(profile: str, files: Iterable[str], chosen: "Chosen") -> bool:
    options = [*OPTIONS, f"--hypothesis-profile={profile}", f"--rootdir={ROOT}"]
    os.chdir(ROOT)
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        code = pytest.main([*options, *files], plugins=[chosen])
    return code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)


class Chosen:
    """A plugin of pytest: of the registries the module's cases; what is quick first.

    Args:
        own: The module.
        seconds: What each test took; what they take now is put in.
        generated: Whether only tests with generated inputs are to run.
    """

    def __init__(
        self, own: Own, seconds: dict[str, float], generated: bool = False
    ) -> None:
        self.own, self.seconds, self.generated = own, seconds, generated
        self.registries = {*REGISTRIES} - {*own.tests}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = filter(self.counts, items)
        items.sort(key=lambda item: self.seconds.get(item.nodeid, 0))

    def counts(self, item: pytest.Item) -> bool:
        generated = is_hypothesis_test(getattr(item, "function", None))
        if self.generated and not generated:
            return False
        if item.nodeid.partition("::")[0] not in self.registries:
            return True
        case = getattr(item, "callspec", None)
        function = case and case.params.get("function")
        return getattr(function, "__module__", None) == self.own.name

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and not report.skipped:
            self.seconds[report.nodeid] = report.duration

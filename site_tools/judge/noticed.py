"""Assertions by which no change of the code is noticed.

An assertion proves something if it fails once the code that leads to it is wrong. So
that code is changed, one thing at a time, and run as the block itself is: copied, in a
process of its own, confined. Half of the changes are tried from the assertion upwards,
half anywhere, so that for most assertions one or two are enough.
"""

import ast
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

from site_tools.messages import Problem, problem
from site_tools.page.page import Page
from site_tools.page.pictures import is_notebook
from site_tools.run.execution import running_copies
from site_tools.run.mutants import (
    REACHED,
    ChangedCode,
    Slip,
    reaching,
    telling,
)
from site_tools.run.results import Failure, PageToRun, Result, Source
from site_tools.run.worker import run_each
from site_tools.source.blocks import Copy
from site_tools.source.includes import Line

AT_MOST = 80  # changes for an assertion
AT_ONCE = 4  # of them asked for together
SECONDS_PER_CHANGE = 5.0
SECONDS_PER_PAGE = 6.0  # while somebody waits


@dataclass
class Tried:
    """An assertion, and what became of the changes of the code before it."""

    line: Line
    reached: bool = False  # in the code as it stands
    noticed: bool = False
    changes: int = 0
    killed: int = 0  # of them, by this assertion, by another or by an exception
    last: tuple[Line, Slip] | None = None  # the last change that it has not noticed
    in_time: bool = True  # False if a change, or all of them, took too long to tell

    @property
    def sound(self) -> bool:
        """True if it is reached, and has noticed a change."""
        return self.reached and self.noticed


@dataclass
class _Clock:
    """The time that a page has."""

    seconds: float
    began: float = field(default_factory=time.monotonic)

    @property
    def over(self) -> bool:
        return time.monotonic() > self.began + self.seconds


def check_noticed(page: Page, seconds: float = SECONDS_PER_PAGE) -> list[Problem]:
    """The assertions of a page that has passed, by which no change is noticed.

    What could not be tried in the time is not judged.
    """
    return unnoticed(page, try_changes(page, seconds))


def unnoticed(page: Page, assertions: Iterable[Tried]) -> list[Problem]:
    """The assertions, among those tried in time, which have noticed no change."""
    problems = []
    for tried in assertions:
        if not tried.sound and tried.in_time:
            problems.append(_unnoticed(page.path, tried))
    return problems


def check_refutations(page: Page) -> list[Problem]:
    """The blocks meant to fail on an assertion which fail at more than that.

    Once that assertion is mended a block must pass, so it alone may be false, and no
    other line may fail.
    """
    problems = []
    for copy in running_copies(page):
        if not copy.block.raises or not _asserts(copy):
            continue
        trial = _Trial(page, copy, copy, _Clock(SECONDS_PER_PAGE))
        told, failure = trial.as_it_is()
        values: dict[str, Any] = {"snippet": copy.block.lines[0].snippet}
        line = copy.block.lines[0].page_line
        if failure:
            values["failure"] = failure
            problems.append(problem(page.path, line, "refutation_breaks", **values))
        elif len(told) > 1:
            lines = [trial.line_of(claim).text.strip() for claim in sorted(told)]
            values["claims"] = "; ".join(lines)
            problems.append(problem(page.path, line, "refutation_several", **values))
    return problems


def _asserts(copy: Copy) -> bool:
    return any(isinstance(node, ast.Assert) for node in copy.block.nodes)


def try_changes(page: Page, seconds: float) -> Iterator[Tried]:
    """Change the code before each assertion of a page until it has failed."""
    if is_notebook(page.id):
        return  # its cells go on from all above and draw: a change takes seconds
    clock = _Clock(seconds)
    copies = running_copies(page)
    for copy in copies:
        if copy.block.raises or not _asserts(copy):
            continue
        trial = _Trial(page, copy, copy, clock)
        for claim in trial.claims():
            tried = Tried(trial.line_of(claim))
            trial.go_on(claim, tried)
            if not tried.sound and (later := _later(copies, copy)):
                # What stands in a function may be called by a later block alone.
                _Trial(page, copy, later, clock).go_on(claim, tried)
            yield tried


def _later(copies: Sequence[Copy], copy: Copy) -> Copy | None:
    """The last of the copies that go on from this one, if there is any."""
    for other in reversed(copies):
        if copy.block in other.chain[:-1] and not other.block.raises:
            return other
    return None


class _Trial:
    """The code that ends with one block, or with a later one, and its changes."""

    def __init__(self, page: Page, copy: Copy, within: Copy, clock: _Clock) -> None:
        self._copy, self._within, self._clock = copy, within, clock
        self._once = is_notebook(page.id)
        self._code = ChangedCode(within.text)

    def claims(self) -> list[int]:
        """The assertions of the block itself, by their number in the code."""
        first = len(self._copy.lines) - len(self._copy.block.lines) + 1
        claims = enumerate(self._code.claims)
        return [number for number, claim in claims if claim.lineno >= first]

    def line_of(self, claim: int) -> Line:
        return self._within.lines[self._code.claims[claim].lineno - 1]

    def as_it_is(self) -> tuple[set[int], Failure | None]:
        """The assertions that are false, and what else fails, with nothing changed."""
        (result,) = self._run([self._code.text])
        return telling(result.printed), result.failure

    def go_on(self, claim: int, tried: Tried) -> None:
        """Try changes until the assertion has failed."""
        tried.reached = tried.reached or claim in self._reached
        waiting = list(islice(self._code.changes(claim), AT_MOST))
        while waiting and not tried.noticed:
            if self._clock.over:
                tried.in_time = False
                return
            some, waiting = waiting[:AT_ONCE], waiting[AT_ONCE:]
            results = self._run([change.text for change in some])
            for change, result in zip(some, results, strict=False):
                told = telling(result.printed)
                tried.changes += 1
                tried.killed += bool(told or result.failure)
                if claim in told:
                    tried.noticed = True
                    break
                if _stopped(result):
                    tried.in_time = False
                tried.last = self._within.lines[change.line - 1], change

    @cached_property
    def _reached(self) -> set[int]:
        """The assertions that are reached; all of them where nobody can know."""
        (result,) = self._run([reaching(self._within.text)])
        if result.failure:
            return set(range(len(self._code.claims)))
        return telling(result.printed, REACHED)

    def _run(self, texts: Sequence[str]) -> Iterator[Result]:
        """What each text does, in a process of its own."""
        waiting = [Source(text) for text in texts]
        while waiting:
            page = PageToRun(waiting, seconds=SECONDS_PER_CHANGE, once=self._once)
            waiting = []
            for number, result in enumerate(run_each(page)):
                yield result
                if _stopped(result):
                    waiting = list(page.sources[number + 1 :])  # they have not run
                    break


def _stopped(result: Result) -> bool:
    """True for a text that used up its time, memory or output."""
    return result.failure is not None and result.failure.type.endswith("Limit")


def _unnoticed(path: str, tried: Tried) -> Problem:
    """An assertion that has not failed, with the last of the changes."""
    text, number, snippet = tried.line
    values: dict[str, Any] = {"text": text.strip(), "snippet": snippet}
    if not tried.reached:
        return problem(path, number, "assertion_unreached", **values)
    if tried.last is None:
        return problem(path, number, "assertion_alone", **values)
    line, change = tried.last
    values |= {"count": tried.changes, "was": change.was, "now": change.now}
    values["place"] = line.snippet or f"{path}:{line.page_line}"
    return problem(path, number, "assertion_unnoticed", **values)

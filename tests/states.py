"""How the languages of the pages in a run stand to each other, a line a page.

A pytest plugin (``-p tests.states``): none of these states fails a test, so the
summary has to name them.
"""

import re

import pytest

from site_tools.page import accord
from tests.layout import ROOT

PAGE = re.compile(r"docs/(?:zh|en)/(.+)\.md::")
PAGES: set[str] = set()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Asked where all reports arrive: under xdist, not where the tests run."""
    if page := PAGE.match(report.nodeid):
        PAGES.add(page[1])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for page in sorted(PAGES):
        try:
            state = accord.read(ROOT, page)
        except ValueError as error:  # which tests/site/page/test_accord.py fails for
            terminalreporter.write_line(str(error))
            continue
        if state.state is not accord.State.ACCORD:
            terminalreporter.write_line(f"languages: {state}")

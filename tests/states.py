"""How the languages of the pages in a run stand to each other, a line a page.

A pytest plugin (``-p tests.states``): none of these states fails a test, so the
summary has to name them.
"""

from pathlib import Path

import pytest

from site_tools.checks import accord

ROOT = Path(__file__).resolve().parent.parent
PAGES = pytest.StashKey[set[str]]()


def pytest_collection_finish(session: pytest.Session) -> None:
    found = set()
    for folder in (ROOT / "docs/zh", ROOT / "docs/en"):
        paths = {item.path for item in session.items if folder in item.path.parents}
        found |= {p.relative_to(folder).with_suffix("").as_posix() for p in paths}
    session.config.stash[PAGES] = found


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for page in sorted(terminalreporter.config.stash.get(PAGES, set())):
        try:
            state = accord.read(ROOT, page)
        except ValueError as error:  # which tests/site/test_locks.py fails for
            terminalreporter.write_line(str(error))
            continue
        if state.state is not accord.State.ACCORD:
            terminalreporter.write_line(f"languages: {state}")

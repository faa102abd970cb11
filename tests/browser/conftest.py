"""The built site in Chromium. Without site/, the driver or Chromium: skipped."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from site_tools.browser import Unavailable, chromium
from tests.browser.server import serve
from tests.browser.watching import PRESENT
from tests.layout import ROOT

SITE = ROOT / "site"
SOURCES = ("docs", "snippets", "ppo_ref", "site_tools", "mkdocs.yml", "mkdocs.en.yml")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A browser is slow to start: .ci/run runs these, ``make test`` does not."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def site() -> Path:
    """The site as ``make build`` left it, no older than what it is made from."""
    built = SITE / "en" / "index.html"
    if not built.exists():
        pytest.skip("no site/: make build makes it")
    age = built.stat().st_mtime
    newer = [
        file
        for place in SOURCES
        for file in [ROOT / place, *(ROOT / place).rglob("*")]
        if file.is_file() and "__pycache__" not in file.parts
        if file.stat().st_mtime > age
    ]
    assert not newer, f"site/ is older than {newer[0]}: run make build"
    return SITE


@pytest.fixture(scope="session")
def address(site) -> Iterator[str]:
    """Where the site is served, below a sub-path."""
    with serve(site) as address:
        yield address


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, without a window."""
    try:
        with chromium() as running:
            yield running
    except Unavailable as missing:
        pytest.skip(str(missing))


@pytest.fixture
def open_tab(browser, address) -> Iterator[Any]:
    """Opens tabs of a context of its own, with what a test asks for.

    It is wide as a desktop, and its addresses are relative to the site. The reader
    moves at once, unless said not to be present.
    """
    contexts = []

    def opened(present=True, **options):
        size = {"viewport": {"width": 1280, "height": 800}}
        given = {"base_url": address, **size, **options}
        contexts.append(browser.new_context(**given))
        if present:
            contexts[-1].add_init_script(PRESENT)
        tab = contexts[-1].new_page()
        tab.wait_for_function = partial(wait_until, tab)
        return tab

    yield opened
    for context in contexts:
        context.close()


def wait_until(tab: Any, holds: str) -> None:
    """Ask the page again and again; Playwright's own has text evaluated by a timer of
    the page, as no policy of ours allows."""
    end = monotonic() + 30
    while not tab.evaluate(holds):
        assert monotonic() < end, f"does not come to hold: {holds}"
        tab.wait_for_timeout(50)


@pytest.fixture
def tab(open_tab):
    return open_tab()


@pytest.fixture
def without_scripts(open_tab):
    return open_tab(java_script_enabled=False)

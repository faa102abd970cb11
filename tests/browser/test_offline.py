"""The site as it is unpacked from offline.zip and opened from the folder."""

import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.browser.watching import Watch

BOX = ".md-search__input"
RESULT = ".md-search-result__item a"
PAGES = ("index.html", "gae/why_sum_deltas/index.html", "debug/frameworks/index.html")
NOTEBOOK = "notebooks/kl_estimators/index.html"


@pytest.fixture(scope="module")
def folder(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the zip unpacks to."""
    place = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(site / "offline.zip") as archive:
        archive.extractall(place)
    (unpacked,) = place.iterdir()
    return unpacked


@pytest.fixture
def watch(tab: Any, folder: Path) -> Watch:
    """A tab that notices every request outside the folder, and every failed one."""
    return Watch(tab, f"{folder.as_uri()}/")


@pytest.mark.parametrize("lang", ["", "en/"])
def test_pages_open_without_a_failed_request(watch, lang):
    for page in (*PAGES, NOTEBOOK, "about/offline/index.html", "ppo_ref/index.html"):
        assert watch.visit(lang + page) == []


def test_formulas_have_their_fonts_and_notebooks_their_plots(watch):
    watch.visit(NOTEBOOK)
    assert watch.tab.locator("figure.picture svg path").count() > 10
    assert watch.tab.locator("figure.picture").count() == 3
    loaded = "[...document.fonts].filter(f => f.status == 'loaded').map(f => f.family)"
    assert "KaTeX_Math" in watch.tab.evaluate(loaded)
    watch.tab.click("a[download]")  # from a folder it is shown, not saved
    watch.tab.wait_for_url("**/kl_estimators.ipynb")
    assert '"cells"' in watch.tab.inner_text("body")


@pytest.mark.parametrize(
    ("home", "query", "found"),
    [
        ("", "为什么优势不直接用δ", "gae/why_sum_deltas/index.html"),
        ("en/", "missing V(prompt)", "en/alignment/value_before_token/index.html"),
    ],
)
def test_the_search_finds_and_leads_there(watch, home, query, found):
    watch.visit(f"{home}index.html")
    watch.tab.fill(BOX, query)
    watch.tab.press(BOX, "End")  # the theme listens to keys
    watch.tab.wait_for_selector(RESULT)
    watch.tab.press(BOX, "Enter")
    watch.tab.wait_for_url(f"{watch.address}{found}**")
    assert watch.faults == []


def test_the_install_line_names_the_wheel_in_the_folder(watch):
    watch.visit("en/gae/why_sum_deltas/index.html")
    line = watch.tab.locator(".install a").first.inner_text()
    wheel = Path(line.removeprefix("file://").replace("%2B", "+"))
    assert wheel.suffix == ".whl" and zipfile.is_zipfile(wheel)

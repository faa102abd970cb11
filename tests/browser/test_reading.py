"""The site as a reader's browser shows it."""

from pathlib import Path
from typing import Any

import pytest

from bench.weight import transferred
from tests.site import glyphs

PAGE = "alignment/value_before_token/"


def test_a_page_opens_below_a_subpath(tab: Any) -> None:
    tab.goto(PAGE)
    assert tab.inner_text("h1") == "values[:, t] 在第 t 个 token 之前还是之后？"


def test_no_character_of_a_formula_is_lost(site: Path) -> None:
    """The fonts of each language were cut by its own pages."""
    for language in (site, site / "en"):
        html = (language / PAGE / "index.html").read_text("utf-8")
        assert set("VstGA") <= glyphs.shown(html)
        assert list(glyphs.lacking(language)) == []
        assert not glyphs.unknown_families(language)


@pytest.mark.parametrize(
    ("folder", "word", "title"),
    [
        ("", "已验证", "这里怎么验证"),
        ("en/", "verified", "How this is verified"),
    ],
)
def test_a_mark_leads_to_what_it_means(
    tab: Any, folder: str, word: str, title: str
) -> None:
    tab.goto(folder + PAGE)
    mark = tab.locator("a.mark").first
    assert mark.inner_text().startswith(f"{word} · torch ")
    mark.click()
    tab.wait_for_url(f"**/{folder}about/verification/")
    assert tab.inner_text("h1") == title


def test_a_mark_is_no_part_of_the_code(tab: Any) -> None:
    tab.goto(PAGE)
    codes = tab.locator(".marked pre > code").all_inner_texts()
    assert len(codes) == tab.locator("a.mark").count() > 0
    assert not [code for code in codes if "验证" in code]


MOST = 110_000  # of which 35 kB are the theme's styles, whole


def test_a_question_page_is_light(tab: Any) -> None:
    sizes = transferred(tab, lambda: tab.goto(PAGE))
    assert sizes["document"] and sizes["stylesheet"] and sizes["font"]
    assert sum(map(sum, sizes.values())) <= MOST


def test_what_a_page_fetches_is_weighed(tab: Any) -> None:
    """The bytes that come are those that are counted."""
    heavy = b"\xff" * 2 * MOST
    tab.route("**/logo.svg", lambda route: route.fulfill(body=heavy))
    sizes = transferred(tab, lambda: tab.goto(PAGE))
    assert sum(sizes["image"]) > MOST

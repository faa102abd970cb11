"""The language switch, with and without scripts, on every page."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.browser.watching import pages

SWITCH = "a.language"


def twins(site: Path) -> list[tuple[str, str]]:
    """The address of each page and of the one that its switch must lead to."""
    there = pages(site)
    english = [path for path in sorted(there) if path.startswith("en/")]
    chinese = sorted(there.difference(english))
    pairs = [(path, f"en/{path}") for path in chinese]
    pairs += [(path, path.removeprefix("en/")) for path in english]
    homes = {True: "en/", False: ""}
    return [(one, two if two in there else homes["en/" in two]) for one, two in pairs]


def test_every_page_leads_to_its_twin(tab: Any, site: Path, address: str) -> None:
    pairs = twins(site)
    assert len(pairs) > 4 and len(set(pairs)) == len(pairs)
    for path, twin in pairs:
        tab.goto(path)
        assert tab.evaluate(f"document.querySelector('{SWITCH}').href") == (
            f"{address}{twin}"
        )


def test_the_switch_keeps_the_section(tab: Any, site: Path, address: str) -> None:
    """Of a page with a twin: one that has none leads home, where no section is."""
    for path, twin in twins(site):
        if twin not in ("", "en/"):
            name = re.findall(r'<h[23] id="([^"]+)"', read(site, path))[-1:]
            for section in name:
                tab.goto(f"{path}#{section}")
                tab.click(SWITCH)
                tab.wait_for_url(f"{address}{twin}#{section}")
                assert tab.locator(f"[id='{section}']").count() == 1


@pytest.mark.parametrize("width", [390, 1280])
def test_without_scripts_a_page_can_be_read_and_left(
    browser: Any, site: Path, address: str, width: int
) -> None:
    context = browser.new_context(
        base_url=address,
        java_script_enabled=False,
        viewport={"width": width, "height": 844},
    )
    tab = context.new_page()
    for path in sorted(pages(site)):
        tab.goto(path)
        assert tab.locator("article h1").is_visible()
        assert tab.locator(SWITCH).is_visible()
        assert tab.locator("article :is(p, li, dd)").first.is_visible()
    tab.goto("alignment/value_before_token/")
    assert tab.locator("#why ~ .arithmatex").first.is_visible()
    tab.click(SWITCH)
    tab.wait_for_url("**/en/alignment/value_before_token/")
    tab.click(".answer .jump a >> nth=0")
    tab.wait_for_url("**/en/alignment/value_before_token/#picture")
    tab.locator("summary").first.click()
    assert tab.locator("details[open]").count() == 1
    tab.click(".tabbed-labels label >> nth=1")
    assert tab.locator(".tabbed-block").nth(1).is_visible()
    if width < 1000:
        tab.click("header label[for=__drawer]")
        assert tab.locator(".md-nav__link:visible").count() > 1
    else:
        tab.click("header .md-logo")
        tab.wait_for_url("**/ppo/en/")
    context.close()


def read(site: Path, path: str) -> str:
    return (site / path / "index.html").read_text("utf-8")

"""The language switch, with and without scripts."""

import re
from pathlib import Path
from urllib.parse import urljoin

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


# One page of each kind: home, question, list, text, notebook, its file, reference.
KINDS = [
    "",
    "alignment/value_before_token/",
    "debug/symptoms/",
    "reference/reading_the_code/",
    "notebooks/gae_laboratory/",
    "notebooks/gae_laboratory/jupyter/",
    "ppo_ref/advantages/",
]


def test_every_page_leads_to_its_twin(site):
    pairs = twins(site)
    assert len(pairs) > 4 and len(set(pairs)) == len(pairs)
    for path, twin in pairs:
        (switch,) = re.findall(r'<a [^>]*class="language"[^>]*>', read(site, path))
        href = re.findall(r'href="([^"]*)"', switch)[0]
        # Below a folder, which one step up too many would leave.
        assert urljoin(f"https://x/y/{path}", href) == f"https://x/y/{twin}", path


@pytest.mark.parametrize("path", ["", *KINDS[1:-2], f"en/{KINDS[1]}"])
def test_the_switch_keeps_the_section(tab, site, address, path):
    section = sections(site, path)[-1]
    tab.goto(f"{path}#{section}")
    tab.click(SWITCH)
    tab.wait_for_url(f"{address}{dict(twins(site))[path]}#{section}")
    assert tab.locator(f"[id='{section}']").count() == 1


def test_without_scripts_a_page_can_be_read_and_left(without_scripts):
    tab = without_scripts
    tab.set_viewport_size({"width": 390, "height": 844})
    for path in (lang + kind for lang in ("", "en/") for kind in KINDS):
        tab.goto(path)
        assert tab.locator("article h1").is_visible()
        assert tab.locator(SWITCH).is_visible()
        assert tab.locator("article :is(p:not(.moved), li, dd)").first.is_visible()
    tab.goto("alignment/value_before_token/")
    assert tab.locator("#why ~ .arithmatex").first.is_visible()
    tab.click(SWITCH)
    tab.wait_for_url("**/en/alignment/value_before_token/")
    tab.click(".answer .jump a >> nth=0")
    tab.wait_for_url("**/en/alignment/value_before_token/#picture")
    tab.locator("summary").first.click()
    assert tab.locator("details[open]").count() == 1
    tab.click("summary:has(#in-verl)")
    tab.click(".tabbed-labels label >> nth=1")
    assert tab.locator(".tabbed-block").nth(1).is_visible()
    tab.click("header label[for=__drawer]")
    assert tab.locator(".md-nav__link:visible").count() > 1


def sections(site: Path, path: str) -> list[str]:
    return re.findall(r'<h[23] id="([^"]+)"', read(site, path))


def read(site: Path, path: str) -> str:
    return (site / path / "index.html").read_text("utf-8")

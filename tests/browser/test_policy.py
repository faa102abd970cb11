"""The policy of a page: no page of the site offends it, and nothing planted runs."""

from pathlib import Path

import pytest

from tests.browser.watching import Watch, of_each_kind, pages

HEARD = """() => {
  window.refused = []
  addEventListener("securitypolicyviolation", (event) =>
    refused.push(`${event.effectiveDirective} ${event.blockedURI} ${event.sample}`))
}"""
PLANTED = {
    "script": "<script>window.ran = 1</script>",
    "handler": '<img src="../../assets/logo.svg" onload="window.ran = 1">',
    "address": '<object data="data:text/html,<p>planted"></object>',
    "elsewhere": '<script src="data:text/javascript,window.ran = 1"></script>',
}
PAGE = "alignment/value_before_token/"


def listening(tab):
    tab.add_init_script(f"({HEARD})()")
    return tab


def test_no_page_offends_its_policy(site, tab, address):
    watch = Watch(listening(tab), address)
    faults = []
    for path in sorted(of_each_kind(pages(site))):
        faults += watch.visit(path)
        tab.mouse.wheel(0, 4000)
        faults += [f"{path}: {fault}" for fault in tab.evaluate("refused")]
    assert faults == []


@pytest.mark.parametrize("path", ["q/1/", "no/such/page"])
def test_neither_do_pages_that_lead_on(tab, address, path):
    listening(tab).goto(path)
    tab.wait_for_load_state("networkidle")
    assert tab.evaluate("refused") == []


def test_the_search_and_the_widgets_hold_to_it(tab, address):
    watch = Watch(listening(tab), address)
    assert watch.visit("notebooks/") == []
    for place in tab.locator("[data-lab]").all():
        place.scroll_into_view_if_needed()
    tab.wait_for_load_state("networkidle")
    tab.locator(".md-search__input").fill("gae")
    tab.wait_for_selector(".md-search-result__item")
    assert [*watch.faults, *tab.evaluate("refused")] == []


@pytest.mark.parametrize("what", PLANTED)
def test_what_is_planted_in_a_page_does_not_run(tab, what):
    listening(tab)

    def plant(route):
        answer = route.fetch()
        html = answer.text().replace("</h1>", f"</h1>{PLANTED[what]}", 1)
        route.fulfill(response=answer, body=html)

    tab.route(f"**/{PAGE}", plant)
    tab.goto(PAGE)
    tab.wait_for_load_state("networkidle")
    assert PLANTED[what].partition(" ")[0] in tab.content()
    assert tab.evaluate("window.ran") is None
    assert tab.evaluate("refused") != []


def test_a_copy_on_disk_is_whole(site: Path, open_tab):
    tab = listening(open_tab(color_scheme="dark"))
    tab.goto((site / PAGE / "index.html").as_uri())
    tab.wait_for_load_state("load")
    assert tab.locator("html.js").count() == 1
    assert tab.locator(".md-tabs").is_visible()
    assert tab.evaluate("refused") == []

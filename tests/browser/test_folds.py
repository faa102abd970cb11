"""What proves an answer is folded away, opens for whoever is led to it, and so no page
is a scroll without end."""

from tests.browser.watching import PHONE, REFERENCE, pages, tab_of

LONGEST = 15_000  # pixels on a phone, eighteen screens
HEIGHT = "document.documentElement.scrollHeight"
PAGE = "en/alignment/slot_after_eos/"


def test_what_is_behind_waits_for_a_tap(open_tab):
    tab = open_tab()
    tab.goto(PAGE)
    assert tab.locator("#numbers").is_visible()
    output = tab.locator(".behind:has(#numbers) .language-output").first
    assert not output.is_visible()
    tab.locator("summary:has(#numbers)").click()
    assert output.is_visible()
    assert tab.locator("#why + p").is_visible()  # the argument itself stands in front


def test_a_link_opens_what_it_leads_to(open_tab):
    tab = open_tab()
    tab.goto(f"{PAGE}#in-verl")
    assert tab.locator(".behind:has(#in-verl) .fact").first.is_visible()
    tab.locator(".answer .jump a[href='#numbers']").click()
    # The page hears of its new address a moment after the click.
    tab.locator(".behind:has(#numbers) .language-output").first.wait_for()


def test_a_term_of_the_glossary_opens_for_who_looks_it_up(open_tab):
    tab = open_tab()
    tab.goto("en/reference/glossary/#entropy")
    assert tab.locator("details[open] > div").count() == 1
    assert "18 · Entropy" in tab.locator("details[open] > div").inner_text()


def test_no_page_is_longer_than_eighteen_screens(browser, site, address):
    read = [path for path in pages(site) if not path.startswith(REFERENCE)]
    read = [path for path in read if not path.endswith("/jupyter/")]
    with tab_of(browser, PHONE, "light") as tab:
        heights = {}
        for path in read:
            tab.goto(address + path, wait_until="domcontentloaded")
            heights[path] = tab.evaluate(HEIGHT)
        assert {path: h for path, h in heights.items() if h > LONGEST} == {}
        tab.evaluate("document.body.style.paddingTop = '15001px'")
        assert tab.evaluate(HEIGHT) > LONGEST
    assert len(heights) > 150

"""A question page without a mouse."""

from typing import Any

PAGE = "alignment/value_before_token/"
# What can be acted on, and what scrolls within itself: on the page and not folded away.
# Of a set of tabs the keyboard reaches the chosen one, and from there the others.
PROBE = """
const acts = ":is(a[href], button, summary, input, [tabindex='0'])"
const scrolls = (element) => element.scrollWidth > element.clientWidth + 1
  && /auto|scroll/.test(getComputedStyle(element).overflowX)
const there = (element) => element.checkVisibility({ visibilityProperty: true })
  && !element.closest(".md-search, [hidden], .md-toggle")
  && !(element.type === "radio" && !element.checked)
window.reachable = () => [...document.body.querySelectorAll("*")]
  .filter((element) => there(element) && (scrolls(element)
    || element.matches(acts) && element.tabIndex >= 0))
window.named = (element) => element.outerHTML.slice(0, 99)
// A choice that is hidden shows the focus on what stands for it.
window.ringed = (element) => {
  const shown = element.matches(".tabbed-set > input") ? element.parentElement
    .querySelector(".tabbed-labels")
    : element.type === "radio" ? element.nextElementSibling : element
  const { outlineStyle, outlineWidth } = getComputedStyle(shown)
  return outlineStyle !== "none" && parseFloat(outlineWidth) > 0
}
"""
TAKE = """(() => {
  const element = document.activeElement
  passed.add(element)
  const away = element === document.body // behind the last stop, or it has vanished
  return away || element.closest(".md-search") || ringed(element) ? "" : named(element)
})()"""


def walk(tab) -> tuple[list[str], list[str]]:
    """Press Tab all around: what was passed by, and what had the focus unseen."""
    tab.evaluate(f"() => {{ {PROBE} }}")
    count = tab.evaluate("window.passed = new Set(), reachable().length")
    unseen = set()
    for _ in range(count + 20):
        tab.keyboard.press("Tab")
        unseen.add(tab.evaluate(TAKE))
    missed = "reachable().filter(element => !passed.has(element)).map(named)"
    return tab.evaluate(missed), sorted(unseen - {""})


def open_page(tab: Any, width: int) -> None:
    tab.set_viewport_size({"width": width, "height": 844})
    tab.goto(PAGE)
    tab.evaluate("document.fonts.ready")


def test_tab_reaches_everything_and_shows_where_it_is(tab):
    for width in (390, 1280):
        open_page(tab, width)
        assert walk(tab) == ([], [])


def test_what_tab_passes_by_is_seen(tab):
    tab.goto("reference/glossary/")
    tab.evaluate(
        """document.querySelector("h1").insertAdjacentHTML("afterend",
        `<pre class="planted" tabindex="-1">${"w".repeat(999)}</pre>
        <button class="planted" style="outline: none">b</button>`)
        document.querySelector("pre.planted").style.overflow = 'auto'"""
    )
    missed, unseen = walk(tab)
    assert len(missed) == 1 and missed[0].startswith('<pre class="planted')
    assert len(unseen) == 1 and unseen[0].startswith('<button class="planted')


def test_the_first_tab_stop_skips_to_the_content(tab):
    open_page(tab, 1280)
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.matches('.md-skip')")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/#answer")
    tab.keyboard.press("Tab")
    inside = "!!document.activeElement.closest('article')"
    assert tab.evaluate(inside)


def test_a_result_is_chosen_and_opened_by_keys(tab):
    open_page(tab, 1280)
    tab.keyboard.press("/")
    assert tab.is_checked("#__search")
    tab.keyboard.press("Escape")
    assert not tab.is_checked("#__search")
    tab.goto("reference/glossary/")
    tab.keyboard.press("/")
    assert tab.is_checked("#__search")
    # The theme moves the focus into the box once it is open.
    tab.wait_for_selector(".md-search__input:focus")
    tab.keyboard.type("落子")  # put in at once: no key comes up, as with a paste
    tab.wait_for_selector(".md-search-result__item")
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Enter")
    tab.wait_for_url(f"**/{PAGE}*")

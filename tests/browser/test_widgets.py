"""The widgets on a phone, by keyboard, by ear and on paper."""

import re
from typing import Any

import pytest

from tests.browser.watching import ALL, AXE, RUN_AXE, SIDEWAYS
from tests.browser.widgets import press, settle

LAB, HOME = "notebooks/", ""
KL, STEPPER = "rewards/kl_of_one_token/", "alignment/value_before_token/"
GOAL = "course/goal/"
CLIP, LEASH, PUSH = "course/clip/", "course/reference/", "course/policy_gradient/"
VIEW, SURROGATE = "gae/inputs/", "on_policy/surrogate/"
STRIP, CRITIC = "course/gae/", "course/critic/"
VIEWS = [
    VIEW, "gae/why_sum_deltas/", "gae/token_excesses/", "gae/return_minus_value/",
    "critic/td_error/", "rewards/token_level_rewards/", "alignment/slot_after_eos/",
]  # fmt: skip
# Pages, and how many widgets each has.
PLACES = dict.fromkeys(
    [HOME, KL, STEPPER, SURROGATE, STRIP, CRITIC, GOAL, "course/delta/", *VIEWS], 1
) | dict.fromkeys(["course/ratio/", "course/baseline/", CLIP, LEASH, PUSH], 1)
PLACES |= dict.fromkeys(["course/sampling/", "course/entropy/"], 1)
PLACES["debug/symptoms/"] = 1
PLACES[LAB] = 7
OF_EACH_KIND = {HOME, LAB, KL, STEPPER, SURROGATE, STRIP, CRITIC, GOAL, VIEW}
OF_EACH_KIND |= {CLIP, LEASH, PUSH}
PHONE = {"width": 390, "height": 844}
# Whether an element is what one sees in its middle.
ON_TOP = """element => {
  const { x, y, width, height } = element.getBoundingClientRect()
  return document.elementFromPoint(x + width / 2, y + height / 2) === element
}"""
BOTH = pytest.mark.parametrize("language", ["", "en/"], ids=["zh", "en"])
MOUNTED = """() => [...document.querySelectorAll(".room")]
  .every((room) => room.querySelector(".lab"))"""


@pytest.fixture
def phone(open_tab: Any) -> Any:
    return open_tab(viewport=PHONE, has_touch=True)


def open_widgets(tab: Any, path: str) -> None:
    """A page, all of its widgets mounted and drawn."""
    tab.goto(path)
    for place in tab.locator("[data-lab]").all():
        place.scroll_into_view_if_needed()
    tab.wait_for_function(MOUNTED)
    if path.endswith(LAB):
        tab.wait_for_selector(".runs .tokens li")
    settle(tab)


def swiped(tab: Any, place: Any, x: int = 0, y: int = 0) -> float:
    """Swipe so far with a finger from the middle of a place; how far it scrolled."""
    place.evaluate("place => place.scrollIntoView({ block: 'center' })")
    tab.wait_for_timeout(300)  # another swipe may still be rolling
    before, box = tab.evaluate("scrollY"), place.bounding_box()
    begin = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    session = tab.context.new_cdp_session(tab)

    def touch(kind: str, *shares: float) -> None:
        points = [{"x": begin[0] + s * x, "y": begin[1] + s * y} for s in shares]
        event = {"type": f"touch{kind}", "touchPoints": points}
        session.send("Input.dispatchTouchEvent", event)

    touch("Start", 0)
    for step in range(1, 11):
        touch("Move", step / 10)
    touch("End")
    tab.wait_for_timeout(300)
    return float(abs(tab.evaluate("scrollY") - before))


DRAGGED = [
    (LAB, "[data-lab='strip/free'] g.value"),
    (LAB, "[data-lab='wall/free'] .border.drag"),
    (LAB, "[data-lab=explorer] .values .drag"),
    (LAB, "[data-lab=explorer] .ratios .drag"),
    (LAB, "[data-lab=clip] .handle"),
    (LAB, "[data-lab=variance] .place.drag"),
    (KL, ".actor .drag"),
    (VIEW, ".values .drag"),
    (STRIP, "g.value"),
    (GOAL, ".border.drag"),
]


@pytest.mark.parametrize(("page", "where"), DRAGGED)
def test_a_finger_that_scrolls_changes_nothing_and_one_sideways_does(
    phone: Any, page: str, where: str
) -> None:
    open_widgets(phone, f"en/{page}")
    cell = phone.locator(f".lab {where}, .lab{where}, {where}").first
    value = cell.get_attribute("aria-valuenow")
    assert swiped(phone, cell, y=-200) > 100
    assert swiped(phone, cell, y=-200, x=40) > 100
    assert cell.get_attribute("aria-valuenow") == value
    assert phone.evaluate("location.search") == ""  # where a change is, by now
    assert swiped(phone, cell, x=-80) < 10
    assert float(cell.get_attribute("aria-valuenow")) < float(value)


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize(
    "page", [LAB, KL, STEPPER, HOME, GOAL, CLIP, "debug/symptoms/", VIEW]
)
@BOTH
def test_nothing_moves_under_the_eyes_of_who_scrolls(
    open_tab: Any, page: str, width: int, language: str
) -> None:
    """Layout shifts of all the page together: of them Web Vitals counts a part."""
    tab = open_tab(viewport={"width": width, "height": 844})
    tab.add_init_script("""window.shifts = []
      new PerformanceObserver((list) => shifts.push(...list.getEntries()))
        .observe({ type: "layout-shift", buffered: true })""")
    tab.goto(language + page)
    tab.wait_for_timeout(500)
    tab.mouse.move(width / 2, 400)
    end = tab.evaluate("document.documentElement.scrollHeight") / 700
    for _ in range(int(end) + 3):  # so fast that a widget comes when it is in sight
        tab.mouse.wheel(0, 700)
        tab.wait_for_timeout(120)
    assert tab.evaluate("scrollY") > 0
    assert tab.evaluate(MOUNTED)
    shift = "shifts.reduce((sum, { value }) => sum + value, 0)"
    moved = """shifts.filter(({ value }) => value > 0.005)
      .flatMap(({ sources, value }) => sources.map(({ node }) =>
        `${value.toFixed(3)} ${node?.outerHTML?.slice(0, 90)}`))"""
    assert tab.evaluate(shift) <= 0.1, "\n".join(tab.evaluate(moved))


HEIGHTS = """all => all.map((room) => {
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize)
  const { minHeight } = getComputedStyle(room)
  room.style.minHeight = 0
  const own = room.offsetHeight
  room.style.minHeight = ""
  return [parseFloat(minHeight) / rem, own / rem]
})"""
SMALL_LETTERS = """all => all.filter((node) => node.checkVisibility()
    && [...node.childNodes].some((part) => part.nodeType === 3 && part.data.trim()))
  .map((node) => [parseFloat(getComputedStyle(node).fontSize)
    * (node.ownerSVGElement ? node.getScreenCTM().a : 1), node.outerHTML])
  .filter(([size]) => size < 10.99)"""
LOW_SLIDERS = """all => all.filter((node) => node.checkVisibility())
  .filter((node) => node.getBoundingClientRect().height < 24)
  .map((node) => node.outerHTML)"""
CUT_BARS = """all => all.filter((node) => node.scrollWidth > node.clientWidth)
  .map((node) => node.outerHTML)"""
# How much higher than its widget a room may be, in rem, at a width.
SPARE = {360: 8, 390: 14, 430: 16, 600: 6.5, 1280: 4}


def rooms_that_do_not_fit(tab: Any, width: int, count: int) -> list[Any]:
    """The heights kept and needed, of each room that is not as it should be."""
    measured = tab.locator(".room").evaluate_all(HEIGHTS)
    assert len(measured) == count
    return [
        (width, kept, needed)
        for kept, needed in measured
        if not needed - 0.1 <= kept <= needed + SPARE[width]
    ]


def hard_to_read(tab: Any) -> list[Any]:
    """Letters that are too small, sliders and bars that a finger or an eye misses."""
    found = tab.locator(".lab *").evaluate_all(SMALL_LETTERS)
    found += tab.locator(".lab input[type=range]").evaluate_all(LOW_SLIDERS)
    found += tab.locator(".lab .bar").evaluate_all(CUT_BARS)
    return found + tab.evaluate(SIDEWAYS)


def said_by_axe(tab: Any) -> list[str]:
    """The violations that axe finds in the widgets of a page."""
    tab.evaluate("scrollTo(0, 0)")
    tab.wait_for_timeout(300)  # what fades while it scrolls is whole again
    tab.evaluate(AXE.read_text("utf-8"))
    found: list[str] = tab.evaluate(RUN_AXE, ALL | {"include": [[".lab"]]})
    return found


@pytest.mark.parametrize("page", PLACES)
@BOTH
def test_a_widget_fits_its_room_and_can_be_used_by_all(
    open_tab: Any, page: str, language: str
) -> None:
    """As high as was written down, legible on a phone, and sound to axe."""
    tab = open_tab()
    open_widgets(tab, language + page)
    for width in SPARE:
        tab.set_viewport_size({"width": width, "height": 844})
        settle(tab)
        assert rooms_that_do_not_fit(tab, width, PLACES[page]) == []
        if page not in OF_EACH_KIND:
            continue
        if width in (360, 390):
            assert hard_to_read(tab) == []
        if width in (390, 1280):
            assert said_by_axe(tab) == []


@BOTH
def test_the_home_page_has_its_widget_on_a_phone(phone: Any, language: str) -> None:
    phone.goto(language)
    widget = phone.locator("[data-lab=stations] .lab")
    widget.wait_for()
    box = widget.bounding_box()
    assert box["width"] > 340 and box["x"] + box["width"] <= 390
    assert phone.evaluate(SIDEWAYS) == []
    drawing = phone.locator("svg.stations").bounding_box()
    assert box["x"] < drawing["x"]
    assert drawing["x"] + drawing["width"] < box["x"] + box["width"]
    assert phone.locator(".stops > button").last.is_visible()


@BOTH
def test_rows_of_the_stepper_keep_their_names(phone: Any, language: str) -> None:
    open_widgets(phone, language + STEPPER)
    wide = phone.locator(".alignment .wide")
    for step in range(4):
        settle(phone)
        assert step == 0 or wide.evaluate("wide => wide.scrollLeft") > 0
        place = wide.bounding_box()
        for head in wide.locator("th").all():
            box = head.bounding_box()
            assert place["x"] - 1 <= box["x"] <= place["x"] + 1
            assert head.evaluate(ON_TOP)
        now = wide.locator("td.now").first.bounding_box()
        assert now["x"] >= box["x"] + box["width"] - 1  # not behind a name
        phone.locator(".alignment .steps button").last.click(force=True)


def test_paper_shows_what_counts_and_whether_it_is_whitened(tab: Any) -> None:
    open_widgets(tab, f"en/{LAB}")
    widget = tab.locator("[data-lab=explorer]")
    widget.locator(".counts").nth(1).click()
    widget.locator(".ratios .drag").first.press("End")
    settle(tab)
    tab.emulate_media(media="print")
    assert widget.locator(".cut-note").is_visible()
    counts = widget.locator("tr").nth(1).locator("td")
    assert [cell.inner_text().strip() for cell in counts.all()] == list("●○●●●●")
    white = widget.locator(".tick input")
    assert white.is_visible() and white.is_checked()
    for button in widget.get_by_role("button").all():
        assert (
            button.get_attribute("class") == "counts"
            or not button.is_visible()
            or (button.get_attribute("aria-pressed") is not None)
        )


@pytest.mark.parametrize("page", ["debug/methods/", "ppo_ref/losses/"])
def test_what_scrolls_within_itself_is_reached_before_the_theme_is_there(
    open_tab: Any, page: str
) -> None:
    tab = open_tab(viewport=PHONE, present=False)
    tab.goto(page)
    tab.wait_for_timeout(300)
    tab.evaluate(AXE.read_text("utf-8"))
    assert tab.evaluate(RUN_AXE, {"runOnly": ["scrollable-region-focusable"]}) == []


def test_the_page_for_what_is_missing_is_sound(tab: Any) -> None:
    asked = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto("no/such/page")
    tab.wait_for_timeout(300)
    tab.evaluate(AXE.read_text("utf-8"))
    assert tab.evaluate(RUN_AXE, ALL) == []
    assert not [url for url in asked if "favicon" in url]
    icon = tab.locator("link[rel=icon]").get_attribute("href")
    assert icon.startswith("data:image/svg+xml,")


SAID = "[role=status].unseen"


def seen(widget: Any) -> list[str]:
    """The words of a widget, without those for who listens."""
    text = widget.inner_text()
    for said in filter(None, widget.locator(SAID).all_inner_texts()):
        text = text.replace(said, "")
    return str(text).split()


def heard(widget: Any) -> str:
    """The words of a screen reader after a moment of rest."""
    live = widget.locator(SAID)
    live.filter(has_text=re.compile(".")).wait_for(state="attached")
    return str(live.text_content())


@pytest.mark.parametrize(
    ("page", "row", "begins"),
    [
        (VIEW, "advantages", "advantage A: "),
        ("critic/td_error/", "returns", "target R: "),
        ("rewards/token_level_rewards/", "rewards", "reward r: "),
        (LAB, "advantages", "advantage A: "),
    ],
)
def test_what_follows_from_a_change_is_said(
    tab: Any, page: str, row: str, begins: str
) -> None:
    tab.goto(f"en/{page}")
    place = tab.locator("[data-lab^=explorer]").first
    place.scroll_into_view_if_needed()
    tab.locator(".advantages, .returns, .rewards").first.wait_for()
    widget = tab.locator(".lab", has=tab.locator(f"tr.{row}")).first
    cell = widget.locator(".bar.drag").last
    assert widget.locator(SAID).text_content() == ""  # nothing has changed yet
    cell.focus()
    for _ in range(2):
        tab.keyboard.press("PageDown")
    said = heard(widget)
    shown = widget.locator(f"tr.{row} .bar").all_inner_texts()
    assert said.startswith(begins + ", ".join(filter(None, shown)))


def test_a_bug_and_its_assert_are_said_in_the_same_place(tab: Any) -> None:
    open_widgets(tab, f"en/{LAB}")
    widget = tab.locator("[data-lab=explorer]")
    assert widget.locator("[role=status], [aria-live]").count() == 1
    widget.locator("select").nth(1).select_option("values")
    said = "The assert that fires: values[:, t] has not read token t"
    assert said in heard(widget)


@pytest.mark.parametrize(
    ("page", "cell"),
    [
        (LAB, "[data-lab='strip/free'] g.value"),
        (LAB, "[data-lab='wall/free'] .border.drag"),
        (LAB, "[data-lab=explorer] .values .drag"),
        (VIEW, ".values .drag"), (KL, ".actor .drag"), (LAB, "[data-lab=clip] .handle"),
        (SURROGATE, ".handle"), (LAB, "[data-lab=variance] .handle"),
        (STRIP, "g.value"),
        (GOAL, ".border.drag"),
    ],
)  # fmt: skip
def test_one_can_begin_again(tab: Any, page: str, cell: str) -> None:
    open_widgets(tab, f"en/{page}")
    moved = tab.locator(cell).first
    widget = moved.locator("xpath=ancestor::section")
    before = seen(widget)
    press(tab, moved, "Home")
    assert seen(widget) != before
    tab.wait_for_function("location.search !== ''")
    widget.get_by_role("button", name="Begin again").click()
    settle(tab)
    assert seen(widget) == before
    tab.wait_for_function("location.search === ''")


def test_the_same_beginning_can_be_chosen_again(tab: Any) -> None:
    open_widgets(tab, f"en/{LAB}")
    widget = tab.locator("[data-lab=explorer]")
    presets = widget.locator("select").first
    assert presets.input_value() == "batch"
    before = widget.locator("table").inner_text()
    press(tab, widget.locator(".values .drag").first, "Home")
    assert presets.input_value() != "batch"  # else no browser says that it is chosen
    presets.select_option("batch")
    settle(tab)
    assert widget.locator("table").inner_text() == before

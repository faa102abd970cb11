"""The widgets of the lab, operated: what is shown is what ppo_ref computes."""

import json
import math
import re
from ast import literal_eval
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from ppo_ref.examples import world
from tests.browser.widgets import (
    assert_shown,
    centre,
    drag,
    in_sight,
    number,
    press,
    ran,
    settle,
)
from tests.copied_code import named_numbers

PAGE = "notebooks/"
SHOWN = """([...document
  .querySelectorAll("[data-lab=explorer] .rows tbody tr")].slice(1).map(row =>
  [row.className, [...row.querySelectorAll(".bar")].map(bar => bar.textContent)]))"""
ROWS = ("rewards", "deltas", "advantages", "returns", "used")


@pytest.fixture
def lab(tab: Any) -> Any:
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.goto(f"en/{PAGE}")
    in_sight(tab, "explorer", ".bar")
    return tab


def copied(lab: Any) -> dict[str, Any]:
    """The rows that the copied Python of the explorer prints, by name."""
    found = {}
    for line in ran(lab, "explorer").split("\n"):
        name, _, rest = line.partition(" ")
        if name in ROWS:
            found[name] = literal_eval(rest)
    return found


def assert_explored(lab: Any, answer: int) -> None:
    """Every cell that shows something is what the copied Python prints."""
    settle(lab)
    shown, computed = dict(lab.evaluate(SHOWN)), copied(lab)
    compared = 0
    for name in ROWS:
        for text, x in zip(shown[name], computed[name][answer], strict=True):
            if text:
                assert abs(number(text) - x) < 0.00501, name
                compared += 1
    assert compared >= 4 * len(ROWS)


def drag_cell(lab: Any, row: str, token: int, by: int) -> None:
    cell = lab.locator(f"[data-lab=explorer] tr.{row} .bar").nth(token)
    drag(lab, centre(cell), (by, 0))


def sum_of(widget: Any, name: str | re.Pattern[str]) -> str:
    """The number, as text, that stands behind a name below a widget."""
    line = widget.locator(".sums span").filter(has_text=name)
    text: str = line.locator("output").inner_text()
    return text


def test_dragged_cells_show_what_ppo_ref_computes(lab):
    before = dict(lab.evaluate(SHOWN))
    drag_cell(lab, "values", 2, -90)
    drag_cell(lab, "kl", 0, 36)
    drag_cell(lab, "ratios", 4, 30)
    drag_cell(lab, "score", 5, -45)
    assert_explored(lab, 0)
    lab.locator("[data-lab=explorer] .counts").nth(1).click()
    lab.locator("[data-lab=explorer] .answers button").nth(1).click()
    drag_cell(lab, "values", 0, 27)
    assert_explored(lab, 1)
    assert dict(lab.evaluate(SHOWN)) != before


def test_keys_sliders_and_bugs_move_the_numbers(lab):
    cell = lab.locator("[data-lab=explorer] tr.values .bar").nth(3)
    press(lab, cell, "ArrowDown", "PageDown", "ArrowUp")
    assert cell.get_attribute("aria-valuenow") == "0.8"
    press(lab, cell, "End")
    assert cell.get_attribute("aria-valuenow") == "1"
    lab.locator("[data-lab=explorer] input[type=range]").nth(1).fill("0.4")
    assert_explored(lab, 0)
    lab.locator("[data-lab=explorer] select").nth(1).select_option("values")
    assert_explored(lab, 0)
    lab.get_by_role("link", name="values[:, t] has not read token t").last.click()
    lab.wait_for_url("**/en/debug/asserts/#assert-values")


def test_on_the_home_page_an_answer_runs_through_seven_stations(lab):
    lab.goto("en/")
    widget = lab.locator("[data-lab=stations]")
    stops, door = widget.locator(".stops > button"), widget.locator(".door")
    stops.first.wait_for()
    seen = []
    for i in range(stops.count()):
        stops.nth(i).click()
        lab.wait_for_timeout(450)  # until the marks have arrived
        numbers = widget.locator("svg.stations g .number").all_text_contents()
        seen.append((door.get_attribute("href"), *numbers))
    assert [row[0] for row in seen] == [
        "pipeline/", "rewards/", "alignment/", "bootstrap/", "gae/", "critic/",
        "on_policy/",
    ]  # fmt: skip
    values = [f"{x:.2f}" for x in world().values[11].tolist()]
    assert list(seen[2][1:]) == values
    widget.locator(".play").click()  # from the last it begins anew
    lab.wait_for_function("document.querySelector('.door')?.textContent[0] == '1'")
    door.click()
    lab.wait_for_url("**/en/pipeline/")


def test_a_link_shares_what_is_seen(lab):
    drag_cell(lab, "values", 1, -60)
    lab.wait_for_function("location.search.includes('explorer')")
    seen, address = lab.evaluate(SHOWN), lab.url
    (state,) = parse_qs(urlsplit(address).query)["explorer"]
    assert [*json.loads(state)] == ["values"]
    other = lab.context.new_page()
    other.goto(address)
    in_sight(other, "explorer", ".bar")
    assert other.evaluate(SHOWN) == seen


@pytest.mark.parametrize(
    "sent",
    ["{", '{"values":[[1]]}', '{"mask":[[],[]],"gamma":"x","bug":"constructor"}',
     '{"ratios":[[0,0,0,0,0,0],[9e99,0,0,0,0,0]],"preset":"toString"}'],
)  # fmt: skip
def test_an_address_that_is_not_ours_does_no_harm(lab, sent):
    lab.goto(f"en/{PAGE}?" + "explorer=" + sent)
    said = in_sight(lab, "explorer", ".bar").inner_text()
    assert "NaN" not in said and "undefined" not in said


def test_without_scripts_the_picture_stays(without_scripts):
    without_scripts.goto(f"en/{PAGE}")
    picture = without_scripts.locator("[data-lab=explorer] figure.picture svg")
    assert picture.is_visible()


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"ratio": 0.5},
        {"ratio": 0.5, "advantage": -1.5},
        {"ratio": 3.4, "advantage": -0.7},
        {"ratio": 3.4, "advantage": -0.7, "dual": 0},
        {"ratio": 1.19, "high": 0.1, "low": 0.3},
    ],
)
def test_a_token_under_the_clip_is_as_ppo_ref_says(lab, sent):
    lab.goto(f"en/{PAGE}?clip={json.dumps(sent)}")
    widget = in_sight(lab, "clip", ".handle")
    if not sent:  # a drag by hand, and the keys
        box = widget.locator(".handle").first.bounding_box()
        drag(lab, (box["x"] + 90, box["y"] + 60), (100, 0))
        lab.keyboard.press("PageUp")
        settle(lab)
    for name, x in named_numbers(ran(lab, "clip")).items():
        text = sum_of(widget, re.compile(rf"^{name} "))
        assert abs(number(text) - x) < 0.000501, name


def test_the_stepper_shows_what_a_value_has_read(lab):
    widget = in_sight(lab, "alignment", "td")
    before = widget.get_by_role("button", name="before")
    for slice_ in ("[:, -T-1:-1]", "[:, -T:]", "[:, -T-2:-2]"):
        widget.locator("select").select_option(slice_)
        while before.is_enabled():
            before.click()
            settle(lab)
        lines = ran(lab, "alignment").splitlines()
        moves = [literal_eval(line.partition("moves ")[2]) for line in lines]
        for t in range(4):
            settle(lab)
            ids = widget.locator("tr").first.locator("td").all()[4:]
            read = ["read" in (cell.get_attribute("class") or "") for cell in ids]
            assert read == [bool(moved[t]) for moved in moves], (slice_, t)
            faulty = "fault" in (widget.locator(".says").get_attribute("class") or "")
            assert faulty is (slice_ != "[:, -T-1:-1]")
            widget.locator(".wide").press("ArrowRight")


@pytest.mark.parametrize("widget", ["explorer", "clip"])
def test_knobs_out_of_range_are_those_that_ppo_ref_takes(lab, widget):
    lab.goto(f'en/{PAGE}?{widget}={{"dual":0.5,"low":7,"high":-3}}')
    in_sight(lab, widget, ".copy button")
    assert "loss" in ran(lab, widget)  # which raises where ppo_ref refuses a knob


def variance_sums(page: Any) -> list[float]:
    texts = page.locator("[data-lab=variance] .sums output").all_inner_texts()
    return [number(text) for text in texts if text != "–"]


def test_bias_and_variance_are_dragged_sampled_and_shared(lab):
    widget = in_sight(lab, "variance", ".handle")
    lab.emulate_media(reduced_motion="reduce")  # all samples at once
    widget.get_by_role("button", name="Sample on").click()
    said = widget.get_by_role("slider", name='What the critic says after "No"').first
    press(lab, said, "PageDown", "PageDown", "ArrowUp")
    assert said.get_attribute("aria-valuenow") == "0.71"
    box = widget.locator(".handle").bounding_box()
    drag(lab, (box["x"] + 160, box["y"] + 60), (60, 0))
    computed = named_numbers(ran(lab, "variance"))
    bias, variance, squared, best, count, mean, spread = variance_sums(lab)
    assert count == 200 and bias != 0.1493
    assert best == computed["best"]
    assert abs(bias - computed["bias"]) < 0.0000501
    assert abs(variance - computed["variance"]) < 0.0000501
    assert abs(squared - computed["squared"]) < 0.0000501
    assert abs(mean - computed["mean"]) < 0.000501
    assert abs(spread - computed["spread"]) < 0.000501
    lab.wait_for_function("location.search.includes('variance')")
    other = lab.context.new_page()
    other.goto(lab.url)
    in_sight(other, "variance", ".handle")
    assert variance_sums(other) == variance_sums(lab)
    # course/gae prints a mean of -0.320 at lambda 0.5, of a true -0.220
    for name, critic in (("exact critic", 0.0), ("the course's critic", -0.1005)):
        lab.goto(f"en/{PAGE}#variance")
        widget.get_by_role("button", name=name).click()
        settle(lab)
        assert variance_sums(lab)[0] == pytest.approx(critic, abs=0.001)


@pytest.mark.parametrize(
    ("page", "language"),
    [
        ("gae/inputs", "en"), ("gae/why_sum_deltas", "zh"),
        ("gae/token_excesses", "en"), ("critic/td_error", "zh"),
        ("gae/return_minus_value", "en"),
        ("rewards/token_level_rewards", "zh"), ("alignment/slot_after_eos", "en"),
    ],
)  # fmt: skip
def test_a_question_page_begins_with_what_ppo_ref_computes(
    lab: Any, page: str, language: str
) -> None:
    lab.goto(f"{'en/' if language == 'en' else ''}{page}/")
    lab.locator("p[data-lab]").scroll_into_view_if_needed()
    widget = lab.locator(".lab.small")
    widget.locator(".bar").first.wait_for()
    answer = 1 if page == "alignment/slot_after_eos" else 0
    for _ in range(2):
        computed, compared = copied(lab), 0
        for name in ROWS:
            bars = widget.locator(f"tr.{name} .bar").all_inner_texts()
            # A view shows as many tokens as its page has.
            for text, x in zip(bars, computed[name][answer], strict=False):
                if text:
                    assert_shown(text, x)
                    compared += 1
        assert compared >= 3
        press(lab, widget.locator(".bar.drag").first, "PageDown")  # then once more
    assert lab.locator("figure.picture svg").first.is_visible()


def test_a_distribution_is_dragged_and_sampled_by_another(lab: Any) -> None:
    lab.goto("en/rewards/kl_of_one_token/")
    lab.locator("p[data-lab]").scroll_into_view_if_needed()
    widget = lab.locator(".lab.small")
    press(lab, widget.locator("tr.actor .bar").nth(1), "PageUp")
    widget.locator("input[type=range]").fill("2")
    settle(lab)
    shown = widget.locator(".sums output").all_inner_texts()
    computed = named_numbers(ran(lab, "kl/tokens")).values()
    for text, x in zip(shown, computed, strict=True):
        assert abs(number(text) - x) < 0.000501
    drawn = widget.locator("tr.actor .bar").all_inner_texts()
    assert sum(map(float, drawn)) == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize(
    ("widget", "dot"), [("clip", ".dot"), ("variance", ".handle .dot")]
)
def test_what_is_dragged_stays_under_the_pointer(lab, widget, dot):
    dot = in_sight(lab, widget, dot).locator(dot).first
    begin = centre(dot)
    settle(lab)
    before = dot.bounding_box()["x"]
    drag(lab, begin, (60, 0))
    assert dot.bounding_box()["x"] - before == pytest.approx(60, abs=3)


def test_on_a_phone_the_token_spoken_of_is_in_sight(open_tab):
    lab = open_tab(viewport={"width": 390, "height": 844})
    lab.goto(f"en/{PAGE}#alignment")
    in_sight(lab, "alignment", "td.now")
    for _ in range(3):
        settle(lab)
        table = lab.locator(".alignment .wide").first.bounding_box()
        now = lab.locator(".alignment td.now").first.bounding_box()
        assert table["x"] <= now["x"]
        assert now["x"] + now["width"] <= table["x"] + table["width"] + 1
        lab.locator(".alignment .steps button").last.click(force=True)


def test_a_token_without_an_advantage_has_nothing_to_push(lab):
    lab.goto(f'en/{PAGE}?clip={{"advantage":0,"ratio":1.1}}')
    widget = in_sight(lab, "clip", ".handle")
    said = widget.locator(".says").inner_text()
    assert said == "no advantage: nothing to push, the gradient is 0"
    assert sum_of(widget, "push") == "0.000"


def test_the_slot_after_the_last_token_predicts_none(lab):
    lab.goto(f'en/{PAGE}?alignment={{"t":3,"slice":"[:, -T:]"}}')
    widget = in_sight(lab, "alignment", "td")
    for t in (3, 2):
        settle(lab)
        said = widget.locator(".says").inner_text()
        assert ("predict token" in said) is (t < 3), said
        assert f"V(s{'₀₁₂₃₄'[t + 1]})" in said
        widget.get_by_role("button", name="before").click()


def test_the_kl_has_a_ratio_of_its_own(lab):
    widget = in_sight(lab, "clip", ".handle")
    clip, kl = widget.locator(".handle").all()
    before = clip.get_attribute("aria-valuenow"), widget.locator(".says").inner_text()
    press(lab, kl, "PageDown")
    after = clip.get_attribute("aria-valuenow"), widget.locator(".says").inner_text()
    assert after == before
    ratio = float(kl.get_attribute("aria-valuenow"))
    assert ratio != float(before[0])
    lines = dict(line.split() for line in ran(lab, "clip").splitlines()[1:])
    log = math.log(ratio)
    for name, expected in ("k1", log), ("k2", log**2 / 2), ("k3", 1 / ratio - 1 + log):
        assert float(lines[name]) == pytest.approx(expected)
        shown = number(sum_of(widget, name))
        assert shown == pytest.approx(expected, abs=0.000501)
    code = lab.evaluate("navigator.clipboard.readText()")
    assert "ref_log_probs=old" not in code
    words = kl.locator("text").all_text_contents()
    assert {"0", "1", "2"} <= {*words} and any("reference" in word for word in words)


LENGTHS = """bars => bars.map((bar) =>
  [bar.textContent, Number(bar.style.getPropertyValue("--x"))])"""


def test_what_has_one_unit_has_one_scale(lab):
    rows = ["rewards", "values", "deltas", "advantages", "returns"]
    lab.goto(f"en/{PAGE}")
    widget = in_sight(lab, "explorer", ".values .drag")
    for key in ("Home", "End"):  # TD errors beyond 1 follow
        press(lab, widget.locator("tr.values .drag").nth(2), key)
        (scale,) = {widget.locator(f"tr.{row} .scale").inner_text() for row in rows}
        full = float(scale.removeprefix("±"))
        lengths = []
        for row in rows:
            lengths += widget.locator(f"tr.{row} .bar").evaluate_all(LENGTHS)
        assert max(abs(share) for _, share in lengths) > 0.3
        for text, share in lengths:
            assert share * full == pytest.approx(number(text), abs=0.006)


@pytest.mark.parametrize(
    ("page", "row", "key"),
    [(PAGE, "ratios", "End"), ("rewards/kl_of_one_token/", "ref", "Home")],
)
def test_a_bar_that_is_cut_says_so(lab, page, row, key):
    lab.goto(f"en/{page}")
    place = "[data-lab=explorer]" if page == PAGE else "[data-lab]"
    lab.locator(place).first.scroll_into_view_if_needed()
    widget = lab.locator(f"{place} .lab" if page == PAGE else ".lab").first
    cut, note = widget.locator(".bar.cut"), widget.locator(".cut-note")
    widget.locator(".bar").first.wait_for()
    settle(lab)
    assert cut.count() == 0 and not note.is_visible()
    press(lab, widget.locator(f"tr.{row} .drag").first, key)
    assert cut.count() > 0 and note.is_visible()
    assert note.inner_text() == "A broken bar is longer than it is drawn."
    for _, share in widget.locator(".bar").evaluate_all(LENGTHS):
        assert abs(share) <= 1

"""The run viewer, operated: what it shows is what the files of a run hold."""

import json
import math
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from ppo_ref.command.main import main
from ppo_ref.train.stored_runs import stored_run
from tests.browser.watching import ALL, AXE, PRESENT, RUN_AXE, UNFOLD
from tests.browser.widgets import number, ran, settle
from tests.command.runs import SMALL

PAGE = "notebooks/"
PLACE = "[data-lab=runs]"
REAL = "SmolLM2 learns two-digit sums: PPO"  # with which it opens
# What one sees: the figures by name, then each run's rows of tokens and numbers.
SEEN = """(() => {
  const place = document.querySelector("[data-lab=runs]")
  const all = (node, what) => [...node.querySelectorAll(what)]
    .filter((found) => found.checkVisibility())
  const texts = (node, what) => all(node, what).map((found) => found.textContent)
  return {
    figures: Object.fromEntries(all(place, ".curve").map((curve) => [
      curve.querySelector("code").textContent, texts(curve, "output")])),
    runs: all(place, ".said").map((said) => ({
      title: said.querySelector("h3").textContent,
      says: said.querySelector("strong")?.textContent,
      rows: all(said, "ol").map((row) => [texts(row, "span"), texts(row, "small")]),
    })),
    faults: texts(place, ".fires li"),
  }
})()"""


@pytest.fixture
def viewer(tab: Any) -> Any:
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    return shown(tab, f"en/{PAGE}")


def shown(tab: Any, address: str) -> Any:
    tab.goto(address)
    tab.locator(PLACE).scroll_into_view_if_needed()
    tab.wait_for_selector(f"{PLACE} .curve output")
    return tab


def seen(viewer: Any) -> dict[str, Any]:
    settle(viewer)
    return viewer.evaluate(SEEN)


def assert_figures(viewer: Any, names: tuple[str, str], at: int) -> None:
    """Each number at the cursor is the run's, to half a unit of its last digit."""
    found = seen(viewer)["figures"]
    assert len(found) == 6
    for name, texts in found.items():
        for run, text in zip(names, texts, strict=True):
            x = stored_run(run).iterations[at - 1][name]
            unit = 10 ** -len(text.partition(".")[2])
            assert abs(number(text) - x) <= 0.5001 * unit, (name, run)
            assert abs(number(text)) >= abs(x) / 2 or unit <= 0.001, (name, text)


def test_the_broken_run_is_beside_the_healthy_one_at_once_and_when_dragged(viewer):
    names = ("smollm2_ppo", "smollm2_large_steps")
    assert_figures(viewer, names, 10)
    box = viewer.locator(f"{PLACE} .field").nth(4).bounding_box()
    viewer.mouse.move(box["x"] + 20, box["y"] + 30)
    viewer.mouse.down()
    viewer.mouse.move(box["x"] + 0.332 * box["width"], box["y"] + 200, steps=7)
    viewer.mouse.up()
    viewer.keyboard.press("ArrowRight")  # the slider has the focus by then
    assert_figures(viewer, names, 18)
    said = viewer.locator(f"{PLACE} [role=status]")
    said.filter(has_text=f"iteration 18. {REAL}: score 0.6").wait_for(state="attached")
    viewer.keyboard.press("Home")
    settle(viewer)
    slider = viewer.locator(f"{PLACE} input[type=range]")
    assert slider.get_attribute("aria-valuetext") == "before PPO"


@pytest.mark.parametrize("colour", ["advantage", "value", "ratio", "reward"])
def test_the_copied_python_prints_what_is_shown(viewer: Any, colour: str) -> None:
    names = {"healthy": "healthy", "rloo": "RLOO, four answers"}
    viewer.locator(f"{PLACE} select").first.select_option("healthy")
    viewer.locator(f"{PLACE} select").nth(1).select_option("rloo")
    viewer.locator(f"{PLACE} h3").filter(has_text="RLOO").wait_for()
    viewer.get_by_role("button", name=colour, exact=True).click()
    viewer.locator(f"{PLACE} input[type=range]").fill("41")
    lines = ran(viewer, "runs").splitlines()
    found = seen(viewer)
    for (name, title), run in zip(names.items(), found["runs"], strict=True):
        assert run["title"] == title
        own = [line for line in lines if line.startswith(f"{name} ")]
        figures = json.loads(
            own[0].partition(" ")[2].replace("'", '"').replace("None", "null")
        )
        for figure, x in figures.items():
            if figure in found["figures"]:
                text = found["figures"][figure][[*names].index(name)]
                assert (text == "—") is (x is None)
                assert x is None or abs(number(text) - x) < 0.005 * max(1, abs(x))
        assert own[1].endswith(run["says"])
        printed = [json.loads("[" + line.rpartition("[")[2]) for line in own[2:]]
        texts = [[*map(number, filter(None, row))] for _, row in run["rows"]]
        compared = [row for row in texts if row]
        assert len(printed) == len(compared) == {"value": 6, "ratio": 2}.get(colour, 4)
        for row, expected in zip(compared, printed, strict=True):
            assert row == pytest.approx(expected, abs=0.00501)


def test_a_link_shares_runs_iteration_and_colour(viewer):
    viewer.locator(f"{PLACE} select").nth(1).select_option("shifted_values")
    viewer.locator(f"{PLACE} input[type=range]").fill("37")
    viewer.get_by_role("button", name="value", exact=True).click()
    viewer.get_by_role("button", name="ratio_max").click()
    viewer.wait_for_function("location.search.includes('ratio_max')")
    (sent,) = parse_qs(urlsplit(viewer.url).query)["runs"]
    assert {"second", "at", "colour", "figures"} == json.loads(sent).keys()
    found = seen(viewer)
    assert "ratio_max" in found["figures"]
    other = shown(viewer.context.new_page(), viewer.url)
    assert seen(other) == found


@pytest.mark.parametrize(
    "sent",
    ["{", '{"first":"constructor","second":"../../x","colour":"toString"}',
     '{"at":-7.5,"figures":"kl,nothing,__proto__"}', '{"at":1e99,"second":""}'],
)  # fmt: skip
def test_an_address_that_is_not_ours_does_no_harm(tab: Any, sent: str) -> None:
    said = shown(tab, f"en/{PAGE}?runs={sent}").locator(PLACE).inner_text()
    assert "NaN" not in said and "undefined" not in said and REAL in said


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own") / "runs" / "1"
    assert main(["train", *SMALL, "--out", str(folder)]) == 0
    return folder


def test_a_folder_of_ones_own_is_read_here_and_sent_nowhere(viewer, own):
    requests = []
    viewer.on("request", lambda request: requests.append(request))
    viewer.locator(f"{PLACE} summary").click()
    viewer.locator(f"{PLACE} input[type=file]").first.set_input_files(own)
    viewer.locator(f"{PLACE} h3").filter(has_text="1").wait_for()
    viewer.get_by_role("button", name="ratio", exact=True).click()
    found, lines = seen(viewer), (own / "statistics.jsonl").read_text().splitlines()
    assert found["faults"] == [] and len(found["runs"]) == 1
    last = json.loads(lines[-1])
    for name, (text,) in found["figures"].items():
        assert number(text) == pytest.approx(
            last[name], abs=0.0051 * max(1, abs(last[name]))
        )
    records = map(json.loads, (own / "tokens.jsonl").read_text("utf-8").splitlines())
    sampled = [record for record in records if record["iteration"] == 3]
    for (tokens, texts), record in zip(found["runs"][0]["rows"], sampled, strict=True):
        assert len(tokens) == len(record["response"])
        rows = record["new_log_probs"], record["old_log_probs"]
        for text, new, old in zip(texts, *rows, strict=True):
            assert abs(number(text) - math.exp(new - old)) < 0.00501
    # Beside a stored run; and whose it is stands in no address.
    viewer.locator(f"{PLACE} select").nth(1).select_option("healthy")
    viewer.locator(f"{PLACE} h3").filter(has_text="healthy").wait_for()
    viewer.locator(f"{PLACE} input[type=range]").fill("2")
    viewer.wait_for_function("location.search.includes('at')")
    assert "1" not in parse_qs(urlsplit(viewer.url).query)["runs"][0].replace("at", "")
    assert not viewer.locator(f"{PLACE} .copy").is_visible()
    assert {request.method for request in requests} == {"GET"}
    assert {request.url.rpartition("/")[2] for request in requests} <= {
        "healthy.jsonl.txt",
        "logo.svg",
        "run_folders.js",  # which sorts what was opened
    }


DUMP = {
    "response_mask": [[1, 1, 0], [1, 1, 1]],
    "values": [[0.5, 0.25, 9.0], [0.0, 1.0, 2.0]],
    "advantages": [[0.5, -0.5, 9.0], [1.0, 2.0, 3.0]],
    "tokens": [["a", "b", ""], ["c", "d", "e"]],
}


def faults(viewer: Any, text: str, *names: str) -> list[str]:
    """The faults that are told of files with this text."""
    files = [
        {"name": n, "mimeType": "text/plain", "buffer": text.encode()} for n in names
    ]
    viewer.locator(f"{PLACE} input[type=file]").last.set_input_files(files)
    viewer.locator(f"{PLACE} .fires li").first.wait_for()
    found: list[str] = seen(viewer)["faults"]
    return found


def test_what_is_damaged_is_told_by_its_file_and_the_rest_is_shown(viewer: Any) -> None:
    (many,) = faults(viewer, json.dumps(DUMP), "a.json", "b.json", "c.json")
    assert "open one run or two at once, got a.json, b.json, c.json" in many
    assert len(seen(viewer)["runs"]) == 2  # as before
    (told,) = faults(viewer, json.dumps(DUMP).replace("0.25", "NaN"), "dump.json")
    assert "dump.json: values[0][1] must be a finite number, got null" in told
    viewer.get_by_role("button", name="value", exact=True).click()
    (run,) = seen(viewer)["runs"]
    assert run["title"] == "dump.json" and run["rows"][0] == [["a", "b"], ["0.50", ""]]


def test_a_dump_that_is_dropped_is_shown_by_rows(viewer):
    viewer.evaluate(
        """(text) => {
          const given = new DataTransfer()
          given.items.add(new File([text], "dump.json"))
          const drop = new DragEvent("drop", { dataTransfer: given, bubbles: true })
          document.querySelector("[data-lab=runs] .lab").dispatchEvent(drop)
        }""",
        json.dumps(DUMP),
    )
    viewer.locator(f"{PLACE} h3").filter(has_text="dump.json").wait_for()
    viewer.get_by_role("button", name="advantage", exact=True).click()
    (run,) = seen(viewer)["runs"]
    assert run["rows"] == [
        [["a", "b"], ["0.50", "−0.50"]],
        [["c", "d", "e"], ["1.00", "2.00", "3.00"]],
    ]
    assert not viewer.locator(f"{PLACE} .timeline").is_visible()


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_axe_finds_nothing_and_nothing_is_too_wide(
    browser: Any, address: str, width: int, scheme: str
) -> None:
    context = browser.new_context(
        base_url=address,
        viewport={"width": width, "height": 844},
        color_scheme=scheme,
        has_touch=width < 500,
    )
    context.add_init_script(PRESENT)
    tab = shown(context.new_page(), PAGE)
    for colour in ("优势", "概率"):
        tab.get_by_role("button", name=colour, exact=True).click()
        tab.evaluate(UNFOLD)
        tab.evaluate(AXE.read_text("utf-8"))
        assert tab.evaluate(RUN_AXE, {**ALL, "include": [PLACE]}) == []
    assert tab.evaluate("document.scrollingElement.scrollWidth") == width
    if width < 500:
        tab.locator(f"{PLACE} .field").first.tap()
        settle(tab)
        text = tab.locator(f"{PLACE} .timeline output").inner_text()
        assert text in ("第 24 轮", "第 25 轮", "第 26 轮")
    context.close()

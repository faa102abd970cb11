"""Queries as readers type them, in the built site: the page must come up at once."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.browser.conftest import wait_until
from tests.browser.server import serve
from tests.browser.watching import PRESENT

QUERIES = yaml.safe_load(Path(__file__).with_name("queries.yml").read_text("utf-8"))
BOX = ".md-search__input"
FIRST_LINKS = """[...document.querySelectorAll(".md-search-result__item")].slice(0, 3)
.map(item => item.querySelector("a").getAttribute("href"))"""
ITEM = ".md-search-result__item"
WHOLE = "**/search/search_index.json"
START = "/search/start.js"  # which waits for a reader who searches
UNCOVERED = {"zh": "没有找到讲", "en": "Found no page about"}

NOTHING_TYPED = """(document.querySelector(".md-search-result__meta").textContent
== JSON.parse(__config.textContent).translations["search.result.placeholder"])"""


@pytest.fixture(scope="module")
def boxes(browser, address) -> Iterator[dict[str, Any]]:
    """The search box of each language, opened on its home page."""
    context = browser.new_context(base_url=address)
    context.add_init_script(PRESENT)
    tabs = {"zh": context.new_page(), "en": context.new_page()}
    tabs["zh"].goto("")
    tabs["en"].goto("en/")
    yield tabs
    context.close()


def first_three(tab: Any, query: str, base: str) -> list[str]:
    """The pages found, as addresses below ``base``, once the theme shows them."""
    tab.bring_to_front()  # behind another, a tab looks at its page once a second
    tab.fill(BOX, "")
    tab.press(BOX, "End")  # the theme listens to keys
    wait_until(tab, f"{NOTHING_TYPED} == true")
    tab.fill(BOX, query)
    tab.press(BOX, "End")
    wait_until(tab, f"{NOTHING_TYPED} == false")
    links = tab.evaluate(FIRST_LINKS)
    return [link.partition("#")[0].removeprefix(base) for link in links]


@pytest.mark.parametrize(
    "golden", QUERIES, ids=[f"{golden['lang']}-{golden['type']}" for golden in QUERIES]
)
def test_the_page_is_among_the_first_three(boxes, address, site, golden):
    base = "" if golden["lang"] == "zh" else "en/"
    assert (site / base / golden["find"] / "index.html").exists(), "no such page"
    tab = boxes[golden["lang"]]
    assert golden["find"] in first_three(tab, golden["type"], address + base)
    first = tab.locator(".md-search-result__item").first.inner_text()
    assert UNCOVERED[golden["lang"]] not in first


@pytest.mark.parametrize(
    ("lang", "queries"),
    [
        ("en", ["DPO loss", "Atari breakout", "mujoco humanoid", "zyzzyva"]),
        ("en", ["train reward model bradley terry", "speculative decoding", "AlphaGo"]),
        (
            "zh",
            ["扩散模型", "多智能体", "连续动作空间", "投机采样", "docker 镜像", "龘"],
        ),
    ],
)
def test_what_no_page_is_about_is_said_before_what_comes_nearest(
    boxes, address, lang, queries
):
    tab, base = boxes[lang], address + ("" if lang == "zh" else "en/")
    for query in queries:
        assert first_three(tab, query, base)[0] == "contribute/"
        said = tab.locator(".md-search-result__item").first.inner_text()
        assert query in said and UNCOVERED[lang] in said, query


def test_the_best_section_of_a_page_comes_first_and_shows_the_words(boxes, address):
    tab = boxes["en"]
    first_three(tab, "fence posts", f"{address}en/")
    item = tab.locator(".md-search-result__item").first
    links = item.locator("a")
    assert links.nth(1).get_attribute("href").endswith("#picture")
    marked = item.locator("mark").all_inner_texts()[:2]
    assert [word.lower().rstrip("s") for word in marked] == ["fence", "post"]


def test_another_wording_of_the_question_leads_to_the_top_of_its_page(boxes, address):
    tab = boxes["en"]
    first_three(tab, "missing V(prompt)", f"{address}en/")
    tab.press(BOX, "Enter")
    tab.wait_for_url("**/en/alignment/value_before_token/")
    tab.goto("en/")


def test_nothing_of_the_search_is_fetched_before_it_is_wanted(tab):
    fetched: list[str] = []
    tab.on("request", lambda request: fetched.append(request.url))
    tab.goto("alignment/value_before_token/")
    tab.wait_for_load_state("networkidle")
    assert fetched and not [
        url for url in fetched if "/search/" in url.replace(START, "")
    ]
    with tab.expect_request(WHOLE):
        tab.press("body", "/")
    searching = [url for url in fetched if "/search/" in url.replace(START, "")]
    ends = ["first.json", "/assets/search/worker.js", "search_index.json"]
    assert len(searching) == len(ends), searching
    assert all(any(url.endswith(end) for url in searching) for end in ends)
    assert searching[-1].endswith(ends[-1]), "the whole index waits for the first"


def test_titles_verdicts_and_aliases_answer_until_the_whole_index_has_come(tab):
    waiting: list[Any] = []
    tab.route(WHOLE, lambda route: waiting.append(route))
    with tab.expect_request(WHOLE):
        tab.goto("")
        tab.press("body", "/")
    tab.fill(BOX, "kl 是负的")
    tab.press(BOX, "End")
    tab.wait_for_selector(ITEM)
    assert "rewards/kl_of_one_token/" in "".join(tab.evaluate(FIRST_LINKS))
    # Only the whole index can say that nothing is found.
    tab.fill(BOX, "zyzzyva")
    tab.press(BOX, "End")
    tab.wait_for_timeout(500)
    assert UNCOVERED["zh"] not in tab.inner_text(".md-search-result")
    waiting.pop().continue_()
    wait_until(
        tab,
        f"document.querySelector('{ITEM}')?.innerText.includes('{UNCOVERED['zh']}')",
    )


def test_what_looks_like_a_tag_in_a_text_is_text(site, browser, tmp_path):
    for name in ("index.html", "assets"):
        (tmp_path / name).symlink_to(site / name)
    (tmp_path / "search").mkdir()
    (tmp_path / "search/first.json").symlink_to(site / "search/first.json")
    index = "search/search_index.json"
    text = (site / index).read_text("utf-8")
    planted = text.replace("落子", "<img class='planted' src='x'>落子")
    (tmp_path / index).write_text(planted, "utf-8")
    with serve(tmp_path) as address:
        tab = browser.new_page()
        tab.goto(address)
        assert text != planted and first_three(tab, "落子", address)
        assert tab.locator(".planted").count() == 0
        assert "<img class='planted'" in tab.inner_text(".md-search-result__list")
        tab.close()

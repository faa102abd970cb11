"""What readers are told of the other language, in the trial site as it is built."""

import re
from pathlib import Path

import pytest

from site_tools.page.accord import Accord, State
from site_tools.site import article

HTML = '<h2 id="why">Why</h2>\n<h3 id="deep">Deep <em>down</em><a class="headerlink">¶'
HTML += "</a></h3>"


def told(state: State, lang: str = "en", **sections: tuple[str, ...]) -> str:
    html = article.notice(HTML, Accord("gae/a", state, **sections), lang, "gae/a/")
    return html.replace(HTML, "").strip()


def text(html: str) -> str:
    return re.sub(r"<[^>]*>", "", html)


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("state", [State.ACCORD, State.UNRECORDED])
def test_nothing_is_said_where_nothing_is_known_to_be_behind(state, lang):
    assert told(state, lang, unrecorded=("why",)) == ""


def test_each_section_is_a_link_to_the_same_section_of_the_twin():
    html = told(State.ZH_AHEAD, zh=("(top)", "why", "deep", "gone"))
    assert text(html) == ("The Chinese version is newer: beginning, why, deep, gone.")
    assert re.findall(r'href="([^"]*)"', html) == [
        "../../../gae/a/",
        "../../../gae/a/#why",
        "../../../gae/a/#deep",
        "../../../gae/a/#gone",
    ]


@pytest.mark.parametrize(
    ("state", "lang", "words"),
    [
        (State.MISSING_EN, "zh", "English version: not yet."),
        (State.MISSING_ZH, "en", "中文版：还没有。"),
    ],
)
def test_a_missing_twin_is_told_at_the_foot_in_the_language_that_is_missing(
    state, lang, words
):
    html = article.notice(HTML, Accord("gae/a", state), lang, "gae/a/")
    assert html.startswith(HTML)
    there = "en" if lang == "zh" else "zh"
    shown = f'<p class="languages" lang="{there}" data-search-exclude="1">{words}</p>'
    assert html.removeprefix(HTML).strip() == shown


@pytest.fixture
def site(trial: Path) -> Path:
    """Built with an address: a page changed in Chinese only, and one alone in each."""
    return trial / "linked"


def notices(site: Path, page: str) -> list[str]:
    html = (site / page / "index.html").read_text("utf-8")
    found = re.findall(r'<p class="languages".*?</p>', html)
    assert len(found) == html.count('class="languages"')
    return found


def test_the_page_that_is_behind_has_the_notice_and_no_other_page(site):
    (late,) = notices(site, "en/alignment/behind")
    assert text(late) == "The Chinese version is newer: answer, why."
    for page in ("", "en", "alignment/behind", "about/status", "en/about/status"):
        assert notices(site, page) == []

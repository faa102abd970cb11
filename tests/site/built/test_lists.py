"""The lists follow from pages and data, and lead where they say."""

import shutil
from collections import Counter
from pathlib import Path

import pytest

from site_tools.compile import lists, navigation
from site_tools.compile.lists import derived
from site_tools.compile.site import Compiler, Told
from site_tools.data.dialogues import read_dialogues
from site_tools.data.threads import Thread
from site_tools.finish import search_index
from site_tools.finish.article import parsed
from site_tools.page.page import read_page
from site_tools.page.rendered import render
from site_tools.page.wrong_answers import WrongAnswer
from tests import record_assertions
from tests.layout import ROOT
from tests.site import trial_site

pytestmark = pytest.mark.pages

PAGE = (trial_site.PAGES / "whole/docs/en/gae/b.md").read_text("utf-8")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The pages of the trial site, and the data that lists are made from."""
    shutil.copytree(trial_site.PAGES / "whole" / "docs", tmp_path / "docs")
    return tmp_path


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_every_question_of_the_dialogues_has_a_line_on_its_page(lang):
    homes = {id: a for a in navigation.answers(ROOT, lang) for id in a.answers}
    asked = [q.id for d in read_dialogues(ROOT) for q in d.questions]
    assert [id for id in asked if id not in homes[id].lines] == []
    right = {"zh": "平均来看说得对", "en": "Right on average, at"}
    assert right[lang] in homes["001·2"].verdict_on("001·2")


FOUR = '!!! quote "verl#1960"\n\n    Four.'
NAME_OF_THREE = '### "It is *three*" { #wrong-three }'
THREE = '!!! quote "Dialogue 004·3"\n\n    Three.'


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("#wrong-four .cited", "#four", '### "Four" { #four }'),
        (FOUR, "Four.", '### "Four" { #wrong-four .cited } without a quotation'),
        (THREE, "Three.", f"{NAME_OF_THREE} without a quotation"),
        (
            "It is less than that.\n\n",
            "",
            f"{NAME_OF_THREE} is not followed by what holds instead",
        ),
        ('### "', '#### "', "a section #wrong-answers without an entry"),
    ],
)
def test_a_claim_without_id_or_quotation_is_named(old, new, found):
    assert old in PAGE
    page = read_page(ROOT, "docs/en/gae/b.md", PAGE.replace(old, new))
    _, problems = page.wrong_answers
    assert [problem.found for problem in problems] == [found]


def test_a_source_that_is_a_thread_too_is_one_place():
    told = WrongAnswer("wrong-x", "Three", "its reply, o/verl#7", "", "Two.", range(1))
    own, other = (Thread(f"o/verl#{n}", "en", "Is it three?") for n in (7, 8))
    (answer,) = navigation.answers(ROOT, "en", ["alignment"])[:1]
    assert lists.Refuted(told, answer, [own]).seen == 1
    assert lists.Refuted(told, answer, [own, other]).seen == 2


@pytest.mark.parametrize(
    ("name", "argument", "lang", "message"),
    [
        ("questions", "by name", "en", r"must be one of by topic, .*; got 'by name'"),
        ("questions", "by topic", "", 'must say data-language="zh" or "en", got'),
        ("topic", "gea", "en", r"topic: must be one of pipe.*; got 'gea'"),
        ("wrong_answers", "gae/b#wrong-five", "en", "gae/b#wrong-five is on no page"),
        ("fact", "values verl 0.8", "", r"values\.yml: release must be in verl 0\.9"),
        ("status", "all", "en", r"must be one of wanted, .*; got 'all'"),
    ],
)
def test_a_fence_says_what_it_lacks(project, name, argument, lang, message):
    with pytest.raises(ValueError, match=message):
        derived(name, argument, lang, project)


FOLDED_BENCHMARKS = """\
# Speed

??? example "Measured"

    ```{ .benchmarks data-language="en" }
    machine
    ```

    In words.
"""


def test_what_is_measured_is_found_by_no_search_even_in_a_fold(project):
    (project / "mkdocs.yml").symlink_to(ROOT / "mkdocs.yml")
    (project / "docs/verified").mkdir(exist_ok=True)
    table = "## machine\n\n| processor | quick |\n| --- | --- |\n| cores | two |\n"
    (project / "docs/verified/benchmarks.cpu.en.md").write_text(table, "utf-8")
    page = read_page(project, "docs/en/about/speed.md", FOLDED_BENCHMARKS)
    compiled = Compiler(project, "en", Told()).text(page)
    content = parsed(render(compiled, project))
    found, *_ = search_index.entries(content, "about/speed/", "Speed", [])
    assert "quick" in content.details.table.get_text()
    assert found["text"].split() == ["Measured", "In", "words."]


def test_the_changes_that_are_noticed_are_shown_by_folder_and_in_all(project):
    assert "No count is on record" in lists.status("assertions", "en", project)
    counted = {"pages": 2, "assertions": 9, "changes": 40, "noticed": 31}
    folders = {"gae": Counter(counted), "loss": Counter(counted | {"pages": 1})}
    record_assertions.write(project, folders)
    rows = parsed(lists.status("assertions", "en", project)).table.tbody.find_all("tr")
    cells = [[cell.get_text() for cell in row.find_all("td")] for row in rows]
    assert cells == [
        ["gae", "2", "9", "40", "31"],
        ["loss", "1", "9", "40", "31"],
        ["all", "3", "18", "80", "62"],
    ]

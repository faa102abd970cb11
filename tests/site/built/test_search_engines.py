"""What search engines are told of a question: the page's verdict, as they ask for it.

Their rules for a QAPage: one question with a name and the number of its answers, and an
accepted answer with a text and an address of its own.
"""

import json
import re

import pytest

from site_tools.compile.site import Compiler, Told
from site_tools.data.topics import is_question
from site_tools.page.page import Page, read_page
from tests.layout import ROOT

pytestmark = pytest.mark.pages

ADDRESS = "https://example.org/ppo/"
SIGNS = re.compile(r"\*\*|\]\(|\{|`{2}|data-is|\n")


def questions(lang: str) -> list[Page]:
    names = sorted((ROOT / "docs" / lang).rglob("*.md"))
    pages = [read_page(ROOT, name.relative_to(ROOT).as_posix()) for name in names]
    return [page for page in pages if is_question(page.id)]


def told(page: Page, lang: str, address: str = ADDRESS) -> dict:
    text = Compiler(ROOT, lang, Told(address)).text(page)
    line = next(line for line in text.split("\n") if line.startswith("around: "))
    return json.loads(line.removeprefix("around: ")).get("qa", {})


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_each_question_has_its_verdict_as_the_accepted_answer(lang):
    pages = questions(lang)
    assert len(pages) > 40
    folder = "" if lang == "zh" else "en/"
    for page in pages:
        said = told(page, lang)
        assert said["@type"] == "QAPage" and said["@context"] == "https://schema.org"
        question = said["mainEntity"]
        assert question["@type"] == "Question" and question["answerCount"] == 1
        assert question["name"] == page.meta["question"]
        answer = question["acceptedAnswer"]
        assert answer["@type"] == "Answer" and len(answer["text"]) > 10
        assert not SIGNS.search(answer["text"]), answer["text"]
        assert answer["url"] == f"{ADDRESS}{folder}{page.id}/#answer"


def test_nothing_is_claimed_where_the_site_has_no_address():
    page = read_page(ROOT, "docs/en/gae/variance.md")
    assert told(page, "en") and told(page, "en", "") == {}


def test_a_published_page_says_it_in_its_head(trial):
    found = [*(trial / "linked").rglob("index.html")]
    said = [path for path in found if "application/ld+json" in path.read_text("utf-8")]
    assert len(said) > 0
    for path in said:
        (text,) = re.findall(
            r'<script type="application/ld\+json">(.*?)</script>', path.read_text()
        )
        assert json.loads(text)["mainEntity"]["acceptedAnswer"]["text"]

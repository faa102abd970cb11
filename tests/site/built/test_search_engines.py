"""What search engines and share cards are told, by the rules of their validators.

A QAPage: one question with a name and the number of its answers, and an accepted answer
with a text and an address of its own. A card: the four basic properties of Open Graph,
and the kind of card.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from bs4 import BeautifulSoup

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


def is_whole(url: object) -> bool:
    parts = urlsplit(str(url))
    return parts.scheme in ("http", "https") and bool(parts.netloc)


def is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and "\n" not in value


def qa_faults(said: dict) -> Iterator[str]:
    """What a validator of rich results finds wrong with a QAPage."""
    if (said.get("@context"), said.get("@type")) != ("https://schema.org", "QAPage"):
        yield "no QAPage of schema.org"
    question = said.get("mainEntity")
    if not isinstance(question, dict) or question.get("@type") != "Question":
        yield "mainEntity must be one Question"
        return
    if not is_text(question.get("name")):
        yield "a question without a name"
    answers = [question.get("acceptedAnswer"), *question.get("suggestedAnswer", [])]
    given = [answer for answer in answers if isinstance(answer, dict)]
    if question.get("answerCount") != len(given) or not given:
        yield "answerCount must be that of the answers, at least one"
    for answer in given:
        if answer.get("@type") != "Answer" or not is_text(answer.get("text")):
            yield "an answer must be an Answer with a text"
        if not is_whole(answer.get("url")):
            yield "an answer must have a whole address"


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_each_question_has_its_verdict_as_the_accepted_answer(lang):
    pages = questions(lang)
    assert len(pages) > 40
    folder = "" if lang == "zh" else "en/"
    for page in pages:
        said = told(page, lang)
        assert [*qa_faults(said)] == [], page.path
        question = said["mainEntity"]
        assert question["name"] == page.meta["question"]
        answer = question["acceptedAnswer"]
        assert len(answer["text"]) > 10 and not SIGNS.search(answer["text"]), answer
        assert answer["url"] == f"{ADDRESS}{folder}{page.id}/#answer"


GOOD = {
    "@context": "https://schema.org",
    "@type": "QAPage",
    "mainEntity": {
        "@type": "Question",
        "name": "Why?",
        "answerCount": 1,
        "acceptedAnswer": {
            "@type": "Answer",
            "text": "So.",
            "url": "https://example.org/#answer",
        },
    },
}


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("https://schema.org", "schema.org", "no QAPage"),
        ("QAPage", "FAQPage", "no QAPage"),
        ('{"@type": "Question"', '{"@type": "Thing"', "one Question"),
        ("Why?", " ", "without a name"),
        ('"answerCount": 1', '"answerCount": 2', "answerCount"),
        ('"answerCount": 1, ', "", "answerCount"),
        ("acceptedAnswer", "answer", "at least one"),
        ('"Answer"', '"Comment"', "must be an Answer"),
        ("So.", "", "with a text"),
        ("https://example.org/#answer", "#answer", "whole address"),
    ],
)
def test_what_breaks_the_rules_of_a_question_is_found(old, new, fault):
    text = json.dumps(GOOD)
    assert [*qa_faults(GOOD)] == [] and old in text
    assert any(fault in each for each in qa_faults(json.loads(text.replace(old, new))))


def test_nothing_is_claimed_where_the_site_has_no_address():
    page = read_page(ROOT, "docs/en/gae/variance.md")
    assert told(page, "en") and told(page, "en", "") == {}


KINDS = {"og:type": {"website", "article"}, "twitter:card": {"summary_large_image"}}
BASIC = ("og:title", "og:type", "og:image", "og:url")


def card_faults(html: str) -> Iterator[str]:
    """What a validator of cards finds wrong with the head of a page."""
    head = BeautifulSoup(html, "html.parser").head
    said: dict[str, list[str]] = {}
    for tag in head.find_all("meta", content=True):
        name = tag.get("property") if tag.get("property") else tag.get("name")
        kind = "name" if str(name).startswith("twitter:") else "property"
        if tag.get(kind):  # Open Graph is read from property, the other from name
            said.setdefault(str(name), []).append(str(tag["content"]))
    for name in (*BASIC, "twitter:card"):
        if len(said.get(name, [])) != 1 or not said[name][0].strip():
            yield f"{name} must be there once"
        elif said[name][0] not in KINDS.get(name, {said[name][0]}):
            yield f"{name} is {said[name][0]}"
    for name in ("og:image", "og:url"):
        if not all(map(is_whole, said.get(name, []))):
            yield f"{name} is no whole address"
    canonical = head.find("link", rel="canonical")
    if canonical is None or [canonical["href"]] != said.get("og:url"):
        yield "og:url is not that of the page"


def heads(folder: Path) -> Iterator[tuple[Path, str]]:
    """The pages of a built site, and what stands where pages were."""
    for path in folder.rglob("*.html"):
        if path.name != "404.html":
            yield path, path.read_text("utf-8")


def test_every_published_page_has_a_card(trial):
    found = {path: [*card_faults(html)] for path, html in heads(trial / "linked")}
    assert len(found) > 20
    assert {path: faults for path, faults in found.items() if faults} == {}


CARD = """<head><link rel="canonical" href="https://example.org/a/">
<meta property="og:title" content="A"><meta property="og:type" content="article">
<meta property="og:image" content="https://example.org/card.png">
<meta property="og:url" content="https://example.org/a/">
<meta name="twitter:card" content="summary_large_image"></head>"""


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('property="og:title"', 'name="og:title"', "og:title must be there once"),
        ('"A"', '" "', "og:title must be there once"),
        ('"article"', '"page"', "og:type is page"),
        ("https://example.org/card.png", "card.png", "og:image is no whole"),
        (
            'og:url" content="https://example.org/a/',
            'og:url" content="/a/',
            "og:url is",
        ),
        ('rel="canonical"', 'rel="next"', "not that of the page"),
        ('name="twitter:card"', 'property="twitter:card"', "twitter:card must be"),
        ("summary_large_image", "large", "twitter:card is large"),
    ],
)
def test_what_breaks_the_rules_of_a_card_is_found(old, new, fault):
    assert [*card_faults(CARD)] == [] and old in CARD
    assert any(fault in each for each in card_faults(CARD.replace(old, new)))


def test_a_published_question_says_it_in_its_head_once(trial):
    said = {}
    for path, html in heads(trial / "linked"):
        texts = re.findall(r'<script type="application/ld\+json">(.*?)</script>', html)
        assert len(texts) <= 1 and "</head>" not in "".join(texts)
        if texts:
            said[path] = json.loads(texts[0])
    assert len(said) > 0
    for path, each in said.items():
        assert [*qa_faults(each)] == [], path
        answer = each["mainEntity"]["acceptedAnswer"]["url"]
        assert answer.endswith("#answer") and 'id="answer"' in path.read_text("utf-8")

"""The lists follow from pages and data, and lead where they say."""

import posixpath
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import pytest

from site_tools.checks.census import check_boxes
from site_tools.checks.evidence import check_lists
from site_tools.checks.shown import check_shown
from site_tools.data.dialogues import Asked, Dialogue, Topic, read_topics
from site_tools.data.facts import Concept, Entry
from site_tools.page.page import read_page
from site_tools.page.rendered import render
from site_tools.site import lists, sources
from site_tools.site.templates import inline

pytestmark = pytest.mark.pages

ROOT = Path(__file__).parents[2]
MKDOCS = [sys.executable, "-m", "mkdocs", "build", "-q", "--strict"]
PAGE = """---
question: Is A < B?
answers: ["004·2"]
needs: []
---

## So { #answer }

**Yes.** By `0.50`{{ data-is="b" }}, see [why](x.md#why): $A_t$.

## In verl {{ #in-verl }}

```fact
values verl 0.9.1
```
""".replace("{{", "{").replace("}}", "}")
ANSWER = sources.read_answer(PAGE, "gae/b", "docs/en/gae/b.md")
ASKED = (
    Asked("004·1", "甲？", "Is $A$ it?", "gae/a"),
    Asked("004·2", "乙？", "Is it `B`?", "gae/b"),
)
TOPICS = {topic: Topic(topic, f"{topic}。", f"On {topic}.") for topic in sources.TOPICS}
SITE = lists.Site(
    [ANSWER],
    [Dialogue("004", "路", "A path", ASKED)],
    TOPICS,
    frozenset(["gae"]),
)


def items(html: str) -> list[str]:
    return re.findall(r"<li[^>]*>(.*?)</li>", html)


def test_a_page_gives_title_verdict_and_facts() -> None:
    assert (ANSWER.title, ANSWER.verdict, ANSWER.topic) == ("Is A < B?", "Yes", "gae")
    assert ANSWER.facts == ("values",)
    bare = PAGE.replace("**Yes.** By", "By")
    assert sources.read_answer(bare, "gae/b", "x").verdict == ""
    with pytest.raises(ValueError, match=r"docs/en/gae/b\.md: no question"):
        sources.read_answer("text", "gae/b", "docs/en/gae/b.md")


def test_by_topic_shows_pages_first_and_then_what_is_coming() -> None:
    html = lists.questions("by topic", "en", SITE)
    headings = re.findall(r'<h3 id="(\w+)">', html)
    assert " ".join(headings) == (
        "pipeline rewards alignment bootstrap gae critic on_policy"
    )
    assert '<h3 id="gae"><a href="/gae/">GAE intuition</a></h3>' in html
    assert '<h3 id="critic">What the critic learns</h3>' in html
    assert items(html) == [
        '<a href="/gae/b/">Is A &lt; B?</a> <strong class="verdict">Yes</strong>',
        'Is <span class="arithmatex">\\(A\\)</span> it? '
        '<span class="detail">004·1 · coming</span>',
    ]


def test_as_asked_links_a_question_to_its_anchor_once_it_is_answered() -> None:
    html = lists.questions("as asked", "en", SITE)
    assert '<h3 id="dialogue-004">Dialogue 004: A path</h3>' in html
    assert "2 questions, 1 answered" in html
    coming, answered = items(html)
    assert 'href="' not in coming and "coming" in coming
    assert '<a href="/gae/b/#q-004-2">Is it <code>B</code>?</a>' in answered
    assert answered.endswith('<strong class="verdict">Yes</strong>')


def test_a_page_that_does_not_say_so_answers_nothing() -> None:
    silent = ANSWER._replace(answers=())
    html = lists.questions("as asked", "en", SITE._replace(answers=[silent]))
    assert "href" not in html and "2 questions, 0 answered" in html


def test_the_first_pages_are_few_and_say_how_far_the_site_is() -> None:
    many = [ANSWER._replace(page=f"gae/p{n}") for n in range(9)]
    html = lists.questions("first", "en", SITE._replace(answers=many))
    assert len(items(html)) == 5 and "/gae/p4/" in items(html)[-1]
    assert "dialogues&#39; 2 questions, 1 are answered so far." in html
    gae = TOPICS | {"gae": replace(TOPICS["gae"], picture="gae/p7")}
    told = lists.questions("first", "en", SITE._replace(answers=many, topics=gae))
    assert len(items(told)) == 1 and "/gae/p7/" in told
    road = replace(TOPICS["contribute"], picture="gae/p8")  # for writers, not readers
    told = lists.questions(
        "first", "en", SITE._replace(answers=many, topics=gae | {"contribute": road})
    )
    assert len(items(told)) == 1 and "/gae/p7/" in told
    assert '<a href="/questions/#by-topic">' in html
    assert '<a href="/questions/#as-asked">' in html


def test_a_topic_shows_its_short_answers_without_their_links() -> None:
    html = lists.topic("gae", "en", SITE)
    assert html.index("On gae.") < html.index("/gae/b/") < html.index("coming")
    assert (
        '<p data-search-exclude="1"><strong>Yes.</strong> By '
        '<code data-is="b">0.50</code>, see why: '
    ) in html
    assert "x.md" not in html
    others = lists.topic("critic", "en", SITE)
    assert "href" not in others and 'id="coming"' not in others
    with pytest.raises(ValueError, match=r"topic: must be one of pipe.*; got 'gea'"):
        lists.topic("gea", "en", SITE)


def test_a_topic_shows_the_picture_of_the_page_that_it_names() -> None:
    drawn = PAGE.replace(
        "## In verl", "## A {{ #picture }}\n\n![Two < three](b.svg)\n\n## In verl"
    )
    page = sources.read_answer(
        drawn.replace("{{", "{").replace("}}", "}"), "gae/b", "x"
    )
    assert page.picture == ("Two < three", "b.svg") and ANSWER.picture is None
    gae = replace(TOPICS["gae"], picture="gae/b")
    site = SITE._replace(answers=[page], topics=TOPICS | {"gae": gae})
    image = '<p><img alt="Two &lt; three" src="b.svg"></p>'
    html = lists.topic("gae", "en", site)
    assert html.index("On gae.") < html.index(image) < html.index("/gae/b/")
    for other in (site._replace(answers=[ANSWER]), site._replace(topics=TOPICS)):
        assert "<img" not in lists.topic("gae", "en", other)


def test_the_pictures_of_the_topics_are_there() -> None:
    pages = {a.page: a for lang in ("zh", "en") for a in sources.answers(ROOT, lang)}
    named = [t.picture for t in read_topics(ROOT).values() if t.picture]
    assert named and [page for page in named if not pages[page].picture] == []


def test_frameworks_say_who_uses_a_place_and_what_no_test_reads() -> None:
    entry = Entry("verl 0.9.1", "a/b.py", "3", "0" * 12, quote="a < b")
    concepts = [
        Concept("切片", "The `slice`", (entry,), file="values.yml"),
        Concept("甲", "O", (replace(entry, release="o/n@a14dc3a"),), file="other.yml"),
    ]
    page = ANSWER._replace(page="debug/signs", title="Signs")
    html = lists.places(concepts, "en", [ANSWER, page])
    used, unused = html.split("</details>")[:2]
    assert '<details class="places">' in used and '<details class="places">' in unused
    assert '<summary><h3 id="values">The <code>slice</code></h3></summary>' in used
    assert 'Used by: <a href="/gae/b/#in-verl">Is A &lt; B?</a>' in used
    assert ', <a href="/debug/signs/">Signs</a>' in used
    assert '<dt class="fact"><span id="values-verl-0-9-1">verl 0.9.1</span>' in used
    assert '<dd class="fact">a/b.py:3 <code>a &lt; b</code></dd>' in used
    assert "No page uses it yet" in unused
    assert '<dt class="fact unchecked"><span id="other-o-n-a14dc3a">o/n@' in unused


@pytest.mark.parametrize(
    ("name", "argument", "lang", "message"),
    [
        ("questions", "by name", "en", r"must be one of by topic, .*; got 'by name'"),
        ("questions", "by topic", "", 'must say data-language="zh" or "en", got'),
        ("topic", "gea", "en", "topic: must be one of"),
        ("wrong_answers", "", "fr", "got 'fr'"),
        ("frameworks", "", "", "data-language"),
    ],
)
def test_a_fence_says_what_it_lacks(
    name: str, argument: str, lang: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        lists.derived(name, argument, lang, ROOT)


def test_a_page_of_lists_passes_the_checks_of_a_page() -> None:
    fence = '```{ .topic data-language="en" }\nalignment\n```\n'
    text = f"---\ntitle: Index alignment\n---\n\nA sentence.\n\n{fence}"
    page = read_page(ROOT, "docs/en/alignment/index.md", text)
    html = lists.fill_lists(render(text, ROOT), ROOT)
    assert 'href="/alignment/value_before_token/"' in html
    assert [*page.problems, *check_boxes(page, html), *check_shown(page, html)] == []
    planted = text.replace("alignment\n```", "alinment\n```")
    (problem,) = check_lists(
        read_page(ROOT, "docs/en/alignment/index.md", planted), ROOT
    )
    assert "must be one of" in problem.expected and problem.line == 7


def test_a_line_of_markdown_loses_its_links_only() -> None:
    assert inline("`a[0]` [b[:, t]](c.md#d) ![e](f.svg)").startswith(
        "<code>a[0]</code> b[:, t] <img"
    )


def test_a_question_leads_to_the_next_that_another_page_answers() -> None:
    next_of = {id: q.next for id, q in sources.questions(ROOT, "en").items()}
    # 004·3 and 004·4 have one page: whoever has read it goes on with 004·5.
    following = next_of["004·3"]
    assert following and following == next_of["004·4"]
    assert (following.id, following.page) == ("004·5", "gae/why_sum_deltas")
    assert next_of["004·2"] and next_of["004·2"].id == "004·3"
    assert next_of["004·12"] is None


@pytest.mark.slow
def test_every_link_of_the_built_site_leads_somewhere(tmp_path: Path) -> None:
    builds = [
        subprocess.Popen(
            [*MKDOCS, "-f", config, "-d", str(tmp_path / lang)],
            cwd=ROOT,
        )
        for lang, config in (("zh", "mkdocs.yml"), ("en", "mkdocs.en.yml"))
    ]
    assert [build.wait() for build in builds] == [0, 0]
    (tmp_path / "en").rename(tmp_path / "zh" / "en")
    pages = {
        file.relative_to(tmp_path / "zh").as_posix(): file.read_text("utf-8")
        for file in (tmp_path / "zh").rglob("index.html")
    }
    ids = {page: set(re.findall(r'\bid="([^"]+)"', pages[page])) for page in pages}
    followed = 0
    for page, html in pages.items():
        main = html.partition("<article")[2].partition("</article>")[0]
        for href in re.findall(r'<a\b[^>]*\bhref="([^":]*)"', main):
            path, _, anchor = href.partition("#")
            target = posixpath.join(posixpath.dirname(page), path)
            if path.endswith((".whl", ".ipynb")):
                assert (tmp_path / "zh" / unquote(target)).is_file(), f"{page}: {href}"
                continue
            target = posixpath.normpath(f"{target}/index.html") if path else page
            assert target in pages, f"{page}: {href}"
            assert not anchor or anchor in ids[target], f"{page}: {href}"
            followed += 1
    assert followed > 20
    assert (
        'href="../../reference/glossary/#'
        in pages["alignment/value_before_token/index.html"]
    )

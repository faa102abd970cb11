"""The lists follow from pages and data, and lead where they say."""

import re
from pathlib import Path

import pytest

from site_tools.compile import navigation
from site_tools.compile.lists import derived
from site_tools.data.dialogues import TOPICS, read_dialogues
from site_tools.page.page import read_page
from site_tools.page.prose import read_wrong_answers
from tests.layout import ROOT
from tests.site.rows import as_yaml
from tests.site.trial_site import write_files

pytestmark = pytest.mark.pages

PAGE = Path(__file__).with_name("listed.md").read_text("utf-8")
DIALOGUE = {
    "id": "004",
    "zh": "路",
    "en": "A path",
    "questions": [
        {"id": "004·1", "zh": "甲？", "en": "Is $A$ it?", "page": "gae/a"},
        {"id": "004·2", "zh": "乙？", "en": "Is it `B`?", "page": "gae/b"},
    ],
}
ENTRY = {"path": "a/b.py", "lines": "3", "hash": "0" * 12, "quote": "a < b"}
SLICE = {
    "zh": "切片",
    "en": "The `slice`",
    "entries": [
        {"release": "verl 0.9.1"} | ENTRY,
        {"release": "o/n@a14dc3a"} | ENTRY,
    ],
}


def topics(**pictures: str) -> str:
    """``docs/topics.yml`` with the pages whose pictures tell the topics."""
    return as_yaml(
        [
            {"id": name, "zh": f"{name}。", "en": f"On {name}."}
            | ({"picture": pictures[name]} if name in pictures else {})
            for name in TOPICS
        ]
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """One question page, one that is coming, one facts file."""
    files = {
        "docs/en/gae/b.md": PAGE,
        "docs/en/gae/index.md": "---\ntitle: GAE intuition\n---\n",
        "docs/en/debug/signs.md": "---\ntitle: Signs\n---\n\n```fact\nvalues x\n```\n",
        "docs/dialogues.yml": as_yaml([DIALOGUE]),
        "docs/topics.yml": topics(),
        "docs/facts/values.yml": as_yaml(SLICE),
    }
    write_files(tmp_path, files)
    return tmp_path


def items(html: str) -> list[str]:
    return re.findall(r"<li[^>]*>(.*?)</li>", html)


def test_by_topic_shows_pages_first_and_then_what_is_coming(project):
    html = derived("questions", "by topic", "en", project)
    headings = re.findall(r'<h3 id="(\w+)">', html)
    assert " ".join(headings) == (
        "pipeline rewards alignment bootstrap gae critic on_policy "
        "loss off_policy turns"
    )
    assert '<h3 id="gae"><a href="/gae/">GAE intuition</a></h3>' in html
    assert '<h3 id="critic">What the critic learns</h3>' in html
    assert items(html) == [
        '<a href="/gae/b/">Is A &lt; B?</a> <strong class="verdict">Yes</strong>',
        'Is <span class="arithmatex">\\(A\\)</span> it? '
        '<span class="detail">004·1 · coming</span>',
    ]


def test_as_asked_links_a_question_to_its_anchor_once_it_is_answered(project):
    html = derived("questions", "as asked", "en", project)
    assert '<h3 id="dialogue-004">Dialogue 004: A path</h3>' in html
    assert "2 questions, 1 answered" in html
    coming, answered = items(html)
    assert 'href="' not in coming and "coming" in coming
    assert '<a href="/gae/b/#q-004-2">Is it <code>B</code>?</a>' in answered
    silent = PAGE.replace('answers: ["004·2"]', "")
    write_files(project, {"docs/en/gae/b.md": silent})
    assert "href" not in derived("questions", "as asked", "en", project)


LINE = """see [why](x.md#why): $A_t$.

- 004·2: not {}, but
  `2.0`, [exactly](x.md). The rest is left out.
"""


def test_as_asked_gives_each_question_the_verdict_of_its_own_line(project):
    own = PAGE.replace("see [why](x.md#why): $A_t$.", LINE.format("always"))
    write_files(project, {"docs/en/gae/b.md": own})
    _, answered = items(derived("questions", "as asked", "en", project))
    said = "Not always, but <code>2.0</code>, exactly"
    assert answered.endswith(f'<strong class="verdict">{said}</strong>')
    # By topic a page is one line, with its own verdict.
    by_topic = items(derived("questions", "by topic", "en", project))[0]
    assert by_topic.endswith('<strong class="verdict">Yes</strong>')


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_every_question_of_the_dialogues_has_a_line_on_its_page(lang):
    homes = {id: a for a in navigation.answers(ROOT, lang) for id in a.answers}
    asked = [q.id for d in read_dialogues(ROOT) for q in d.questions]
    assert [id for id in asked if id not in homes[id].lines] == []
    right = {"zh": "平均来看说得对", "en": "Right on average, at"}
    assert right[lang] in homes["001·2"].verdict_on("001·2")


def test_the_first_pages_are_few_and_say_how_far_the_site_is(project):
    write_files(project, {f"docs/en/gae/p{n}.md": PAGE for n in range(9)})
    html = derived("questions", "first", "en", project)
    assert len(items(html)) == 5 and "/gae/p3/" in items(html)[-1]
    assert "dialogues&#39; 2 questions, 1 are answered so far." in html
    # a picture for those who write is none for those who read
    pictures = topics(gae="gae/p7", contribute="gae/p8")
    write_files(project, {"docs/topics.yml": pictures})
    (only,) = items(derived("questions", "first", "en", project))
    assert "/gae/p7/" in only


def test_a_topic_shows_a_picture_and_short_answers_without_links(project):
    html = derived("topic", "gae", "en", project)
    assert "<img" not in html and "x.md" not in html
    assert (
        '<p data-search-exclude="1"><strong>Yes.</strong> By '
        '<code data-is="b">0.50</code>, see why: '
    ) in html
    write_files(project, {"docs/topics.yml": topics(gae="gae/b")})
    html = derived("topic", "gae", "en", project)
    image = '<p><img alt="Two &lt; three" src="b.svg"></p>'
    parts = ["On gae.", image, "/gae/b/", 'id="coming"']
    places = [html.index(part) for part in parts]
    assert places == sorted(places)


def test_a_wrong_answer_says_who_where_and_how_it_fails(project):
    html = derived("wrong_answers", "", "en", project)
    assert html.count("<li") == 2 and ">GAE intuition</h2>" in html
    first = html.partition("</li>")[0]
    assert '<a href="/gae/b/#wrong-three">"It is <em>three</em>"</a>' in first
    assert '<span class="detail">Dialogue 001·4</span>' in first
    assert "<code>AssertionError: got 2</code>" in first
    html = derived("wrong_answers", "gae/b#wrong-four", "en", project)
    assert html.index(">1 to begin with</h2>") < html.index("Four")
    assert html.index("Four") < html.index(">GAE intuition</h2>") < html.index("three")
    assert html.count("Four") == 1 and '<p class="count">2 of them.</p>' in html


def test_a_wrong_answer_that_no_run_refutes_says_so(project):
    said = "refuted by sources, not by a run"
    assert said not in derived("wrong_answers", "", "en", project)
    marked = PAGE.replace("#wrong-four }", "#wrong-four .cited }")
    write_files(project, {"docs/en/gae/b.md": marked})
    html = derived("wrong_answers", "gae/b#wrong-four", "en", project)
    four, _ = html.split("</li>")[:2]
    assert "#wrong-four" in four and said in four
    assert html.count(said) == 1


FOUR = '!!! quote "verl#1960"\n\n    Four.'
THREE = '!!! quote "Dialogue 001·4"\n\n    Three.'


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("#wrong-four", "#four", '### "Four" { #four }'),
        (FOUR, "Somebody says four.", '### "Four" { #wrong-four } without a quotation'),
        (THREE, "Three.", '### "It is *three*" { #wrong-three } without a quotation'),
        ('### "', '#### "', "a section #wrong-answers without an entry"),
    ],
)
def test_a_claim_without_id_or_quotation_is_named(old, new, found):
    assert old in PAGE
    page = read_page(ROOT, "docs/en/gae/b.md", PAGE.replace(old, new))
    _, problems = read_wrong_answers(page.body, page.fences, page.path)
    assert [problem.found for problem in problems] == [found]


def test_frameworks_say_who_uses_a_place_and_what_no_test_reads(project):
    html = derived("frameworks", "places", "en", project)
    assert '<summary><h3 id="values">The <code>slice</code></h3></summary>' in html
    assert 'Used by: <a href="/gae/b/#in-verl">Is A &lt; B?</a>' in html
    assert ', <a href="/debug/signs/">Signs</a>' in html
    assert '<dt class="fact"><span id="values-verl-0-9-1">verl 0.9.1</span>' in html
    assert ">a/b.py:3</a> <code>a &lt; b</code></dd>" in html
    # No test reads a commit again, and the page says so.
    assert '<dt class="fact unchecked"><span id="values-o-n-a14dc3a">o/n@' in html
    css = (ROOT / "docs/theme/assets/site.css").read_text("utf-8")
    unchecked = r'\.fact\.unchecked{}::after {{ content: " · {}"'
    assert re.search(unchecked.format("", "a commit, not re-read by the tests"), css)
    assert re.search(unchecked.format(r":lang\(zh\)", "提交，测试不复核"), css)
    assert derived("fact", "values verl 0.9.1", "", project) == (
        '<p class="fact"><a href="https://github.com/verl-project/verl/blob/'
        'v0.9.1/a/b.py#L3">verl 0.9.1 · a/b.py:3</a> <code>a &lt; b</code></p>'
    )


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


def test_a_question_leads_to_the_next_that_another_page_answers():
    next_of = {
        id: following for id, (_, following) in navigation.asked(ROOT, "en").items()
    }
    # 004·3 and 004·4 have one page: whoever has read it goes on with 004·5.
    following = next_of["004·3"]
    assert following and following == next_of["004·4"]
    assert (following.id, following.page) == ("004·5", "gae/why_sum_deltas")
    assert next_of["004·12"] is None

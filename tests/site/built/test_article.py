"""What stands around the text of one page: box, aliases, switch, ways out of it."""

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from site_tools.compile import article, ways
from site_tools.compile.navigation import Answer
from site_tools.compile.templates import words
from site_tools.data.dialogues import Asked
from site_tools.page.accord import Accord, State

FORMS = Path(__file__).parents[3] / ".github" / "ISSUE_TEMPLATE"
BOTH = [("zh", "docs/zh/a/b.md"), ("en", "docs/en/a/b.md")]
PAGE = (
    '<h2 id="answer">之前</h2>\n<p>是。</p>\n'
    '<h2 id="in-verl">哪一行</h2><h2 id="code">跑</h2><h2 id="else">别的</h2>'
)
FIGURE = '<span class="figure" data-is="a[0, 1]">0.5</span>'
BOX = f'<section class="answer"><p>{FIGURE}</p></section>'
PICTURE = (
    '<figure class="picture"><svg><text><tspan data-is="a &lt; b">1</tspan></text>'
    '<text><tspan class="x" data-is="c">2</tspan></text>'
    '<text><tspan data-is="c">2</tspan></text></svg></figure>'
)


HTML = '<h2 id="why">Why</h2><h3 id="deep">Deep <em>down</em><a class="headerlink">¶'
HTML += "</a></h3>"


def test_a_notice_leads_to_the_sections_of_the_twin():
    ahead = Accord("gae/a", State.ZH_AHEAD, zh=("(top)", "why", "deep", "gone"))
    html = article.notice(HTML, ahead, "en", "gae/a/").replace(HTML, "")
    text = re.sub(r"<[^>]*>", "", html).strip()
    assert text == "The Chinese version is newer: beginning, why, deep, gone."
    links = ["", "#why", "#deep", "#gone"]
    assert re.findall(r'href="([^"]*)"', html) == [f"../../../gae/a/{x}" for x in links]
    for state in State.ACCORD, State.UNRECORDED:
        known = Accord("gae/a", state, unrecorded=("why",))
        assert article.notice(HTML, known, "en", "gae/a/").strip() == HTML


def test_the_askers_words_are_folded_and_lead_to_the_conversation():
    later = Asked("那么？", "So $V$?", "004·5", "gae/b")
    asked = {
        "004·2": (Asked("甲？", "Is $V$ < 1?", "004·2", "gae/a"), later),
        "004·3": (Asked("乙？", "Rough?", "004·3", "gae/a"), None),
    }
    html = article.answer_box(PAGE, ["004·2", "004·10", "verl#1960"], "en", asked)
    folded = html.partition("<details")[2].partition("</details>")[0]
    assert folded.count("<p>") == 2 and "Rough" not in folded
    formula = '<span class="arithmatex">\\(V\\)</span>'
    link = '<a href="/questions/#dialogue-004">Dialogue 004·2</a>'
    assert f"<p>{link} Is {formula} &lt; 1?</p>" in folded
    assert f'Then came <a href="/gae/b/#q-004-5">004·5</a> So {formula}?</p>' in folded
    assert html.index("</details>") < html.index("</section>")
    assert "<details" not in article.answer_box(PAGE, ["verl#1960"], "en", asked)


def test_a_page_says_first_what_to_read_before_it_and_for_how_long():
    pages = [
        Answer("course/goal", "1 · What is optimised"),
        Answer("course/gradient", "2 · The gradient $g$", needs=("course/goal",)),
        Answer("gae/why", "Why add?", needs=("course/gradient",)),
    ]
    text = "<p>" + "word " * 1000 + "</p>"
    question = article.reading(text, "gae/why", "en", pages)
    assert question.endswith(text) and "5 min" in question
    assert question.count("<a href=") == 1 and "<ol" not in question
    assert '<a href="/course/gradient/">2 · The gradient <span' in question
    step = article.reading(text, "course/gradient", "en", pages)
    here = (
        '<a href="/course/gradient/" title="2 · The gradient $g$" aria-current="page">2'
    )
    assert step.count("<li>") == 2 and here in step
    assert article.reading(text, "debug/index", "en", pages) == text


def test_a_refuted_claim_is_folded_up_to_the_next_heading():
    link = '<a class="headerlink" href="#wrong-a">#</a>'
    claims = f'<h3 id="wrong-a">A{link}</h3><p>1</p><h3 id="wrong-b">B</h3><p>2</p>'
    html = article.fold_refutations(f'{claims}<h2 id="code">C</h2><h3 id="x">D</h3>')
    assert html == (
        '<details class="refuted"><summary><h3 id="wrong-a">A</h3></summary>\n'
        "<p>1</p></details>"
        '<details class="refuted"><summary><h3 id="wrong-b">B</h3></summary>\n'
        '<p>2</p></details><h2 id="code">C</h2><h3 id="x">D</h3>'
    )


@pytest.mark.parametrize("html", [f"{BOX}<p>{FIGURE}</p>", f"<p>{FIGURE}</p>", PICTURE])
def test_a_page_with_figures_has_one_switch_that_waits_for_a_script(html):
    offered = article.provenance(html, "zh")
    assert offered.count("<button") == 1 and "tabindex" not in offered
    assert 'aria-pressed="false" hidden' in offered
    assert ">显示每个数字的出处</button>" in offered


def test_figures_of_a_picture_are_listed_once_below_it():
    offered = article.provenance(PICTURE, "en")
    listed = "<li>1 = <code>a &lt; b</code></li><li>2 = <code>c</code></li></ul></fig"
    assert listed in offered
    assert offered.index("</svg>") < offered.index('<ul class="provenance"')


@pytest.mark.parametrize(("lang", "colon"), [("zh", "："), ("en", ":")])
def test_a_report_fills_in_what_its_form_asks(lang, colon):
    *_, report = ways.edits("https://e.org/r", [], "a/b", "A?", lang)
    filled = parse_qs(urlsplit(report.href).query)
    (template,) = filled.pop("template")
    assert filled.pop("title") == ["A?"]
    form = yaml.safe_load((FORMS / template).read_text("utf-8"))
    fields = {f["id"]: f["attributes"]["label"] for f in form["body"] if "id" in f}
    assert filled.keys() == {"page", "language"} and filled.keys() <= fields.keys()
    text = words(lang)["report_form"].format(page="a/b", title="A?")
    asked = [line.partition(colon)[0] for line in text.split("\n")]
    assert asked == [*fields.values()] and "a/b" in text and "A?" in text


def test_a_copied_text_that_goes_on_has_only_the_rest():
    texts = ["", "a\n<", "", "a\n<b", "a\n<b\n\nc", "d"]
    assert [*article.copied_texts(texts)] == [
        "",
        ' data-copy="a\n&lt;"',
        "",
        ' data-more="b"',
        ' data-more="\n\nc"',
        ' data-copy="d"',
    ]

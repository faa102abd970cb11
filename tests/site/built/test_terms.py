"""Terms of the glossary in running text: the first in a section, and nowhere else."""

import re

import pytest

from site_tools.compile.templates import as_plain
from site_tools.data.names import Name
from site_tools.finish import reading
from site_tools.finish.article import parsed, written
from tests.site.articles import article, inside

NAMES = [
    Name("value", "价值", "value", "预期 $V(s_t)$。", "At $s_t$, <expected>."),
    Name("advantage", "优势", "advantage", "更好。", "Better."),
    Name("td", "TD 残差", "TD residual", "意外。", "News.", also_en=("TD error",)),
    Name("gae", "GAE", "GAE", "加权和。", "A sum."),
    Name("gae-lambda", "GAE 的 λ", "GAE lambda", "计入多少。", "How much."),
    Name("critic", "critic", "critic", "估值。", "Values."),
]


def linked(html: str, lang: str = "en") -> list[tuple[str, str]]:
    """Id and text of every link made, and nothing else changed."""
    made = article(html, lang)
    reading.link_terms(made, NAMES)
    result = inside(made)
    whole = re.sub(r'<a class="term"[^>]*>(.*?)</a>', r"\1", result, flags=re.S)
    assert whole == written(parsed(html))
    link = r'<a class="term" href="[^"]*#([\w-]+)"[^>]*>([^<]*)</a>'
    return re.findall(link, result)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("用优势估计", [("advantage", "优势")]),
        ("GAE估计和GAE 的 λ，Critic给", ["gae", "gae-lambda", "critic"]),
        ("价值、价值、优势", ["value", "advantage"]),
        ("critics 和 RGAE、GAE2、actor-critic", []),
    ],
)
def test_chinese_terms_have_no_word_ends(text, found):
    made = linked(f"<p>{text}</p>", "zh")
    assert made == found or [name for name, _ in made] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Values of the critics", [("value", "Values"), ("critic", "critics")]),
        ("devalued valued evaluate value_loss value-based 2value", []),
        ("the TD\nresiduals", [("td", "TD\nresiduals")]),
        ("a TD error, then a TD residual", [("td", "TD error")]),
        ("GAE lambda and GAE", [("gae-lambda", "GAE lambda"), ("gae", "GAE")]),
    ],
)
def test_english_terms_are_words(text, found):
    assert linked(f"<p>{text}</p>") == found


@pytest.mark.parametrize(
    "html",
    [
        "<code>value</code>",
        '<a href="x.md">the <em>value</em></a>',
        '<span class="arithmatex">\\(value\\)</span>',
        '<div class="admonition quote"><p class="admonition-title">1</p><p>value</p>'
        "</div>",
        '<figure><svg><path d="M0 0"/><text>value</text></svg></figure>',
        '<section class="derived own"><p>value</p></section>',
        '<img alt="value > other" title="value">',
    ],
)
def test_a_term_that_is_no_running_text_is_let_be(html):
    assert linked(html) == []
    assert linked(f"{html}<p>value</p>") == [("value", "value")]


def test_a_fold_is_running_text_and_an_image_ends_nothing():
    fold = "<details><summary>x</summary><p>a<br>b <img src='x'> value</p></details>"
    assert linked(fold) == [("value", "value")]


def test_the_tooltip_is_plain_text():
    made = article("<p>value</p>")
    reading.link_terms(made, [])
    assert inside(made) == "<p>value</p>"
    reading.link_terms(made, NAMES)
    assert made.content.a["title"] == "At s_t, <expected>."
    assert made.content.a["href"] == "/reference/glossary/#value"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (r"$\gamma$ 倍，$\lambda=1$", "γ 倍，λ=1"),
        (r"$\log\pi(a_t\mid s_t)$", "log π(a_t | s_t)"),
        (r"$\hat A_{t}$ or $V_{t+1}$ in `x`", "Â_t or V_{t+1} in x"),
        (r"$\mathrm{old}$", "old"),
    ],
)
def test_formulas_are_spelled_out(text, plain):
    assert as_plain(text) == plain

"""What a share card and a search result say of a page."""

import pytest

from site_tools.site import head, katex
from site_tools.site.formulas import find, render
from tests.site.trial_site import ROOT


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<h2>H</h2><p>One <em>two</em>\n<code>a[0]</code>.</p><p>Three.</p>", None),
        ('<p>First.</p><section class="answer"><p></p><p>One two a[0].</p>', None),
        ("<aside><p>Stale.</p></aside><p>One two a[0].</p>", None),
        ("<details><p>Guess.</p></details><p>One two a[0].</p>", None),
        ('<div class="admonition note"><p>N.</p></div><p>One two a[0].</p>', None),
        ('<p class="languages">Stale.</p><p>One two a[0].</p>', None),
        ('<p class="moved">Here.</p><p class="summary">One two a[0].</p>', None),
        ("<p><img src=x></p><p>One two a[0].</p>", None),
        ("<p>1 &lt; 2 &amp; 3</p>", "1 < 2 & 3"),
        (
            "<p><strong>之前。</strong> 先读 prompt。 再看 t</p>",
            "之前。先读 prompt。再看 t",
        ),
        ("<p><svg><path></path></svg>Drawn.</p>", "Drawn."),
        ("<ul><li>None.</li></ul>", ""),
    ],
)
def test_the_description_is_the_first_paragraph_in_plain_text(
    html: str, text: str | None
) -> None:
    assert head.description(html) == (text if text is not None else "One two a[0].")


FORMULAS = {
    r"V(s_t)": "V(s_t)",
    r"V(s_{t+1})": "V(s_(t+1))",
    r"\gamma=\lambda=1": "γ = λ = 1",
    r"\hat A_t = G_t - V(s_t)": "Â_t = G_t−V(s_t)",
    r"\hat{A}_{t}^{\lambda}": "Â_t^λ",
    r"\frac{1}{1-\gamma}": "1/(1−γ)",
    r"\sqrt{x} \le \log y": "√x ≤ log y",
    r"\mathrm{values}_t": "values_t",
    r"\sum_{t=0}^{T} r_t": "∑_(t = 0)^T r_t",
    r"\bar x \in [0, 1]": "x̄ ∈ [0,1]",
    r"a \text{ if } b": "a if b",
    r"a\phantom{b}": "a",
    r"\begin{aligned} a &= b \\ c &= d \end{aligned}": "a = b; c = d",
}


def test_formulas_are_words_in_a_description() -> None:
    marked = {
        tex: rf'<p><span class="arithmatex">\({tex}\)</span></p>' for tex in FORMULAS
    }
    typeset = katex.typeset(marked, ROOT / ".cache" / "katex")
    for tex, html in marked.items():
        assert find(html)
        text = head.description(render(html, typeset))
        assert text == FORMULAS[tex], tex


def card(**changed: object) -> dict[str, str]:
    usual: dict[str, object] = {
        "title": "Q?",
        "about": "Yes.",
        "lang": "zh",
        "site": "S",
        "home": False,
        "url": None,
    }
    return head.properties(**(usual | changed))  # type: ignore[arg-type]


def test_a_card_says_what_the_page_is() -> None:
    assert card() == {
        "og:title": "Q?",
        "og:description": "Yes.",
        "og:type": "article",
        "og:locale": "zh_CN",
        "og:site_name": "S",
        "twitter:card": "summary",
    }
    assert card(lang="en")["og:locale"] == "en_US"
    assert card(home=True)["og:type"] == "website"
    assert card(url="https://e.org/a/")["og:url"] == "https://e.org/a/"
    assert "og:description" not in card(about="")

"""The entries of a page for search engines, share cards and the site's own search."""

import json

import pytest

from site_tools.finish import formulas, search_index
from site_tools.finish.article import parsed
from site_tools.finish.search_index import dump_first

PAGE = """<h1 id="t">Title<a class="headerlink" href="#t">¶</a></h1><p>Lead</p>
<nav class="jump" data-unsearched="1"><a href="#why">why</a></nav>
<h2 id="why">为什么<a class="headerlink" href="#why">¶</a></h2>
<style>.x {}</style><div class="tabbed"><label>0.9</label><label>0.7</label></div>
<pre><span></span><code><span class="n">values</span><span>[:,</span> t]</code></pre>
"""


def entries(html, url, title, aliases):
    return search_index.entries(parsed(html), url, title, aliases)


def test_each_section_is_an_entry_of_plain_text():
    assert entries(PAGE, "gae/", "ignored", []) == [
        {"location": "gae/", "title": "Title", "text": "Lead"},
        {
            "location": "gae/#why",
            "title": "为什么",
            "text": "0.9 0.7 values[:, t]",
        },
    ]


def test_a_term_is_found_by_what_it_is_called_in_either_language():
    term = '<dl><dt id="kl">KL <code>kl</code> <span>[batch, time]</span></dt></dl>'
    two = '<dl><dt id="reward">奖励 <span lang="en">reward</span></dt></dl>'
    code = '<h2 id="ppo_ref.kl.kl_k1">kl_k1</h2>'
    for html, names in (
        (term, ["KL", "kl"]),
        (two, ["奖励", "reward"]),
        (code, ["ppo_ref.kl.kl_k1"]),
    ):
        assert entries(html, "a/", "A", [])[1]["names"] == names


def test_the_first_index_has_of_each_page_its_title_verdict_and_other_wordings():
    answered = (
        '<h1 id="t">Q</h1><h2 id="answer">In short</h2><p>No. </p><h2 id="why">Why</h2>'
    )
    found = [
        *entries(answered + "<p>Long.</p>", "q/", "Q", ["how", "what for #why"]),
        *entries('<h1 id="t">L</h1>' + "<p>word</p>" * 99, "list/", "L", []),
        *entries('<h1 id="t">C</h1><h2 id="a.b">b</h2><p>Code</p>', "code/", "C", []),
    ]
    question, why, lists, code = json.loads(dump_first(found))["docs"]
    said = {"location": "q/", "title": "Q", "text": "No.", "aliases": ["how"]}
    assert question == said
    assert why["location"] == "q/#why" and why["aliases"] == ["what for"]
    assert lists["text"].startswith("word word") and len(lists["text"]) <= 100
    assert code["location"] == "code/", "a name in the code is no wording of a question"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<h2>H</h2><p>One <em>two</em>\n<code>a[0]</code>.</p><p>Three.</p>", None),
        ('<p>First.</p><section class="answer"><p></p><p>One two a[0].</p>', None),
        ("<details><p>Guess.</p></details><p>One two a[0].</p>", None),
        ('<div class="reading" id="x"><p>9 min</p></div><p>One two a[0].</p>', None),
        ('<p class="languages">Stale.</p><p>One two a[0].</p>', None),
        ('<p class="moved">Here.</p><p class="summary">One two a[0].</p>', None),
        ("<p>1 &lt; 2 &amp; 3</p>", "1 < 2 & 3"),
        ("<ul><li><a>One</a> two a[0].</li><li>Three.</li></ul>", None),
        ("<ul><li>Zero.</li></ul><p>One two a[0].</p>", None),
        (
            "<p><strong>之前。</strong> 先读 prompt。 再看 t</p>",
            "之前。先读 prompt。再看 t",
        ),
        (
            r'<p><span class="arithmatex">\(0 &lt; \hat A_{\mathrm{old}}\)</span>.</p>',
            "0 < Â_{old}.",
        ),
    ],
)
def test_the_description_is_the_first_paragraph_in_plain_text(html, text):
    soup = parsed(html)
    typeset = {formula: "<i></i>" for formula in formulas.find(soup)}
    formulas.put_in_formulas(soup, typeset)
    expected = text if text is not None else "One two a[0]."
    assert search_index.description(soup) == expected


def test_a_formula_is_found_as_it_is_read():
    soup = parsed(r'<p>At <span class="arithmatex">\(a &lt; 1\)</span>, no.</p>')
    (formula,) = formulas.find(soup)
    mathml = "<math><mi>a</mi><mo>&lt;</mo><mn>1</mn></math>"
    formulas.put_in_formulas(soup, {formula: mathml})
    (page,) = search_index.entries(soup, "a/", "A", [])
    assert page["text"] == "At a<1, no."

"""One sheet for all pages, the first styles in each, and a policy of what may run."""

import base64
import hashlib
import re
from pathlib import Path

import pytest

from site_tools.finish import head
from site_tools.finish.article import AS_IT_WAS, parsed, written
from site_tools.finish.head import sheet

HEAD = '<head>\n<meta charset="utf-8">\n{}</head>\n'
LINKS = (
    '<link rel="stylesheet" href="../assets/stylesheets/main.1.min.css">\n'
    '<link rel="stylesheet" href="../assets/katex/katex.css?6">\n'
)
POLICY = re.compile(r'content="(default-src[^"]*)"')


def link_sheet(html: str, first: str) -> str:
    soup = parsed(html)
    head.link_sheet(soup, first)
    return written(soup)


def add_policy(html: str) -> str:
    soup = parsed(html)
    head.add_policy(soup)
    return written(soup)


@pytest.mark.parametrize(
    ("css", "kept"),
    [
        (".a { b: c }\n.z { b: c }", ".a{b: c}"),
        (".a,.z,p{b:c}", ".a,p{b:c}"),
        (".a.z{b:c}.a .a{b:c}", ".a .a{b:c}"),
        (
            "@media print{.z{b:c}}@media screen{.z{b:c}.a{b:c}}",
            "@media screen{.a{b:c}}",
        ),
        (".a:not(.z){b:c}.a:is(.z, .a)>p{b:c}", ".a:not(.z){b:c}.a:is(.z, .a)>p{b:c}"),
        ("[dir=rtl] .a,[dir=ltr] .a{b:c}", "[dir=ltr] .a{b:c}"),
        ('a[href$=".z"]{b:c}', 'a[href$=".z"]{b:c}'),
        (
            "@font-face{src:url(fonts/k.woff2?5)}",
            "@font-face{src:url(x/fonts/k.woff2?5)}",
        ),
        ("p{b:url('data:fonts/d')}/*# map */", "p{b:url('data:fonts/d')}"),
        (
            ':root{--x:url("data:a;b");c:d;--y:1}p{e:var(--y)}',
            ":root{c:d;--y:1}p{e:var(--y)}",
        ),
        (
            ":root{--y:1;--z:2}p{c:var(--y)}:root{--y:3}",
            ":root{}p{c:var(--y)}:root{--y:3}",
        ),
        ("p{--x:var(--y);--y:'a;}';--a:c}", "p{}"),
        ("p{--page:1px;--y: ;b:var( --y )}", "p{--page:1px;--y: ;b:var( --y )}"),
    ],
)
def test_a_sheet_has_what_a_page_can_need(css, kept):
    assert sheet([("x/", css)], {"a", "--page"}) == kept


def test_the_sheets_follow_each_other():
    assert sheet([("", "p{b:c}"), ("", "p{b:d}")], ()) == "p{b:c}p{b:d}"


@pytest.mark.parametrize(
    "first_words",
    [
        '<h1 id="a">A</h1>\n<p>b</p>\n<p>c <a>d</a></p>',
        "<h1>A</h1>",
        '<span></span>\n<h1>A</h1>\n<div class="reading"><p>b</p></div>\n<p>c</p>',
        '<h1>A</h1>\n<section class="answer">\n<span></span>\n<h2>B</h2>\n<p>c</p>',
    ],
)
@pytest.mark.parametrize(
    "rest",
    ["\n<pre>d</pre>", '<p>e <span class="arithmatex"></span></p>', "<h2>F</h2>"],
)
def test_the_sheet_is_linked_behind_the_first_words(first_words, rest):
    page = HEAD + '<body><article class="x">{}{}</article></body>'
    done = link_sheet(page.format(LINKS, first_words, rest), "p{b:c}")
    link = '<link rel="stylesheet" href="../assets/site.css">'
    before, linked, after = done.partition(link)
    assert linked and done.count("<link") == 1 and "<style>p{b:c}</style>" in before
    begun = parsed(before).article.decode_contents(formatter=AS_IT_WAS)
    assert begun.removesuffix("</section>") == first_words
    assert after.startswith(rest)


def test_a_page_without_sheets_stays_as_it_is():
    assert link_sheet("<article></article>", "") == "<article></article>"


def digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def policy_of(html: str) -> dict[str, list[str]]:
    [said] = POLICY.findall(html)
    parts = (part.split() for part in said.split(";"))
    return {name: allowed for name, *allowed in parts}


def test_scripts_of_the_theme_may_run_and_no_others():
    body = (
        "<script>theirs()</script><article><script>planted()</script>"
        '</article><p onclick="planted()"></article><script src="x.js"></script>'
        '<style>p { b: c }</style><script type="application/json">{}</script>'
    )
    html = add_policy(HEAD.format("") + body)
    assert html.index("Content-Security-Policy") < html.index("<script")
    policy = policy_of(html)
    assert policy["script-src"] == ["'self'", f"'sha256-{digest('theirs()')}'"]
    assert policy["style-src-elem"] == ["'self'", f"'sha256-{digest('p { b: c }')}'"]
    assert "script-src-attr" not in policy and "script-src-elem" not in policy
    for closed in ("default-src", "base-uri"):
        assert policy[closed] == ["'none'"]
    allowed = {source for sources in policy.values() for source in sources}
    assert {source for source in allowed if not source.startswith("'sha256-")} == {
        "'none'",
        "'self'",
        "'unsafe-inline'",  # of style attributes alone
        "data:",
    }
    assert "'unsafe-inline'" in policy["style-src"]


def test_a_page_that_could_not_be_told_is_refused():
    with pytest.raises(ValueError, match="a page must say its charset"):
        add_policy("<head></head>")


def test_every_page_allows_its_own_scripts(trial):
    pages = [*(trial / "site").rglob("*.html")]
    scripts = 0
    for page in pages:
        html = page.read_text("utf-8")
        inline = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
        allowed = policy_of(html)["script-src"]
        assert set(allowed) == {"'self'", *(f"'sha256-{digest(s)}'" for s in inline)}
        scripts += len(inline)
    assert len(pages) > 20 and scripts > 40


def test_a_site_has_one_sheet_in_each_language(trial):
    site: Path = trial / "site"
    for home in (site, site / "en"):
        [name] = [path.name for path in (home / "assets").glob("*.css")]
        [*others] = (home / "assets" / "stylesheets").glob("*")
        assert others == []
        html = (home / "alignment/first/index.html").read_text("utf-8")
        assert re.findall(r'<link rel="stylesheet" href="([^"]*)"', html) == [
            f"../../assets/{name}"
        ]
        assert html.index("<style>") < html.index("<body") < html.index(name)
        css = (home / "assets" / name).read_text("utf-8")
        fonts = re.findall(r"url\((katex/fonts/[^?)]*)", css)
        assert fonts and all((home / "assets" / font).exists() for font in fonts)


def test_a_formula_in_a_heading_waits_for_the_sheet():
    page = HEAD.format(LINKS) + (
        '<article><h1>A</h1><section class="answer"><span></span>'
        '<h2>B <i class="arithmatex"></i></h2><p>c</p></section></article>'
    )
    done = link_sheet(page, "")
    assert "<h1>A</h1><link" in done

"""Pictures: one language, safe, described; a figure in one is bound as a whole."""

import re
import shutil

import pytest

from site_tools.finish import pictures, widgets
from site_tools.judge.own_language import check_pictures_language
from site_tools.page.page import read_page
from site_tools.page.pictures import read_picture
from tests.layout import ROOT
from tests.site.articles import article
from tests.site.articles import inside as content

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">{}</svg>'


def svg(text: str, alt: str, lang: str = "en") -> str:
    return pictures.svg(text, "a.svg", alt, article("", lang), "p").html


def shown(inside: str, lang: str = "en") -> str:
    return svg(SVG.format(inside), "A post", lang)


def test_only_the_words_of_the_language_are_kept():
    inside = '<text><tspan lang="zh">前</tspan><tspan lang="en">past</tspan> t</text>'
    assert '<tspan lang="zh">前</tspan> t</text>' in shown(inside, "zh")
    assert '<tspan lang="en">past</tspan> t</text>' in shown(inside, "en")
    first = '<text><tspan lang="zh">前</tspan> t</text>'
    assert ">t</text>" in shown(first).replace(" ", "")
    assert "past" not in shown(inside, "zh") and "前" not in shown(inside, "en")


def test_ids_and_what_points_to_them_are_made_unique():
    html = shown('<g id="tip"/><path marker-end="url(#tip)"/><use href="#tip"/>')
    assert 'id="p-tip"' in html
    assert 'marker-end="url(#p-tip)"' in html
    assert 'href="#p-tip"' in html


def test_a_picture_is_described_and_takes_the_colour_of_the_text():
    html = shown("<title>old</title>")
    assert '<title id="p-title">A post</title>' in html and "old" not in html
    assert 'role="img" aria-labelledby="p-title"' in html
    assert 'fill="currentColor"' in html and "xmlns" not in html


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ("<style>a{}</style>", r"a\.svg: <style> must not be in a picture"),
        ('<use href="b.svg#x"/>', r'href="b\.svg#x" on <use> must point within'),
        ('<path fill="#000"/>', r'fill="#000" on <path> must be currentColor'),
        ('<text style="fill: red">t</text>', r"on <text> must be currentColor"),
        ('<a href="//x/"/>', r"<a> must have the address of a page and nothing else"),
        ("<path>", r"a\.svg: must be well-formed XML, got mismatched tag"),
        ("<foreignObject/>", "<foreignObject> must not be in a picture"),
        ("<path onload='f()'/>", "is an event handler"),
        (r"<path filter='u\72l(//x)'/>", "must not hold a backslash"),
        ("<path style='fill: image-set(\"//x\")'/>", "must be made of fill"),
        ("<a href='javascript:f()'/>", "must have the address of a page"),
        ('<text display="none">0.5</text>', 'display="none" on <text> hides what is'),
    ],
)
def test_what_must_not_be_shown_is_refused(inside, message):
    with pytest.raises(ValueError, match=message):
        shown(inside)


def test_a_picture_without_viewbox_or_words_is_refused():
    with pytest.raises(ValueError, match=r"a\.svg: <svg> must have a viewBox"):
        svg("<svg/>", "A post")
    with pytest.raises(ValueError, match=r"a\.svg: a picture must be described"):
        svg(SVG.format(""), " ")


def test_a_picture_may_lead_to_pages_and_its_links_can_be_heard():
    html = shown('<a href="/gae/inputs/#why"><text lang="en">Why</text></a>')
    assert 'href="../inputs/#why"' in html
    assert 'role="group" aria-labelledby="p-title"' in html


def placed(root, html):
    """An article whose picture lies beside it, as the generator left it."""
    figure = '<text><tspan data-is="a &lt; b">1</tspan><tspan data-is="c">2</tspan>'
    drawn = SVG.format(f'{figure}<tspan data-is="c">2</tspan></text>')
    (root / "gae").mkdir()
    (root / "gae/a.svg").write_text(drawn)
    made = article(html, "en", "gae/a")
    pictures.put_in_pictures(made, root)
    return made


def test_an_image_alone_becomes_a_figure_and_one_in_a_line_stays_there(tmp_path):
    image = '<img alt="A &amp; B" src="../a.svg" />'
    made = placed(tmp_path, f"<p>{image}</p>\n<p>See {image}.</p>")
    html = content(made)
    assert html.startswith('<figure class="picture"><svg')
    assert "</figure>\n<p>See <svg" in html
    assert '<title id="picture-2-title">A &amp; B</title>' in html
    listed = "<li>1 = <code>a &lt; b</code></li><li>2 = <code>c</code></li></ul></fig"
    assert listed in html, "each figure of a picture, once, below it"


def test_a_picture_from_elsewhere_is_refused(tmp_path):
    with pytest.raises(
        ValueError, match=r"\.\./b\.svg: a picture must be a file under"
    ):
        placed(tmp_path, '<p><img alt="A" src="../b.svg"></p>')


def test_check_names_the_line_of_what_the_build_refuses():
    text = SVG.format("<text>a</text>\n<script>f()</script>")
    (found,) = [p for p in read_picture(text, "a.svg")[1] if "script" in p.found]
    assert found.line == 2
    with pytest.raises(ValueError, match=re.escape(f"a.svg: {found.found}")):
        svg(text, "A post")


# Figures, however the file spells them.

PATH = "snippets/x.svg"
BOUND = '<tspan data-is="a">0.5</tspan>'
BOX = '<svg viewBox="0 0 9 9">'


def told(inside: str) -> list[tuple[int, str]]:
    """Line and finding of each problem; the planted text stands on line 2."""
    _, problems = read_picture(f"{BOX}\n{inside}\n</svg>", PATH)
    assert all(problem.path == PATH and problem.fix for problem in problems)
    return [(problem.line, problem.found) for problem in problems]


@pytest.mark.parametrize(
    "inside",
    [
        "<text>0.5</text>",
        "<text>0<tspan>.</tspan>5</text>",
        "<text><tspan>loss</tspan><tspan>0.5</tspan></text>",
        "<text>0&#46;5</text>",
        '<text>0<tspan lang="zh">个</tspan>.5</text>',
        "<title>0.5</title>",
        "<g>0.5</g>",
    ],
)
def test_a_figure_is_found_however_it_is_spelled(inside):
    assert (2, "0.5 (a decimal) in a picture") in told(inside)


@pytest.mark.parametrize(
    ("inside", "what"),
    [
        ('<g aria-label="loss is 0.5"/>', "0.5 (a decimal) in aria-label"),
        ("<text>0<!-- -->.5</text>", "<!--"),
        ("<text><![CDATA[0.5]]></text>", "<![CDATA["),
        ("<text>0<?x?>.5</text>", "<?"),
        ('<!DOCTYPE svg [<!ENTITY e "0.5">]>', "<!DOCTYPE"),
    ],
)
def test_what_text_could_hide_in_is_named(inside, what):
    assert told(inside) == [(2, f"{what} in a picture")]


@pytest.mark.parametrize(
    "text",
    [
        *(f"{BOUND}%", f"{BOUND} ％", f"{BOUND}1", f"{BOUND}<tspan>1</tspan>"),
        *(f"{BOUND}.1", f"{BOUND},000", f"{BOUND}e3", f"{BOUND} × 10³", f"{BOUND}/2"),
        *(f"{BOUND}²", f"{BOUND} percent", f"{BOUND}万", f"{BOUND}-1", f"1{BOUND}"),
        *(f"1,{BOUND}", f"loss.{BOUND}", f"−{BOUND}", f"a = − {BOUND}", f"1e{BOUND}"),
        *(f"百分之{BOUND}", f'{BOUND}<tspan lang="zh">，</tspan>1'),
    ],
)
def test_what_changes_a_bound_figure_may_not_touch_it(text):
    _, problems = read_picture(f"{BOX}<text>{text}</text></svg>", PATH)
    assert "figure_touched" in [problem.message.key for problem in problems]


@pytest.mark.parametrize(
    "text",
    [
        f"loss={BOUND}, or {BOUND}.",
        f"损失{BOUND}。",
        f"({BOUND})",
        f"{BOUND} − {BOUND} = {BOUND}",
        '<tspan data-is="b">50%</tspan>',
        "1 + 1 = 2, T = 6, out[:, -T-1:-1], r₀, ... and …",
        "Step 1</text><text>2 to 3",
        f"{BOUND}</text><text>{BOUND}</text><text>1",
    ],
)
def test_a_figure_among_words_is_let_be(text):
    assert told(f"<text>{text}</text>") == []


@pytest.mark.parametrize(
    ("element", "reason"),
    [
        ('<text data-is="a">half</text>', "'half' is not a number"),
        ('<rect data-is="a"/>', "'' is not a number"),
        ('<text data-is="a">0<tspan>.5</tspan></text>', "'0<tspan>.5</tspan>' is not"),
        ('<text data-is="0.5">0.5</text>', "`0.5` with data-is"),
    ],
)
def test_a_bound_element_holds_one_number(element, reason):
    assert [found for _, found in told(element) if found.startswith(reason)]


def test_a_bound_figure_has_line_text_and_expression():
    text = '<text>\n<tspan>é</tspan>\n<tspan data-is="a[0] &lt; 1">0.5</tspan></text>'
    assert read_picture(f"{BOX}{text}</svg>", PATH) == ([(3, "0.5", "a[0] < 1")], [])


def test_malformed_xml_is_named_with_its_line():
    _, (problem,) = read_picture("<svg>\n<text>0.5\n</svg>", PATH)
    assert (problem.line, problem.found) == (3, "mismatched tag")
    assert problem.expected == "well-formed XML"


def test_every_widget_has_a_room_in_place_of_its_picture_or_below_its_line(tmp_path):
    pages = (ROOT / "docs" / "en").rglob("*.md")
    texts = [page.read_text("utf-8") for page in pages]
    named = {name for text in texts for name in re.findall(r'data-lab="(.+?)"', text)}
    assert {*widgets.ROOMS} == named
    line = '<p data-lab="clip/surrogate">Drag it.</p>'
    image = '<p><img alt="A" src="../a.svg" data-lab="clip"></p>'
    made = placed(tmp_path, line + image)
    below, around = made.content.find_all(class_="room")
    assert below.find_previous_sibling("p")["data-lab"] == "clip/surrogate"
    assert below["style"] == "--narrow: 25.5; --middle: 23; --wide: 23"
    assert around["data-lab"] == "clip" and around.figure


@pytest.mark.parametrize(
    ("inside", "told"),
    [
        ('<text lang="zh">前</text>\n<text lang="en">past</text>', {}),
        ('<text class="code">## 前</text>\n<text>dual clip, EOS</text>', {}),
        ("<text>a</text>\n<text>前面的词</text>", {"en": "前面的词"}),
        ('<text>a</text>\n<text lang="en">前面</text>', {"en": "前面"}),
        ("<g/>\n<text>what the critic says</text>", {"zh": "what the critic says"}),
    ],
)
def test_words_of_one_language_are_for_its_page_alone(tmp_path, inside, told):
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    drawn = tmp_path / "snippets/gae/a.svg"
    drawn.parent.mkdir(parents=True)
    drawn.write_text(SVG.format(inside), "utf-8")
    found = {}
    for language in ("zh", "en"):
        page = read_page(tmp_path, f"docs/{language}/gae/a.md", "![what](a.svg)\n")
        for problem in check_pictures_language(page):
            assert problem.line == 2 and problem.path == "snippets/gae/a.svg"
            found[language] = problem.message.values["text"]
    assert found == told

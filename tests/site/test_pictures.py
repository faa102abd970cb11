"""Pictures: one language, safe, readable in the dark, and described."""

import re

import pytest

from site_tools.page.pictures import read_picture
from site_tools.site import pictures

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">{}</svg>'


def shown(inside: str, lang: str = "en") -> str:
    return pictures.svg(SVG.format(inside), "a.svg", "A post", lang, "p")


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
    ],
)
def test_what_must_not_be_shown_is_refused(inside, message):
    with pytest.raises(ValueError, match=message):
        shown(inside)


def test_a_picture_without_viewbox_or_words_is_refused():
    with pytest.raises(ValueError, match=r"a\.svg: <svg> must have a viewBox"):
        pictures.svg("<svg/>", "a.svg", "A post", "en", "p")
    with pytest.raises(ValueError, match=r"a\.svg: a picture must be described"):
        pictures.svg(SVG.format(""), "a.svg", " ", "en", "p")


def test_a_picture_may_lead_to_pages_and_its_links_can_be_heard():
    html = shown('<a href="/gae/inputs/#why"><text lang="en">Why</text></a>')
    assert 'href="/gae/inputs/#why"' in html
    assert 'role="group" aria-labelledby="p-title"' in html


def test_an_image_alone_becomes_a_figure_and_one_in_a_line_stays_there():
    image = '<img alt="A &amp; B" src="../a.svg" />'
    html = pictures.inline(
        f"<p>{image}</p>\n<p>See {image}.</p>", lambda src: (src, SVG.format("")), "en"
    )
    assert html.startswith('<figure class="picture"><svg')
    assert "</figure>\n<p>See <svg" in html
    assert '<title id="picture-2-title">A &amp; B</title>' in html


def test_check_names_the_line_of_what_the_build_refuses():
    text = SVG.format("<text>a</text>\n<script>f()</script>")
    (found,) = [p for p in read_picture(text, "a.svg")[1] if "script" in p.found]
    assert found.line == 2
    with pytest.raises(ValueError, match=re.escape(f"a.svg: {found.found}")):
        pictures.svg(text, "a.svg", "A post", "en", "p")


def test_nothing_in_a_picture_is_hidden():
    text = '<svg viewBox="0 0 9 9"><text display="none">0.5</text></svg>'
    with pytest.raises(ValueError, match='display="none" on <text> hides what is'):
        pictures.svg(text, "a.svg", "A post", "en", "p")

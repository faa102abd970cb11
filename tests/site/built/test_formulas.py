"""Formulas: found, typeset once, searchable, and refused where they are wrong."""

import re
from io import BytesIO
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont

from site_tools.finish import formulas
from site_tools.finish.article import parsed
from site_tools.finish.formulas import Formula
from tests.site.sample import broken, line_of, page, shape_problems

INLINE = r'<p>Since <span class="arithmatex">\(a &lt; b\)</span>。</p>'
DISPLAY = '<div class="arithmatex">\\[\na + b \\label{sum}\n\\]</div>'


def typeset(pages: dict[str, str], cache: Path) -> dict[Formula, str]:
    """The formulas of pages, by their paths."""
    places = {}
    for path, html in pages.items():
        for formula in formulas.find(parsed(html)):
            places.setdefault(formula, path)
    return formulas.typeset_all(places, cache)


def test_a_formula_seen_before_needs_no_node(tmp_path, monkeypatch):
    first = typeset({"a.md": DISPLAY}, tmp_path)
    monkeypatch.setattr(formulas.subprocess, "run", None)
    assert typeset({"b.md": DISPLAY}, tmp_path) == first


def test_the_page_and_the_formula_are_named_when_katex_cannot_read_it(tmp_path):
    bad = r'<span class="arithmatex">\(\frac{\)</span>'
    message = r"b\.md: KaTeX must be able to read every formula, got \$\\frac\{\$: "
    with pytest.raises(ValueError, match=message):
        typeset({"a.md": INLINE, "b.md": bad}, tmp_path)


# Links, pictures, ids: of some KaTeX shows the name in red, and says nothing.
UNTRUSTED = {
    r"\href": r"\href{javascript:f()}{x}",
    r"\url": r"\url{https://x.org}",
    r"\includegraphics": r"\includegraphics[height=1em]{x.png}",
    r"\htmlId": r"\htmlId{__config}{x}",
    r"\htmlClass": r"\htmlClass{md-nav}{x}",
    r"\htmlStyle": r"\htmlStyle{position: fixed}{x}",
    r"\htmlData": r"\htmlData{lab=gae}{x}",
}


@pytest.mark.parametrize("name", UNTRUSTED)
def test_a_formula_that_would_be_shown_in_red_is_refused(name, tmp_path):
    for tex in (UNTRUSTED[name], rf"\frac{{1}}{{{UNTRUSTED[name]}}}"):
        html = rf'<span class="arithmatex">\({tex}\)</span>'
        with pytest.raises(ValueError) as told:
            typeset({"a.md": html}, tmp_path)
        said = str(told.value)
        assert said.startswith("a.md: KaTeX must be able to read every formula, got $")
        assert said.endswith(f": {name} is not obeyed") or "strict mode" in said


@pytest.mark.parametrize("name", UNTRUSTED)
def test_a_command_that_is_not_obeyed_is_named_on_the_page(name):
    for planted in (f"Since ${UNTRUSTED[name]}$.", f"$$\nx + {UNTRUSTED[name]}\n$$"):
        text = broken("*verl's default*: the same.", planted)
        wrong = shape_problems(page(text))
        (problem,) = [p for p in wrong if p.message.key == "formula_command"]
        assert problem.line == line_of(name, text)
        assert problem.found == f"{name} in a formula"
        assert problem.fix.startswith("leave it out of the formula; ")


DIST = formulas.KATEX_PACKAGE / "dist"
ADVANTAGE = r"\hat A_t = \sum_{l=0}^\infty (\gamma\lambda)^l \delta_{t+l}"
PAGE = "".join(
    rf'<span class="arithmatex">\({tex}\)</span>' for tex in (ADVANTAGE, r"\mathbb E")
)


def characters(font: Path | BytesIO) -> set[str]:
    with TTFont(font) as face:
        return {chr(code) for code in face.getBestCmap()}


def test_no_character_of_a_formula_is_lost(tmp_path):
    shown = typeset({"a.md": PAGE}, tmp_path).values()
    variables = formulas.characters(shown, italic=True)
    others = formulas.characters(shown, italic=False)
    assert variables == set("Atlγλδ") and others >= set("∑∞E^0")
    brought = formulas.assets([shown], DIST, tmp_path)
    fonts = [name for name in brought if name.endswith(".woff2")]
    assert len(fonts) > 5
    named = re.findall(r"url\(([^?)]+)", brought[formulas.CSS])
    assert [f"assets/katex/{name}" for name in named] == fonts
    for name in fonts:
        shown = variables if "Math-Italic" in name else others
        whole = characters(DIST / "fonts" / Path(name).name)
        assert characters(BytesIO(brought[name])) == shown & whole, name


def test_what_few_pages_show_is_fetched_where_it_stands(tmp_path):
    def page(tex):
        html = rf'<span class="arithmatex">\({tex}\)</span>'
        return typeset({"a.md": html}, tmp_path).values()

    many = [page(r"\gamma = 1")] * formulas.MANY
    brought = formulas.assets([*many, page(r"\xi")], DIST, tmp_path)
    often, rarely = (
        characters(
            BytesIO(brought[f"assets/katex/fonts/KaTeX_Math-Italic{part}.woff2"])
        )
        for part in ("", "-rest")
    )
    assert (often, rarely) == ({"γ"}, {"ξ"})
    faces = brought[formulas.CSS].split("@font-face")
    (rest,) = [face for face in faces if "Math-Italic-rest" in face]
    assert "unicode-range:U+3be}" in rest


def test_only_rules_that_a_formula_needs_are_sent(tmp_path):
    shown = typeset({"a.md": PAGE}, tmp_path).values()
    css = formulas.assets([shown], DIST, tmp_path)[formulas.CSS]
    assert ".mathbb" in css and ".accent-body:not(.accent-full)" in css
    assert ".fbox" not in css and "Fraktur" not in css


def test_a_changed_font_has_another_address(tmp_path):
    shown = '<span class="katex mathnormal"><span class="katex-html">{}</span></span>'
    first, second = (
        formulas.assets([[shown.format(text)]], DIST, tmp_path) for text in ("x", "xy")
    )
    assert first[formulas.CSS] != second[formulas.CSS]

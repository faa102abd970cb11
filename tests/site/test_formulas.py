"""Formulas: found, typeset once, searchable, and refused where they are wrong."""

from io import BytesIO
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont

from site_tools.site import formulas
from site_tools.site.formulas import Formula

INLINE = r'<p>Since <span class="arithmatex">\(a &lt; b\)</span>。</p>'
DISPLAY = '<div class="arithmatex">\\[\na + b \\label{sum}\n\\]</div>'


def test_a_formula_is_read_without_delimiters_entities_and_label():
    assert formulas.find(INLINE + DISPLAY) == [
        Formula("a < b", display=False),
        Formula("a + b", display=True),
    ]


@pytest.mark.parametrize(
    ("bases", "expected"),
    [
        (1, '<span class="arithmatex nowrap">{}。</span></p>'),
        (2, '<span class="arithmatex">{}</span>。</p>'),
    ],
)
def test_punctuation_stays_with_a_formula_that_cannot_break(bases, expected):
    typeset = '<i class="katex-base"></i>' * bases
    html = formulas.render(INLINE, {Formula("a < b", display=False): typeset})
    assert html.endswith(expected.format(typeset))


def test_katex_gives_one_text_to_the_search_and_mathml_to_readers(tmp_path):
    html = formulas.typeset({"a.md": INLINE}, tmp_path)[Formula("a < b", display=False)]
    assert "<math" in html and "annotation" not in html
    assert html.count('<span class="katex-html" aria-hidden="true"') == 1
    assert formulas.searched(html) == "a&lt;b"


def test_a_formula_seen_before_needs_no_node(tmp_path, monkeypatch):
    first = formulas.typeset({"a.md": DISPLAY}, tmp_path)
    monkeypatch.setattr(formulas.subprocess, "run", None)
    assert formulas.typeset({"b.md": DISPLAY}, tmp_path) == first


def test_the_page_and_the_formula_are_named_when_katex_cannot_read_it(tmp_path):
    bad = r'<span class="arithmatex">\(\frac{\)</span>'
    message = r"b\.md: KaTeX must be able to read every formula, got \$\\frac\{\$: "
    with pytest.raises(ValueError, match=message):
        formulas.typeset({"a.md": INLINE, "b.md": bad}, tmp_path)


DIST = formulas.PACKAGE / "dist"
ADVANTAGE = r"\hat A_t = \sum_{l=0}^\infty (\gamma\lambda)^l \delta_{t+l}"
PAGE = "".join(
    rf'<span class="arithmatex">\({tex}\)</span>' for tex in (ADVANTAGE, r"\mathbb E")
)


def characters(font: Path | BytesIO) -> set[str]:
    with TTFont(font) as face:
        return {chr(code) for code in face.getBestCmap()}


def test_no_character_of_a_formula_is_lost(tmp_path):
    typeset = formulas.typeset({"a.md": PAGE}, tmp_path)
    shown = set(formulas.characters(typeset.values()))
    assert shown >= set("Al∑∞γλδE^")
    brought = formulas.assets(typeset.values(), DIST, tmp_path)
    fonts = [name for name in brought if name.endswith(".woff2")]
    assert len(fonts) > 9
    for name in fonts:
        whole = characters(DIST / "fonts" / Path(name).name)
        assert characters(BytesIO(brought[name])) >= shown & whole, name
    cut = formulas._cut(DIST / "fonts/KaTeX_Math-Italic.woff2", "Alγλt")
    assert "δ" not in characters(BytesIO(cut)), "a character that is lost is seen"


def test_a_changed_font_has_another_address(tmp_path):
    first, second = (
        formulas.assets(
            [f'<span class="katex"><span class="katex-html">{text}</span></span>'],
            DIST,
            tmp_path,
        )
        for text in ("x", "xy")
    )
    assert formulas.address(first) != formulas.address(second)

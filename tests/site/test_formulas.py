"""Formulas: found, typeset once, searchable, and refused where they are wrong."""

import shutil
from pathlib import Path

import pytest

from site_tools.site import formulas
from site_tools.site.formulas import Formula
from tests.site import glyphs

INLINE = r'<p>Since <span class="arithmatex">\(a &lt; b\)</span>。</p>'
DISPLAY = '<div class="arithmatex">\\[\na + b \\label{sum}\n\\]</div>'


def test_a_formula_is_read_without_delimiters_entities_and_label() -> None:
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
def test_punctuation_stays_with_a_formula_that_cannot_break(
    bases: int, expected: str
) -> None:
    typeset = '<i class="katex-base"></i>' * bases
    html = formulas.render(INLINE, {Formula("a < b", display=False): typeset})
    assert html.endswith(expected.format(typeset))


def test_katex_gives_one_text_to_the_search_and_mathml_to_readers(
    tmp_path: Path,
) -> None:
    html = formulas.typeset({"a.md": INLINE}, tmp_path)[Formula("a < b", display=False)]
    assert "<math" in html and "annotation" not in html
    assert html.count('<span class="katex-html" aria-hidden="true"') == 1
    assert formulas.searched(html) == "a&lt;b"


def test_a_formula_seen_before_needs_no_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = formulas.typeset({"a.md": DISPLAY}, tmp_path)
    monkeypatch.setattr(formulas.subprocess, "run", None)
    assert formulas.typeset({"b.md": DISPLAY}, tmp_path) == first


def test_the_page_and_the_formula_are_named_when_katex_cannot_read_it(
    tmp_path: Path,
) -> None:
    bad = r'<span class="arithmatex">\(\frac{\)</span>'
    message = r"b\.md: KaTeX must be able to read every formula, got \$\\frac\{\$: "
    with pytest.raises(ValueError, match=message):
        formulas.typeset({"a.md": INLINE, "b.md": bad}, tmp_path)


DIST = formulas.PACKAGE / "dist"
ADVANTAGE = r"\hat A_t = \sum_{l=0}^\infty (\gamma\lambda)^l \delta_{t+l}"
PAGE = "".join(
    rf'<span class="arithmatex">\({tex}\)</span>' for tex in (ADVANTAGE, r"\mathbb E")
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with two formulas, and what it needs beside it."""
    root = tmp_path_factory.mktemp("formulas")
    typeset = formulas.typeset({"a.md": PAGE}, root / "cache")
    site = root / "site"
    for name, content in formulas.assets(
        typeset.values(), DIST, root / "cache"
    ).items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        raw = content if isinstance(content, bytes) else content.encode()
        (site / name).write_bytes(raw)
    (site / "index.html").write_text("".join(typeset.values()), "utf-8")
    return site


def test_no_character_of_a_formula_is_lost(site: Path) -> None:
    assert glyphs.shown((site / "index.html").read_text("utf-8")) >= set("Al∑∞γλδE^")
    assert not list(glyphs.lacking(site))
    assert not glyphs.unknown_families(site)


def test_a_character_that_is_lost_is_seen(site: Path, tmp_path: Path) -> None:
    broken = tmp_path / "site"
    shutil.copytree(site, broken)
    name = "fonts/KaTeX_Math-Italic.woff2"
    cut = formulas._cut(DIST / name, "Alγλt")
    (broken / "assets/katex" / name).write_bytes(cut)
    (lost,) = glyphs.lacking(broken)
    assert lost.startswith("index.html: KaTeX_Math-Italic.woff2 lacks") and "δ" in lost


def test_a_changed_font_has_another_address(tmp_path: Path) -> None:
    first, second = (
        formulas.assets(
            [f'<span class="katex"><span class="katex-html">{text}</span></span>'],
            DIST,
            tmp_path,
        )
        for text in ("x", "xy")
    )
    assert formulas.address(first) != formulas.address(second)

"""KaTeX's styles and fonts, cut to what a site uses and never to less."""

import re
import shutil
from pathlib import Path

import pytest

from site_tools.site import katex, katex_assets
from tests.site import glyphs

DIST = katex.PACKAGE / "dist"
ADVANTAGE = r"\hat A_t = \sum_{l=0}^\infty (\gamma\lambda)^l \delta_{t+l}"
PAGE = "".join(
    rf'<span class="arithmatex">\({tex}\)</span>' for tex in (ADVANTAGE, r"\mathbb E")
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with two formulas, and what it needs beside it."""
    root = tmp_path_factory.mktemp("formulas")
    typeset = katex.typeset({"a.md": PAGE}, root / "cache")
    site = root / "site"
    for name, content in katex_assets.assets(
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


def test_the_rules_that_formulas_need_are_kept(site: Path) -> None:
    css = (site / "assets/katex/katex.css").read_text("utf-8")
    assert re.search(r"\.mathbb\b[^{}]*\{font-family:KaTeX_AMS\}", css)
    assert re.search(r"\.mathnormal\{font-family:KaTeX_Math;", css)
    assert ".accent-body:not(.accent-full){width:0}" in css
    assert ".katex-display" not in css and ".mathfrak" not in css


def test_a_character_that_is_lost_is_seen(site: Path, tmp_path: Path) -> None:
    broken = tmp_path / "site"
    shutil.copytree(site, broken)
    name = "fonts/KaTeX_Math-Italic.woff2"
    cut = katex_assets.cut_font(DIST / name, "Alγλt")
    (broken / "assets/katex" / name).write_bytes(cut)
    (lost,) = glyphs.lacking(broken)
    assert lost.startswith("index.html: KaTeX_Math-Italic.woff2 lacks") and "δ" in lost


def test_a_family_that_is_lost_is_seen(site: Path, tmp_path: Path) -> None:
    broken = tmp_path / "site"
    shutil.copytree(site, broken)
    (broken / "assets/katex/fonts/KaTeX_AMS-Regular.woff2").unlink()
    assert glyphs.unknown_families(broken) == {"KaTeX_AMS"}


def test_fonts_are_a_fraction_of_what_they_were(site: Path) -> None:
    for font in site.glob("assets/katex/fonts/KaTeX_Ma*-*.woff2"):
        assert font.stat().st_size * 3 < (DIST / "fonts" / font.name).stat().st_size


def test_the_same_formulas_give_the_same_bytes(tmp_path: Path) -> None:
    typeset = ['<span class="katex"><span class="katex-html">x</span></span>']
    once = katex_assets.assets(typeset, DIST, tmp_path / "one")
    again = katex_assets.assets(typeset, DIST, tmp_path / "two")
    assert once == again and len(once) > 1


def test_a_changed_font_has_another_address(tmp_path: Path) -> None:
    first, second = (
        katex_assets.assets(
            [f'<span class="katex"><span class="katex-html">{text}</span></span>'],
            DIST,
            tmp_path,
        )
        for text in ("x", "xy")
    )
    assert katex_assets.address(first) != katex_assets.address(second)


def test_only_woff2_fonts_are_kept() -> None:
    css = (
        "@font-face{font-family:KaTeX_A;src:url(fonts/KaTeX_A-B.woff2) format"
        '("woff2"),url(fonts/KaTeX_A-B.woff) format("woff"),url(fonts/KaTeX_A-B.ttf) '
        'format("truetype")}.katex{font-family:KaTeX_A}'
    )
    kept = katex_assets.cut_styles(css, ['<span class="katex">'])
    assert kept == (
        "@font-face{font-family:KaTeX_A;src:url(fonts/KaTeX_A-B.woff2) format"
        '("woff2")}.katex{font-family:KaTeX_A}'
    )
